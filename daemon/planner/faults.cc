// Probes that failed to run where the default's run did not. No number was seen, so nothing is
// wrong with the plan as far as anybody knows: a device that had no memory left for a moment, or a
// driver that was reset, fails as a kernel does that can run nowhere. So the plan is built and
// probed again, once in a process and a last time in a later one; then, where no probe of it ever
// passed in between, it is given up. Whatever
// comes of that, nothing runs live that has not passed all its probes.
#include "daemon/planner/counted.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr uint32_t kFaultsInProcess = 2;
constexpr uint32_t kFaults = 3;  // of a plan in a row, in processes that this daemon has seen

}  // namespace

// What the fault says of the plan: nothing yet, or that it is given up.
GateAnswer Tuning::State::AfterFault(Session& s, const Plan& plan, GateAnswer answer) {
  const uint32_t all = ++faults_[plan], here = ++s.faults[plan];
  const std::string times = all == 1 ? "" : "; that was so " + Counted(all, "time");
  if (all >= kFaults) {
    answer.reason += times + ", so it is given up";
    return answer;
  }
  answer.verdict = Verdict::kInconclusive;
  answer.reason += times;
  answer.reason += here < kFaultsInProcess ? ", and it is built and probed once more"
                                           : ", and another process may try it again";
  return answer;
}

// The variant alone is given up: the host runs none again that failed. False where the plan is not
// tried again in this process.
bool Tuning::State::TryAgainAfterFault(Session& s, const Variant& v, const GateAnswer& answer) {
  if (answer.verdict != Verdict::kInconclusive || s.in_use == v.id) return false;
  if (s.faults[v.plan] >= kFaultsInProcess) return false;
  RecordOf(v.plan).reason = answer.reason;
  Emit(KeepPlan{RecordOf(v.plan)});
  IssueDrop(s, v.id);
  return true;
}

// What failed in the processes before may run in this one. Where more than the fault is known by
// now, rare slow steps or wrong numbers, the plan stays given up for that.
void Tuning::State::ForgiveFaults() {
  for (const auto& [plan, count] : faults_) {
    const bool no_more_is_known = RecordOf(plan).verdict == Verdict::kInconclusive;
    if (count < kFaults && no_more_is_known) search_.TakeUp(plan);
  }
}

// A plan that pairs speak for and that could not run here: without it the search has no answer. One
// fault is enough where the plan was in use, which is not tried again.
bool Tuning::State::FaultHidesAWin(const Session& s) const {
  for (const auto& [plan, verdict] : s.failed) {
    if (verdict != Verdict::kInconclusive || !s.faults.contains(plan)) continue;
    const bool measured = plans_.at(plan).pairs > 0;
    if (measured && search_.Predict(Plan{}, plan).first > config_.delta0) return true;
  }
  return false;
}

}  // namespace blazed::planner
