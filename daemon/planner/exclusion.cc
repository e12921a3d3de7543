#include "daemon/planner/exclusion.h"

#include "daemon/planner/counted.h"

namespace blazed::planner {
namespace {

struct FlagName {
  uint32_t flag;
  const char* name;
};
constexpr FlagName kNames[] = {
    {kUnitCheckpoint, "checkpoint"},  {kUnitEvaluation, "evaluation"},
    {kUnitProfiler, "profiler"},      {kUnitRecompile, "recompile"},
    {kUnitClockEvent, "clock event"}, {kUnitNeighbour, "neighbour"},
};

}  // namespace

void Exclusion::Apply(std::vector<PairSample>& pairs) {
  for (PairSample& pair : pairs) {
    const bool machine = (pair.flags & kMachineFlags) != 0;
    const bool alone = machine && (pair.flags & ~kMachineFlags) == 0 && pair.champion_ns > 0;
    if (alone && TooMany()) pair.excluded = false;
    Push(machine);
  }
}

void Exclusion::Push(bool flagged) {
  if (count_ == kSize) flagged_ -= ring_[next_] ? 1 : 0;
  count_ += count_ < kSize ? 1 : 0;
  flagged_ += flagged ? 1 : 0;
  ring_[next_] = flagged;
  next_ = (next_ + 1) % kSize;
}

std::string ExcludedText(const std::vector<PairSample>& pairs) {
  uint64_t left_out = 0;
  std::array<uint64_t, std::size(kNames)> counts{};
  for (const PairSample& pair : pairs) {
    if (!pair.excluded) continue;
    ++left_out;
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += (pair.flags & kNames[i].flag) != 0;
  }
  if (left_out == 0) return {};
  std::string text =
      std::to_string(left_out) + " of " + Counted(pairs.size(), "pair") + " left out";
  const char* before = ": ";
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += before + std::to_string(counts[i]) + " " + kNames[i].name;
    before = ", ";
  }
  return text;
}

}  // namespace blazed::planner
