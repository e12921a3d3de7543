#include "daemon/session/device_locks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/base/unique_fd.h"

namespace blazed::session {
namespace {

bool IsSameFile(int fd, const std::string& path) {
  struct stat open_file {};
  struct stat at_path {};
  return fstat(fd, &open_file) == 0 && lstat(path.c_str(), &at_path) == 0 &&
         open_file.st_dev == at_path.st_dev && open_file.st_ino == at_path.st_ino;
}

bool IsLocked(int fd) { return flock(fd, LOCK_EX | LOCK_NB) != 0; }

// What lies at the path is neither ours nor root's. Anybody may put a file into a folder that all
// may write, and hold it, so it is no sign of a daemon. Root takes one away that nobody holds.
absl::Status Foreign(const std::string& device, const std::string& path, uint32_t owner) {
  if (geteuid() == 0) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.valid() && !IsLocked(file.get()) && IsSameFile(file.get(), path) &&
        unlink(path.c_str()) == 0) {
      return absl::OkStatus();
    }
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the lock file ", path, " belongs to user ", owner, ", whose daemon may measure device ",
      device,
      "; attach to that one, have the file removed, or set daemon.device_lock_dir to a folder that "
      "only daemons may write"));
}

// OK where the file may be opened and locked, or was taken away.
absl::Status CheckOwner(const std::string& device, const std::string& path) {
  struct stat facts {};
  if (lstat(path.c_str(), &facts) != 0) return absl::OkStatus();
  if (!S_ISREG(facts.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the lock file ", path, " is no plain file; remove it"));
  }
  if (facts.st_uid == 0 || facts.st_uid == geteuid()) return absl::OkStatus();
  return Foreign(device, path, facts.st_uid);
}

// The pid in a lock file that somebody holds. Its owner wrote it, and only he can.
std::string HolderOf(int fd) {
  char text[16] = {};
  const ssize_t count = pread(fd, text, sizeof(text) - 1, 0);
  const std::string pid(absl::StripAsciiWhitespace(
      absl::string_view(text, count > 0 ? static_cast<size_t>(count) : 0)));
  return pid.empty() ? "" : absl::StrCat(" with pid ", pid);
}

void WritePid(int fd) {
  const std::string pid = absl::StrCat(getpid(), "\n");
  // For people only: the lock holds without it.
  if (ftruncate(fd, 0) == 0) (void)!pwrite(fd, pid.data(), pid.size(), 0);
}

// An owner unlinks its file before it lets go of it, so a lock counts only on the file that is at
// the path once it is taken. Nobody else may open the file, or he could hold it.
absl::StatusOr<UniqueFd> Lock(const std::string& device, const std::string& path) {
  constexpr int kTries = 16;  // each lost to an owner that let go at that moment
  std::string holder;
  for (int i = 0; i < kTries; ++i) {
    if (absl::Status owner = CheckOwner(device, path); !owner.ok()) return owner;
    UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.valid()) {
      const int error = errno;
      struct stat facts {};
      if (error == EACCES && lstat(path.c_str(), &facts) == 0) {
        // Root's, which others may not open, or one that came meanwhile.
        if (absl::Status owner = Foreign(device, path, facts.st_uid); !owner.ok()) return owner;
        continue;
      }
      return absl::FailedPreconditionError(
          absl::StrCat("the lock file ", path, " cannot be opened: ", strerror(error),
                       "; set daemon.device_lock_dir to a folder that blazed may write"));
    }
    if (IsLocked(file.get())) {
      holder = HolderOf(file.get());
      break;
    }
    if (!IsSameFile(file.get(), path)) continue;
    fchmod(file.get(), 0600);
    WritePid(file.get());
    return file;
  }
  return absl::FailedPreconditionError(
      absl::StrCat("another daemon", holder, " measures device ", device, "; attach to that one"));
}

}  // namespace

// What is held, and by how many sessions of whom. Shared with the holds.
struct DeviceLocks::Table {
  std::map<std::string, std::weak_ptr<Device>> devices;
  std::map<uint32_t, std::map<std::string, size_t>> sessions;  // by user and device
};

// A lock that is held.
class DeviceLocks::Device {
 public:
  Device(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
  // Somebody may have removed the file and made another, which is another daemon's by now.
  ~Device() {
    if (IsSameFile(file_.get(), path_)) unlink(path_.c_str());
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

 private:
  const std::string path_;
  const UniqueFd file_;
};

DeviceLocks::DeviceLocks(std::string gpu_folder, std::string cpu_folder)
    : gpu_folder_(std::move(gpu_folder)),
      cpu_folder_(std::move(cpu_folder)),
      table_(std::make_shared<Table>()) {}

size_t DeviceLocks::held() const { return table_->devices.size(); }

absl::Status DeviceLocks::CheckUserRoom(uint32_t uid, const std::string& device) const {
  const auto own = table_->sessions.find(uid);
  if (own == table_->sessions.end() || own->second.count(device) > 0) return absl::OkStatus();
  const size_t count = own->second.size();
  if (count >= kDevicesPerUser) {
    return absl::ResourceExhaustedError(absl::StrCat("sessions of user ", uid, " hold ", count,
                                                     " devices, which is the limit; end one"));
  }
  return absl::OkStatus();
}

absl::Status DeviceLocks::CheckDaemonRoom() const {
  if (table_->devices.size() >= kMostDevices) {
    return absl::ResourceExhaustedError(
        absl::StrCat("this daemon holds ", kMostDevices,
                     " devices, which is the limit; attach again when sessions have ended"));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceLocks::Hold> DeviceLocks::Own(const std::string& device, uint32_t uid) {
  if (absl::Status room = CheckUserRoom(uid, device); !room.ok()) return room;
  const auto known = table_->devices.find(device);
  std::shared_ptr<Device> lock = known == table_->devices.end() ? nullptr : known->second.lock();
  if (lock == nullptr) {
    if (absl::Status room = CheckDaemonRoom(); !room.ok()) return room;
    // No two names become one: a UUID has no dot.
    const std::string path = absl::StrCat(device == "cpu" ? cpu_folder_ : gpu_folder_, "/blazed-",
                                          absl::StrReplaceAll(device, {{"/", "."}}), ".lock");
    absl::StatusOr<UniqueFd> file = Lock(device, path);
    if (!file.ok()) return file.status();
    lock = std::make_shared<Device>(path, *std::move(file));
    table_->devices[device] = lock;
  }
  ++table_->sessions[uid][device];
  // The deleter is the end of this session's part: the count first, then the lock if it was the
  // last.
  return Hold(lock.get(), [table = table_, lock, device, uid](const void*) mutable {
    auto& of_user = table->sessions[uid];
    if (--of_user[device] == 0) of_user.erase(device);
    if (of_user.empty()) table->sessions.erase(uid);
    lock.reset();
    const auto it = table->devices.find(device);
    if (it != table->devices.end() && it->second.expired()) table->devices.erase(it);
  });
}

}  // namespace blazed::session
