// A schedule of pairs being run: which arm the coming step belongs to, and what each unit took.
// Pure; the engine brings the clock and the drained points.
//
// A unit is w warm and k timed steps; its time runs from a drained point before the first timed
// step to a drained point after the last. Between a unit's end and a next unit without warm steps
// one drained point serves both.
#pragma once

#include <algorithm>
#include <cstdint>

#include "client/cpp/base/clock.h"
#include "client/cpp/wire/messages.h"

namespace blazed::shim {

// Nothing to refuse, or why.
struct LeaseCheck {
  bool ok = true;
  Refusal reason = Refusal::kMalformed;
  const char* detail = "";
};
LeaseCheck CheckSchedule(const RunPairs& pairs);

class Lease {
 public:
  // The longest lease; also of one that names no deadline.
  static constexpr uint64_t kLongestNs = 600 * kSecond;

  // `pairs` passed CheckSchedule.
  Lease(RunPairs pairs, uint64_t received_ns);

  uint32_t variant() const { return IsChallenger() ? pairs_.challenger : pairs_.champion; }
  const RunPairs& pairs() const { return pairs_; }
  uint64_t step_began_ns() const { return step_began_ns_; }
  bool Expired(uint64_t now) const { return now >= deadline_ns_; }
  bool Aborted() const {
    return !done_.units.empty() && (done_.units.back().flags & kUnitAborted) != 0;
  }
  // Of the latest unit, which was closed.
  uint64_t StepNs() const { return done_.units.back().host_ns / pairs_.timed_steps; }
  bool Complete() const { return done_.units.size() == size_t{2} * pairs_.pairs; }

  // The coming step is the first timed one of its unit: make a drained point, then Begin.
  bool NeedsDrainedPoint() const { return step_in_unit_ == pairs_.warm_steps; }

  // The coming step is one at whose begin the host is asked how far it runs ahead: the lease's
  // first, right after service, or a unit's last, which has most steps before it.
  bool AsksRunAhead() const { return !begun_ || EndsUnit(); }
  void SeeRunAhead(uint32_t steps) {
    done_.run_ahead = std::max(done_.run_ahead.value_or(0), steps);
  }

  // A step begins now. `device_ns`: the device's clock at a drained point, 0 for none.
  void Begin(uint64_t step, uint64_t now, uint64_t device_ns);
  // A step of this lease began and has not ended. It dies with the lease.
  bool step_open() const { return step_open_; }
  void EndStep(uint32_t flags);

  // The step that began ends; true where it is its unit's last: make a drained point, then
  // CloseUnit.
  bool EndsUnit() const { return step_in_unit_ + 1 == pairs_.warm_steps + pairs_.timed_steps; }

  // However long the schedule allows a step, from here on `ns` is the longest; kNever: no limit.
  void LimitStep(uint64_t ns) { longest_step_ns_ = ns; }
  // A step took longer than allowed: AbortUnit and give the lease back.
  bool MustAbort(uint64_t step_ns) const {
    const bool asked = IsTrial() && pairs_.abort_step_ns != 0 && step_ns > pairs_.abort_step_ns;
    return asked || step_ns > longest_step_ns_;
  }

  // Of the unit that ends.
  void AddFlags(uint32_t flags) { flags_ |= flags; }
  void NextStep() { ++step_in_unit_; }
  void CloseUnit(uint64_t now, uint64_t device_ns);
  void AbortUnit(uint64_t now);

  // The step that began was not ended: the unit starts again.
  void RestartUnit();

  void AddDrain(uint64_t ns) { done_.drain_ns += ns; }
  StepsDone Finish();

 private:
  bool IsChallenger() const;
  bool IsTrial() const { return IsChallenger() && pairs_.challenger != pairs_.champion; }
  void StartUnit();

  RunPairs pairs_;
  uint64_t deadline_ns_;
  uint64_t longest_step_ns_ = kNever;
  StepsDone done_;
  bool begun_ = false;
  bool step_open_ = false;
  uint32_t step_in_unit_ = 0;
  uint32_t flags_ = 0;
  uint64_t step_began_ns_ = 0;
  uint64_t timed_from_ns_ = 0;
  uint64_t device_from_ns_ = 0;
};

}  // namespace blazed::shim
