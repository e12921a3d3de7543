#include "daemon/session/device_turns.h"

#include <algorithm>

namespace blazed::session {

DeviceTurns::Answer DeviceTurns::Ask(const std::string& device, storage::TuningId tuning,
                                     planner::Moment now) {
  Device& at = devices_[device];
  if (at.holder == tuning) return Answer::kYours;
  if (at.holder == 0) {
    at.holder = tuning;
    at.since = now;
    return Answer::kYours;
  }
  if (std::find(at.line.begin(), at.line.end(), tuning) == at.line.end()) {
    at.line.push_back(tuning);
  }
  return Answer::kWait;
}

void DeviceTurns::GiveUp(const std::string& device, storage::TuningId tuning, planner::Moment now) {
  auto it = devices_.find(device);
  if (it == devices_.end()) return;
  auto& line = it->second.line;
  line.erase(std::remove(line.begin(), line.end(), tuning), line.end());
  if (it->second.holder == tuning) Next(device, now);
}

void DeviceTurns::YieldAfter(const std::string& device, storage::TuningId tuning,
                             planner::Nanos longest, planner::Moment now) {
  auto it = devices_.find(device);
  if (it == devices_.end() || it->second.holder != tuning) return;
  if (it->second.line.empty() || now - it->second.since < longest) return;
  Next(device, now);
}

bool DeviceTurns::Holds(const std::string& device, storage::TuningId tuning) const {
  auto it = devices_.find(device);
  return it != devices_.end() && it->second.holder == tuning;
}

void DeviceTurns::Next(const std::string& device, planner::Moment now) {
  Device& at = devices_[device];
  if (at.line.empty()) {
    devices_.erase(device);
    return;
  }
  at.holder = at.line.front();
  at.line.pop_front();
  at.since = now;
  granted_(device, at.holder);
}

}  // namespace blazed::session
