// Which daemon owns the right to measure a device: one lock file per device in a place that all
// daemons of the machine share. Held while a session of this daemon may change what runs there; a
// daemon that does not hold it only observes the device.
//
// A file counts only where it is this user's or root's, and its owner alone may open it: in a
// folder that all may write, anybody could make or hold one. It names its holder's pid.
//
// The names come from clients, so one user holds only so many, and a file goes with its lock.
//
// The strand only. A hold may outlive the DeviceLocks that it came from.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace blazed::session {

// Devices that sessions of one user may hold at a time, and those of all users. A machine of 16
// GPUs cut into 7 parts each has 112.
inline constexpr size_t kDevicesPerUser = 112;
inline constexpr size_t kMostDevices = 512;

class DeviceLocks {
 public:
  // A session's part in a lock; the last one of a device gives the lock back.
  using Hold = std::shared_ptr<const void>;

  // `gpu_folder` for GPUs, `cpu_folder` for "cpu": a CPU is no exclusive device, so private daemons
  // may each measure it for their own users.
  DeviceLocks(std::string gpu_folder, std::string cpu_folder);

  // FAILED_PRECONDITION where another daemon owns the device or the file cannot be opened,
  // RESOURCE_EXHAUSTED where the user or this daemon holds too many; the session observes, and the
  // next one asks again.
  absl::StatusOr<Hold> Own(const std::string& device, uint32_t uid);

  size_t held() const;  // devices

 private:
  class Device;
  struct Table;

  absl::Status CheckUserRoom(uint32_t uid, const std::string& device) const;
  absl::Status CheckDaemonRoom() const;

  const std::string gpu_folder_, cpu_folder_;
  const std::shared_ptr<Table> table_;
};

}  // namespace blazed::session
