#include "client/cpp/engine/lease.h"

#include <algorithm>
#include <utility>

namespace blazed::shim {

LeaseCheck CheckSchedule(const RunPairs& pairs) {
  if (pairs.pairs == 0 || pairs.timed_steps == 0) {
    return {false, Refusal::kMalformed, "a lease has at least one pair and one timed step"};
  }
  if (pairs.pairs > kMaxPairs || pairs.timed_steps > kMaxUnitSteps ||
      pairs.warm_steps > kMaxUnitSteps) {
    return {false, Refusal::kOverLimit,
            "a lease has at most 128 pairs, 64 warm and 64 timed steps"};
  }
  if (pairs.challenger_first.size() != (pairs.pairs + 7) / 8) {
    return {false, Refusal::kMalformed, "challenger_first has not one bit a pair"};
  }
  return {};
}

Lease::Lease(RunPairs pairs, uint64_t received_ns) : pairs_(std::move(pairs)) {
  const uint64_t asked = pairs_.deadline_ns == 0 ? kLongestNs : pairs_.deadline_ns;
  deadline_ns_ = SaturatingAdd(received_ns, std::min(asked, kLongestNs));
  done_.lease_id = pairs_.lease_id;
  done_.units.reserve(size_t{2} * pairs_.pairs);
}

bool Lease::IsChallenger() const {
  const size_t unit = done_.units.size();
  const size_t pair = unit / 2;
  if (pair >= pairs_.pairs) return false;
  const bool challenger_first = (pairs_.challenger_first[pair / 8] >> (pair % 8) & 1) != 0;
  return challenger_first == (unit % 2 == 0);
}

void Lease::Begin(uint64_t step, uint64_t now, uint64_t device_ns) {
  if (!begun_) done_.first_step = step;
  begun_ = true;
  step_open_ = true;
  step_began_ns_ = now;
  if (NeedsDrainedPoint()) {
    timed_from_ns_ = now;
    device_from_ns_ = device_ns;
  }
}

void Lease::EndStep(uint32_t flags) {
  step_open_ = false;
  flags_ |= flags;
}

void Lease::StartUnit() {
  step_open_ = false;
  step_in_unit_ = 0;
  flags_ = 0;
}

void Lease::CloseUnit(uint64_t now, uint64_t device_ns) {
  const uint64_t host_ns = now - timed_from_ns_;
  const bool has_device = device_ns != 0 && device_from_ns_ != 0 && device_ns >= device_from_ns_;
  if (MustAbort(host_ns / pairs_.timed_steps)) flags_ |= kUnitAborted;
  done_.units.push_back({host_ns, has_device ? device_ns - device_from_ns_ : 0, flags_});
  StartUnit();
}

void Lease::AbortUnit(uint64_t now) {
  done_.units.push_back({now - step_began_ns_, 0, flags_ | kUnitAborted});
  StartUnit();
}

void Lease::RestartUnit() { StartUnit(); }

StepsDone Lease::Finish() {
  done_.complete = Complete();
  return std::move(done_);
}

}  // namespace blazed::shim
