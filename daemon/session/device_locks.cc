#include "daemon/session/device_locks.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace blazed::session {

bool IsDeviceKey(const std::string& device) {
  if (device.empty() || device.size() > 96 || device[0] == '.') return false;
  return std::all_of(device.begin(), device.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
  });
}

DeviceLocks::DeviceLocks(std::string gpu_folder, std::string cpu_folder)
    : gpu_folder_(std::move(gpu_folder)), cpu_folder_(std::move(cpu_folder)) {}

absl::Status DeviceLocks::Own(const std::string& device) {
  if (held_.count(device) > 0) return absl::OkStatus();
  const std::string& folder = device == "cpu" ? cpu_folder_ : gpu_folder_;
  const std::string path = absl::StrCat(folder, "/blazed-", device, ".lock");
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file.valid()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the lock file ", path, " cannot be opened: ", strerror(errno)));
  }
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("another daemon measures device ", device, "; attach to that one"));
  }
  held_.emplace(device, std::move(file));
  return absl::OkStatus();
}

}  // namespace blazed::session
