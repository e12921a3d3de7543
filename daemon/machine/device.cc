#include "daemon/machine/device.h"

#include <sched.h>
#include <unistd.h>

#include <fstream>

namespace blazed::machine {
namespace {

// The first "model name" of /proc/cpuinfo; other architectures name their processor elsewhere or
// not at all.
std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.compare(0, 10, "model name") != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// Cores this process may use, not those that the machine has: a container sees its own share.
int UsableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

std::string InstructionSets() {
  std::string sets;
#if defined(__x86_64__)
  const auto add = [&sets](bool has, const char* name) {
    if (has) sets += sets.empty() ? name : std::string(" ") + name;
  };
  add(__builtin_cpu_supports("sse4.2"), "sse4.2");
  add(__builtin_cpu_supports("avx"), "avx");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512bw"), "avx512bw");
  add(__builtin_cpu_supports("avx512vl"), "avx512vl");
#elif defined(__aarch64__)
  sets = "neon";
#endif
  return sets;
}

}  // namespace

std::map<std::string, std::string> DescribeDevice(const std::string& device) {
  if (device != "cpu") return {};
  return {{"cpu_model", CpuModel()},
          {"cpu_cores", std::to_string(UsableCores())},
          {"cpu_isa", InstructionSets()}};
}

}  // namespace blazed::machine
