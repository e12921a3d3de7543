#include "daemon/session/device_turns.h"

#include <algorithm>
#include <vector>

namespace blazed::session {
namespace {

constexpr int kMostMissed = 2;

}  // namespace

bool DeviceTurns::IsSilent(storage::TuningId tuning) const {
  const auto missed = missed_.find(tuning);
  return missed != missed_.end() && missed->second >= kMostMissed;
}

DeviceTurns::Answer DeviceTurns::Ask(const std::string& device, storage::TuningId tuning,
                                     uint32_t uid, planner::Moment now) {
  Device& at = devices_[device];
  if (at.holder == tuning) return Answer::kYours;
  if (at.holder == 0 && !IsSilent(tuning)) {
    std::erase_if(at.line, [tuning](const Waiting& each) { return each.tuning == tuning; });
    Hold(at, {tuning, uid}, now);
    return Answer::kYours;
  }
  const bool waits = std::any_of(at.line.begin(), at.line.end(),
                                 [tuning](const Waiting& each) { return each.tuning == tuning; });
  if (!waits) at.line.push_back({tuning, uid});
  return Answer::kWait;
}

void DeviceTurns::GiveUp(const std::string& device, storage::TuningId tuning, planner::Moment now) {
  auto it = devices_.find(device);
  if (it == devices_.end()) return;
  std::erase_if(it->second.line, [tuning](const Waiting& each) { return each.tuning == tuning; });
  if (it->second.holder == tuning || it->second.holder == 0) PassOn(device, now);
}

void DeviceTurns::YieldAfter(const std::string& device, storage::TuningId tuning,
                             planner::Nanos longest, planner::Moment now) {
  auto it = devices_.find(device);
  if (it == devices_.end() || it->second.holder != tuning) return;
  Device& at = it->second;
  if (Next(at) == at.line.end() || now - at.since < longest) return;
  PassOn(device, now);
}

void DeviceTurns::Missed(const std::string& device, storage::TuningId tuning, planner::Moment now) {
  ++missed_[tuning];
  auto it = devices_.find(device);
  if (it == devices_.end() || it->second.holder != tuning) return;
  Device& at = it->second;
  if (Next(at) != at.line.end() || IsSilent(tuning)) PassOn(device, now);
}

void DeviceTurns::Heard(storage::TuningId tuning, planner::Moment now) {
  if (missed_.erase(tuning) == 0) return;
  std::vector<std::string> idle;
  for (const auto& [device, at] : devices_) {
    if (at.holder == 0) idle.push_back(device);
  }
  for (const std::string& device : idle) {
    const auto it = devices_.find(device);
    // Who was granted one of them may have asked for another.
    if (it != devices_.end() && it->second.holder == 0) PassOn(device, now);
  }
}

std::deque<DeviceTurns::Waiting>::iterator DeviceTurns::Next(Device& at) const {
  auto best = at.line.end();
  uint64_t best_served = 0;
  for (auto it = at.line.begin(); it != at.line.end(); ++it) {
    if (IsSilent(it->tuning)) continue;
    const auto known = at.served.find(it->uid);
    const uint64_t served = known == at.served.end() ? 0 : known->second;
    if (best != at.line.end() && served >= best_served) continue;
    best = it;
    best_served = served;
  }
  return best;
}

void DeviceTurns::Hold(Device& at, Waiting who, planner::Moment now) {
  at.holder = who.tuning;
  at.since = now;
  at.served[who.uid] = ++turns_;
}

void DeviceTurns::PassOn(const std::string& device, planner::Moment now) {
  auto known = devices_.find(device);
  if (known == devices_.end()) return;
  Device& at = known->second;
  at.holder = 0;
  const auto next = Next(at);
  if (next != at.line.end()) {
    const Waiting who = *next;
    at.line.erase(next);
    Hold(at, who, now);
    granted_(device, who.tuning);
  } else if (at.line.empty()) {
    devices_.erase(known);
  }
}

}  // namespace blazed::session
