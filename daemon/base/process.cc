#include "daemon/base/process.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace blazed {
namespace {

constexpr size_t kMostBytes = 4096;

std::string ReadFile(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return "";
  std::string text(kMostBytes, '\0');
  size_t used = 0;
  while (used < text.size()) {
    const ssize_t got = read(fd.get(), text.data() + used, text.size() - used);
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  text.resize(used);
  return text;
}

// A field of /proc/PID/stat by its number in proc(5), from 4 on. Nothing where the process is gone
// or hidden.
std::optional<uint64_t> StatNumber(pid_t pid, size_t field) {
  const std::string text = ReadFile(absl::StrCat("/proc/", pid, "/stat"));
  // The second field is the command in brackets and may hold anything, brackets too.
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields =
      absl::StrSplit(text.substr(close + 1), ' ', absl::SkipEmpty());
  const size_t index = field - 3;  // the third is the first here
  uint64_t number = 0;
  if (fields.size() <= index || !absl::SimpleAtoi(fields[index], &number)) return std::nullopt;
  return number;
}

bool IsHexRun(std::string_view text, size_t at) {
  constexpr size_t kShortestId = 32;
  if (text.size() - at < kShortestId) return false;
  return std::all_of(text.begin() + at, text.begin() + at + kShortestId,
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool NamesContainer(std::string_view component) {
  for (std::string_view prefix : {"machine-", "lxc.payload.", "lxc.payload/"}) {
    if (component.substr(0, prefix.size()) == prefix && component != "machine.slice") return true;
  }
  for (size_t at = 0; at < component.size(); ++at) {
    const bool starts_word = at == 0 || component[at - 1] == '-' || component[at - 1] == ':';
    if (starts_word && IsHexRun(component, at)) return true;
  }
  return false;
}

}  // namespace

const std::string& BootId() {
  static const std::string* id = [] {
    std::string text = ReadFile("/proc/sys/kernel/random/boot_id");
    text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
    return new std::string(text);
  }();
  return *id;
}

uint64_t StartTicks(pid_t pid) { return StatNumber(pid, 22).value_or(0); }

bool IsLeaving(pid_t pid) {
  constexpr uint64_t kExiting = 4;  // PF_EXITING, set before the group is left and never cleared
  const std::optional<uint64_t> flags = StatNumber(pid, 9);
  return !flags || (*flags & kExiting) != 0;
}

std::string ProcessName(pid_t pid, uint64_t start_ticks) {
  return absl::StrCat(BootId(), "/", pid, "/", start_ticks);
}

std::string CgroupText(pid_t pid) { return ReadFile(absl::StrCat("/proc/", pid, "/cgroup")); }

std::string ContainerOf(std::string_view cgroup_text) {
  std::string found;
  size_t start = 0;
  for (size_t at = 0; at <= cgroup_text.size(); ++at) {
    if (at < cgroup_text.size() && cgroup_text[at] != '/' && cgroup_text[at] != '\n') continue;
    const std::string_view component = cgroup_text.substr(start, at - start);
    if (NamesContainer(component)) {
      absl::StrAppend(&found, found.empty() ? "" : "/", std::string(component));
    }
    if (at < cgroup_text.size() && cgroup_text[at] == '\n' && !found.empty()) break;
    start = at + 1;
  }
  return found;
}

UniqueFd OpenPidfd(pid_t pid) {
  // Debian 12's glibc declares no wrapper. The descriptor is close-on-exec by definition.
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

uint64_t ResidentBytes() {
  const std::string text = ReadFile("/proc/self/statm");
  const std::vector<std::string> fields = absl::StrSplit(text, ' ');
  uint64_t pages = 0;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[1], &pages)) return 0;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace blazed
