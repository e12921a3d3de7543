// Which flagged pairs do not count. A flag names an event that is known independently of a step's
// time, and a pair goes as a whole when either of its units carries one: the same rule for both
// arms.
//
// Steps that did other work (checkpoint, evaluation, profiler, recompile) never count. Events of
// the machine (a neighbour, its clock) exclude a pair only while that leaves most pairs: once more
// than half of the latest ones carried such a flag, a busy machine is the machine that there is.
// Its pairs count then, and the scale prices their noise. Whether a flag excludes is settled by the
// pairs before it alone.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "daemon/planner/types.h"

namespace blazed::planner {

class Exclusion {
 public:
  static constexpr size_t kSize = 64;  // latest pairs

  // Lets pairs count again that events of the machine alone had excluded, where they are too many.
  void Apply(std::vector<PairSample>& pairs);

 private:
  bool TooMany() const { return 2 * flagged_ > count_; }
  void Push(bool flagged);

  std::array<bool, kSize> ring_{};
  size_t next_ = 0, count_ = 0, flagged_ = 0;
};

// "3 of 64 pairs left out: 2 neighbour, 1 checkpoint"; empty where none was. A pair with several
// flags is named under each.
std::string ExcludedText(const std::vector<PairSample>& pairs);

}  // namespace blazed::planner
