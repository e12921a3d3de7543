// A device with a launch queue: the host runs ahead of it by a bounded number of steps, so a step's
// time is the larger one of host and device in the long run, and neither in a single step.
#pragma once

#include <cstdint>
#include <deque>

namespace blazed::sim {

struct QueueSettings {
  uint32_t run_ahead = 8;   // steps that the host may be ahead of the device
  double launch_ns = 20e3;  // from the beginning of a step in the host to its first kernel
  double refill = 0.1;      // what an idle device pays on its next step, as a share of it
};

class LaunchQueue {
 public:
  explicit LaunchQueue(QueueSettings settings) : settings_(settings) {}

  // One step whose launches take the host `host_ns` and whose kernels the device `device_ns`.
  void Step(double host_ns, double device_ns);
  // Steps that the device has not ended at the host's present moment.
  uint32_t InFlight() const;
  // The host waits for the end of the last step; what that took. The next step finds a device that
  // is idle.
  double Drain();

  double host_now() const { return host_; }      // since the queue was made, in ns
  double device_end() const { return device_; }  // of the last step

 private:
  QueueSettings settings_;
  double host_ = 0, device_ = 0;
  bool idle_ = true;
  std::deque<double> ahead_;  // ends of the steps that the host may be ahead of
};

}  // namespace blazed::sim
