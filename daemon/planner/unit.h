// The shape of a session's units, from what its host shows of its queue.
//
// A host that waits for its device in every step needs nothing: each step is a unit. One that runs
// ahead of its device hides in single steps what a plan saves, because both arms share one queue;
// there a unit is several steps between two points where the queue is empty. What that costs at
// its ends is shared by its timed steps, so they are many.
#pragma once

#include <cstdint>
#include <optional>

namespace blazed::planner {

struct UnitShape {
  uint32_t warm = 0, timed = 1;  // steps that are run and not counted, and those that are
  uint64_t steps() const { return uint64_t{warm} + timed; }
  bool operator==(const UnitShape&) const = default;
};

// Of `wanted` pairs, so many that the verdict is looked at after every few of them in time: a lease
// that a flow repeats runs no longer than sixteen pairs in discard mode do on a host that waits.
uint32_t PairsALease(const UnitShape& unit, uint32_t wanted);

// What one lease showed of the host's queue.
struct QueueSigns {
  std::optional<uint32_t> run_ahead;  // most steps in flight, as the host says
  double drain_ns = 0, units_ns = 0;  // waits at drained points; the units' own time
  double points = 0;                  // drained points
};

class UnitRule {
 public:
  // A pair is at least two units of so many steps; deeper queues get twice, four and eight times.
  static constexpr uint32_t kQueuedTimed = 8, kMostTimed = 64, kQueuedWarm = 2;
  // No host is further ahead than this: a CUDA stream takes 1,024 launches before it waits.
  static constexpr uint32_t kMostRunAhead = 1024;
  // A host that waits in each step anyway has nothing left to wait for where its queue is drained:
  // asking takes some microseconds. Longer is both of these, and two leases in a row, so that one
  // hiccup is none.
  static constexpr double kLongWait = 0.02;  // of the units' time
  static constexpr double kLongPointNs = 50e3;
  static constexpr uint32_t kLongWaits = 2;

  // `queued`: the host says that it may run ahead of its device. `step_ns`: of its default plan, 0
  // where that is not known.
  explicit UnitRule(bool queued = false, uint64_t step_ns = 0);

  // In discard mode one more warm step where units have none, else twice as many, and as many timed
  // ones as SeeFill found to be needed.
  UnitShape Shape(bool discard) const;
  bool queued() const { return timed_ > 1; }
  // By how much a drift check in this mode is dearer than one of a host that waits in each step.
  uint64_t CheckFactor(bool discard) const { return Shape(discard).steps() / (discard ? 2 : 1); }

  // Takes the signs of one lease in. True where units have another shape from here on: what was
  // measured before is no guide to their scale. Units become single steps only where the lease
  // was `noise` and the host never ran ahead; otherwise they grow, and never shrink again.
  bool See(const QueueSigns& signs, bool noise);

  // What filling the queue again costs, at least, in steps. A plan that makes a device-bound host
  // wait for itself is spared it, so that much of its gain in a unit is none. Where it could pass
  // for `least_gain` a step, what settles is measured in units of twice as many steps. Still longer
  // ones would be worse: the more of them have a step that the machine held up, the less they say
  // of an ordinary one.
  void SeeFill(double fill_steps, double least_gain);

 private:
  bool Grow(uint32_t run_ahead);
  uint32_t Fitting(uint32_t timed) const;

  uint64_t step_ns_ = 0;
  uint32_t timed_ = 1, settling_timed_ = 1;  // the second where it is more
  uint32_t long_waits_ = 0;                  // in a row
  bool ran_ahead_ = false;
};

}  // namespace blazed::planner
