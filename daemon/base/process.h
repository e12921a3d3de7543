// What the kernel says about a process. Reads /proc; answers are empty or zero where it may not be
// read. Thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/unique_fd.h"

namespace blazed {

// Random id of this boot; empty where /proc does not tell.
const std::string& BootId();

// Clock ticks after boot at which the process began; 0 where it is gone or hidden. With the boot id
// and the pid it names one process for ever, also when the pid is used again.
uint64_t StartTicks(pid_t pid);

// "BOOT/PID/TICKS"
std::string ProcessName(pid_t pid, uint64_t start_ticks);

// The text of /proc/PID/cgroup, at most 4 KiB.
std::string CgroupText(pid_t pid);

// The container that a cgroup text belongs to: the path component that names one (32 or more hex
// digits, or a machine of systemd-nspawn or LXC). Empty for a process of the host. The same user
// inside a container and outside it are two principals.
std::string ContainerOf(std::string_view cgroup_text);

// Becomes readable when the process ends. Invalid where it has ended already or the kernel refuses.
UniqueFd OpenPidfd(pid_t pid);

// Resident memory of this process, 0 where unknown.
uint64_t ResidentBytes();

}  // namespace blazed
