// A session's story as one element of a report's `jobs` (docs/report.md names every field).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "daemon/history/pair_uses.h"
#include "storage/store.h"

namespace blazed::history {

// What a report tells and the session's story does not hold.
struct Beside {
  // Of a session that is attached: the costs of its latest progress.
  planner::CostRecord so_far;
  // Why its settlement could not be kept; empty: none failed.
  std::string not_kept;
  // What was said of it last, where its search has ended; empty: nothing.
  std::string ended;
  // Why the store cannot be written at present; empty: it is. Rows wait then, the outcome's too.
  std::string outage;
  // The session that made the settlement: one job has several where the daemon was restarted under
  // it.
  std::optional<storage::SessionRow> founder;
  // Nothing: all pairs of the session's races are its own.
  std::optional<RacePairs> given;
};

// Pure. `role` is left empty: only the program that ran the jobs knows which was first. A session
// whose tuning has no outcome yet is `undecided`, with the costs so far, or, where they are empty,
// what its finished races show.
Json JobReport(const storage::Reader::SessionStory& story, const Beside& beside = {});

// The same as text, with what the store holds of `beside`; bytes that are no UTF-8 are replaced.
std::string JobReportText(storage::Reader& reader, const storage::Reader::SessionStory& story,
                          Beside beside = {});

}  // namespace blazed::history
