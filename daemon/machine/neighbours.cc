#include "daemon/machine/neighbours.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <vector>

namespace blazed::machine {
namespace {

constexpr uint32_t kClockEvent = 16, kNeighbour = 64;  // blazed.v1.UnitFlag
constexpr double kQuietCores = 0.25;
constexpr double kLeastTicks = 3;
constexpr char kThrottleCount[] =
    "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count";

// Whole numbers of a text, from its beginning on, up to the first word that is none.
std::vector<uint64_t> Numbers(std::string_view text) {
  std::vector<uint64_t> numbers;
  while (true) {
    const size_t begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return numbers;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    uint64_t value = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return numbers;
    numbers.push_back(value);
    text.remove_prefix(word.size());
  }
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<CpuUse> ReadCpuUse(int pid) {
  const auto all = BusyTicks(FirstLine("/proc/stat"));
  const auto own = ProcessTicks(FirstLine("/proc/" + std::to_string(pid) + "/stat"));
  if (!all || !own) return std::nullopt;
  return CpuUse{*all, *own};
}

uint64_t ThrottleCount() {
  const auto count = Numbers(FirstLine(kThrottleCount));
  return count.empty() ? 0 : count.front();
}

}  // namespace

std::optional<uint64_t> BusyTicks(std::string_view stat) {
  if (stat.substr(0, 4) != "cpu ") return std::nullopt;
  // user nice system idle iowait irq softirq steal; guests are in user and nice already.
  const auto ticks = Numbers(stat.substr(4));
  if (ticks.size() < 8) return std::nullopt;
  return ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
}

std::optional<uint64_t> ProcessTicks(std::string_view stat) {
  // The second field is the program's name in parentheses and may hold anything.
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 4 > stat.size()) return std::nullopt;
  std::string_view rest = stat.substr(name_end + 4);  // behind the state, a letter
  std::vector<uint64_t> fields;
  for (int i = 0; i < 12; ++i) {
    // Some of them, tpgid for one, may be negative.
    const size_t begin = rest.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(begin);
    const std::string_view word = rest.substr(0, rest.find_first_of(" \n"));
    const auto number = Numbers(word);
    fields.push_back(number.empty() ? 0 : number.front());
    if (number.empty() && i >= 10) return std::nullopt;
    rest.remove_prefix(word.size());
  }
  // Fields 4 and on: ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime.
  return fields[10] + fields[11];
}

bool HadNeighbour(const CpuUse& before, const CpuUse& after, double seconds,
                  double ticks_per_second) {
  if (after.all < before.all || after.own < before.own) return false;
  const double all = static_cast<double>(after.all - before.all);
  const double own = static_cast<double>(after.own - before.own);
  return all - own > std::max(kLeastTicks, kQuietCores * seconds * ticks_per_second);
}

std::function<uint32_t()> WatchDevice(const std::string& device, int pid) {
  if (device != "cpu") return nullptr;
  const auto before = ReadCpuUse(pid);
  const uint64_t throttled = ThrottleCount();
  const auto since = std::chrono::steady_clock::now();
  return [before, throttled, since, pid] {
    const auto after = ReadCpuUse(pid);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - since;
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    uint32_t flags = 0;
    if (before && after && HadNeighbour(*before, *after, passed.count(), ticks)) {
      flags |= kNeighbour;
    }
    if (ThrottleCount() > throttled) flags |= kClockEvent;
    return flags;
  };
}

}  // namespace blazed::machine
