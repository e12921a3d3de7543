// What each job gave to a race. The evidence of all jobs is one product; these rules keep a single
// job from carrying it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "daemon/planner/eprocess.h"
#include "daemon/planner/types.h"

namespace blazed::planner {

// Jobs from which on none of them gives or is lent more than half.
inline constexpr size_t kSharingJobs = 3;

class RaceParts {
 public:
  // One counted pair of a job, with its score in the bet that accepts.
  void Add(SessionId job, double score);
  // The job gives no more pairs. What it gave stays; the rules below ask nothing more of it.
  void Leave(SessionId job);

  uint64_t GivenBy(SessionId job) const;
  std::vector<SessionId> Jobs() const;  // that gave a pair

  // Where three or more jobs are at it, none of them gave more than half of all pairs.
  bool Balanced() const;
  // Where two or more jobs are at it, the others' evidence speaks for the win without any one of
  // them. `all`: the bet that holds every pair.
  bool Backed(const ClippedBet& all) const;

 private:
  struct Part {
    ClippedBet accept;
    bool left = false;
  };
  size_t AtIt() const;

  std::map<SessionId, Part> parts_;
  uint64_t given_ = 0;
};

}  // namespace blazed::planner
