// Whose turn it is to explore a device. Workloads that share a device would measure each other, so
// one tuning at a time runs pairs there; the others wait in line on their champion. A turn ends
// when its tuning gives it up, or after a while when others wait and no lease is out. The strand
// only. Time comes in with the call.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "daemon/planner/types.h"
#include "storage/records.h"

namespace blazed::session {

class DeviceTurns {
 public:
  using Granted = std::function<void(const std::string& device, storage::TuningId tuning)>;

  // `granted` is told of a turn that a waiting tuning gets later; it may call back in.
  explicit DeviceTurns(Granted granted) : granted_(std::move(granted)) {}

  enum class Answer { kYours, kWait };

  // Takes a free turn, or joins the line once. Asking again is harmless.
  Answer Ask(const std::string& device, storage::TuningId tuning, planner::Moment now);

  // Leaves the turn or the line.
  void GiveUp(const std::string& device, storage::TuningId tuning, planner::Moment now);

  // Ends the tuning's turn if it has lasted longer than `longest` and somebody waits.
  void YieldAfter(const std::string& device, storage::TuningId tuning, planner::Nanos longest,
                  planner::Moment now);

  bool Holds(const std::string& device, storage::TuningId tuning) const;

 private:
  struct Device {
    storage::TuningId holder = 0;
    planner::Moment since{};
    std::deque<storage::TuningId> line;
  };

  void Next(const std::string& device, planner::Moment now);

  Granted granted_;
  std::map<std::string, Device> devices_;
};

}  // namespace blazed::session
