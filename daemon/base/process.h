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

// Whether the process is gone or on its way out. The kernel calls a process that ends one of the
// root control group, and another may have its pid soon: what /proc/PID said before is worth
// something only where this is false afterwards.
bool IsLeaving(pid_t pid);

// The text of /proc/PID/cgroup, at most 4 KiB.
std::string CgroupText(pid_t pid);

// The containers that a cgroup text lies in, outermost first, with '/' between them: the path
// components that name one (32 or more hex digits, or a machine of systemd-nspawn or LXC). Empty
// for a process of the host. The same user inside a container and outside it are two principals.
// All of them count, since a container may name the groups below its own as it likes.
std::string ContainerOf(std::string_view cgroup_text);

// Becomes readable when the process ends. Invalid where it has ended already or the kernel refuses.
UniqueFd OpenPidfd(pid_t pid);

// Resident memory of this process, 0 where unknown.
uint64_t ResidentBytes();

}  // namespace blazed
