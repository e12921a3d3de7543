// Deciding again from a recorded log: an opening line, then event lines. The same log gives the
// same actions, byte for byte; a log that was cut short gives the actions up to there, and so does
// one with a gap, whose place, length and reason are the error. A log that was cut exactly behind a
// line's end is the log of so many events: nothing in it says that more followed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/planner/codec.h"

namespace blazed::planner {

struct ReplayResult {
  bool complete = false;  // every line was read
  std::string error;      // the first line that was not, with its number
  uint64_t events = 0;
  std::vector<Action> actions;  // up to the error
  uint64_t digest = kDigestSeed;
};

// Every line has an end; a last one without it was cut, though what is left of it may still read as
// an event. Empty lines and lines that begin with '#' are passed over.
ReplayResult Replay(std::string_view log);

}  // namespace blazed::planner
