// What the search works out between two rounds of trials: which plan has earned a race, how much is
// left to gain, which plans to try next. A pure function of a search and a question, with a
// Cholesky factor, O(d^3), in it: above kAtOnce dimensions it runs on a copy, off the control
// strand, and what it came to is an event.
#pragma once

#include <memory>
#include <vector>

#include "daemon/planner/conclusion.h"
#include "daemon/planner/search.h"
#include "daemon/planner/space.h"

namespace blazed::planner {

// Dimensions up to which a thought takes no longer than an event may.
inline constexpr size_t kAtOnce = 64;

struct Question {
  Plan champion;
  uint32_t plans = 0;  // to be named; 0: none are wanted
  uint64_t seed = 0;   // of the samples
  // Where builds are dear: how many are left, and what was measured and can run here.
  uint32_t builds_left = 0;
  std::vector<Plan> measured;
  Toggles cheap;  // to build, by the host's guess
};

// A search as it stood, with all that it refers to. What it shares with its tuning, the space,
// never changes.
struct Thought {
  std::shared_ptr<const Space> space;
  Search search;
  Question question;
};

Conclusion Conclude(const Search& search, const Question& question);
inline Conclusion Conclude(const Thought& thought) {
  return Conclude(thought.search, thought.question);
}

}  // namespace blazed::planner
