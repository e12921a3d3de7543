// Whose turn it is to explore a device. Workloads that share a device would measure each other, so
// one tuning at a time runs pairs there; the others wait in line on their champion. A turn ends
// when its tuning gives it up, or after a while when others wait and no lease is out.
//
// Turns go round the users first: who waits the longest since a turn of any tuning of his is next,
// however many tunings another has in line. A tuning that lets a lease expire goes to the back, and
// after the second in a row gets no turn until something is heard of it.
//
// The strand only. Time comes in with the call.
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

  // Takes a free turn, or joins the line once. Asking again is harmless. `uid`: whose tuning it is.
  Answer Ask(const std::string& device, storage::TuningId tuning, uint32_t uid,
             planner::Moment now);

  // Leaves the turn or the line.
  void GiveUp(const std::string& device, storage::TuningId tuning, planner::Moment now);

  // Ends the tuning's turn if it has lasted longer than `longest` and somebody waits.
  void YieldAfter(const std::string& device, storage::TuningId tuning, planner::Nanos longest,
                  planner::Moment now);

  // A lease of the tuning expired: its turn ends where somebody else can use it, and the second
  // time in any case. For when none of its leases is out.
  void Missed(const std::string& device, storage::TuningId tuning, planner::Moment now);
  // Whether it has missed so many that it gets no turn until something is heard of it.
  bool IsSilent(storage::TuningId tuning) const;
  // Something was heard of the tuning: what it missed is forgotten.
  void Heard(storage::TuningId tuning, planner::Moment now);
  // The tuning is closed.
  void Forget(storage::TuningId tuning) { missed_.erase(tuning); }

 private:
  struct Waiting {
    storage::TuningId tuning = 0;
    uint32_t uid = 0;
  };
  struct Device {
    storage::TuningId holder = 0;  // 0: nobody, since nobody in line may have the turn
    planner::Moment since{};
    std::deque<Waiting> line;
    std::map<uint32_t, uint64_t> served;  // by user: which turn was the latest of his
  };

  // The one in line that is next, or its end.
  std::deque<Waiting>::iterator Next(Device& at) const;
  void Hold(Device& at, Waiting who, planner::Moment now);
  void PassOn(const std::string& device, planner::Moment now);

  Granted granted_;
  std::map<std::string, Device> devices_;
  std::map<storage::TuningId, int> missed_;  // leases in a row
  uint64_t turns_ = 0;                       // given so far
};

}  // namespace blazed::session
