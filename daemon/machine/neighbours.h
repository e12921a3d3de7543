// What else used a device while a lease ran, told by the kernel's accounts and never by the lease's
// own times. Reads a few small files of /proc and /sys; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace blazed::machine {

// Processor time in clock ticks, of all processes and of one.
struct CpuUse {
  uint64_t all = 0;
  uint64_t own = 0;
  bool operator==(const CpuUse&) const = default;
};

// The first line of /proc/stat: everything but idling and waiting for a disk, and time that a
// hypervisor gave to others. nullopt where the text is no such file.
std::optional<uint64_t> BusyTicks(std::string_view stat);
// /proc/PID/stat: user and system time of all its threads.
std::optional<uint64_t> ProcessTicks(std::string_view stat);

// Whether other processes took more than a quarter of a core between the two. Three ticks at least,
// because the accounts are no finer.
bool HadNeighbour(const CpuUse& before, const CpuUse& after, double seconds,
                  double ticks_per_second);

// Begins to watch a device for the process that measures there. What it returns says, once, which
// events (flags as in blazed.v1.UnitFlag) happened since. Null for a device of which this build
// knows nothing: GPUs.
std::function<uint32_t()> WatchDevice(const std::string& device, int pid);

}  // namespace blazed::machine
