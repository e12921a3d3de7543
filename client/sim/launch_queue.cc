#include "client/sim/launch_queue.h"

#include <algorithm>

namespace blazed::sim {

void LaunchQueue::Step(double host_ns, double device_ns) {
  if (!ahead_.empty() && ahead_.size() >= settings_.run_ahead) {
    host_ = std::max(host_, ahead_.front());
    ahead_.pop_front();
  }
  const double begin = host_;
  host_ += host_ns;
  const double first_kernel = std::max(device_, begin + settings_.launch_ns);
  if (idle_) device_ns *= 1 + settings_.refill;
  idle_ = false;
  // The last kernel cannot end before the host has launched it.
  device_ = std::max(first_kernel + device_ns, host_ + settings_.launch_ns);
  ahead_.push_back(device_);
}

uint32_t LaunchQueue::InFlight() const {
  const auto is_late = [this](double end) { return end > host_; };
  return static_cast<uint32_t>(std::count_if(ahead_.begin(), ahead_.end(), is_late));
}

double LaunchQueue::Drain() {
  const double waited = std::max(0.0, device_ - host_);
  host_ += waited;
  ahead_.clear();
  idle_ = true;
  return waited;
}

}  // namespace blazed::sim
