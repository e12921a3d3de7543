// Which daemon owns the right to measure a device: one lock file per device in a place that all
// daemons of the machine share. Held until the daemon ends; a daemon that does not hold it only
// observes the device. The strand only.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "daemon/base/unique_fd.h"

namespace blazed::session {

// "cpu", a GPU's UUID or a MIG UUID: 1 to 96 letters, digits, '-', '_' or '.', not beginning with a
// dot.
bool IsDeviceKey(const std::string& device);

class DeviceLocks {
 public:
  // `gpu_folder` for GPUs, `cpu_folder` for "cpu": a CPU is no exclusive device, so private daemons
  // may each measure it for their own users.
  DeviceLocks(std::string gpu_folder, std::string cpu_folder);

  // OK when this daemon owns the device, now or from an earlier call. FAILED_PRECONDITION where
  // another daemon does or the file cannot be opened; asked again with the next session.
  absl::Status Own(const std::string& device);

 private:
  const std::string gpu_folder_, cpu_folder_;
  std::map<std::string, UniqueFd> held_;
};

}  // namespace blazed::session
