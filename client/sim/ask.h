// Step times by lines of text, for tuners that live in another program: they get the same
// workloads, noise and budget as the methods of `compare`.
//
//   workload SPACE BUILD_S SEED  ->  options N N ...        one number for each decision
//   run O,O,... COUNT            ->  times T T ... | spent  in steps of the default plan
//   done O,O,...                 ->  score wall W regret R got G best B worse 0|1 claims 0|1
//                                    false_claim 0|1 builds N trial_steps N
//
// Each line gets one line; what cannot be done gets `error` and a sentence, and changes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/sim/arena.h"
#include "client/sim/contest.h"

namespace blazed::sim {

class AskSession {
 public:
  std::string Answer(const std::string& line);

 private:
  std::string Workload(const std::vector<std::string>& words);
  std::string Run(const std::vector<std::string>& words);
  std::string Done(const std::vector<std::string>& words);
  std::optional<planner::Plan> PlanOf(const std::string& options) const;

  std::unique_ptr<Contest> contest_;
  std::optional<Arena> arena_;
};

}  // namespace blazed::sim
