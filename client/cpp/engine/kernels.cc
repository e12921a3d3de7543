// What the plan in use runs, asked of the host and handed on to the daemon.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "client/cpp/base/text.h"
#include "client/cpp/engine/engine.h"
#include "client/cpp/wire/codec.h"

namespace blazed::shim {
namespace {

bool IsPlausible(const blz_kernel& kernel) {
  return kernel.registers <= kMaxOfAThread && kernel.spill_bytes <= kMaxOfAThread &&
         kernel.shared_bytes <= kMaxOfAThread && kernel.launches <= kMaxLaunches &&
         kernel.time_ns <= kMaxKernelNs && kernel.read_bytes <= kMaxKernelBytes &&
         kernel.written_bytes <= kMaxKernelBytes;
}

// Names come from compilers and libraries: what a terminal would obey becomes '?'. The daemon
// refuses what is longer, and characters that turn the direction of text, so only ASCII passes.
std::string NameOf(std::string_view given) {
  std::string name = Printable(given, kMaxKernelName);
  for (char& c : name) {
    if ((static_cast<unsigned char>(c) & 0x80) != 0) c = '?';
  }
  return name;
}

bool HasTwice(const std::vector<KernelUse>& kernels) {
  std::vector<std::string_view> names;
  for (const KernelUse& kernel : kernels) names.push_back(kernel.name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

// A sentence where a limit of blazed.h is broken, else empty.
std::string Take(const blz_step_kernels* from, StepKernels& to) {
  if (from == nullptr || from->struct_size < sizeof(blz_step_kernels)) {
    return "step_kernels.struct_size is not sizeof(blz_step_kernels)";
  }
  if (from->kernel_count > kMaxKernels || (from->kernel_count > 0 && from->kernels == nullptr)) {
    return "a step has more than 512 kernels";
  }
  if (from->kernel_count > 0 && from->kernel_bytes < sizeof(blz_kernel)) {
    return "step_kernels.kernel_bytes is not sizeof(blz_kernel)";
  }
  if (std::max(from->step_ns, from->busy_ns) > kMaxKernelNs ||
      std::max(from->kernel_launches, from->host_launches) > kMaxLaunches) {
    return "a step's totals are beyond an hour or 2^32 launches";
  }
  to.totals = *from;
  const auto* bytes = reinterpret_cast<const char*>(from->kernels);
  for (size_t i = 0; i < from->kernel_count; ++i) {
    KernelUse& kernel = to.kernels.emplace_back();
    std::memcpy(&kernel.numbers, bytes + i * from->kernel_bytes, sizeof kernel.numbers);
    kernel.name = NameOf(OrEmpty(kernel.numbers.name));
    if (kernel.name.empty()) return "a kernel has no name";
    if (!IsPlausible(kernel.numbers)) return "a number of a kernel is beyond its limit";
  }
  return HasTwice(to.kernels) ? "two kernels of a step have one name" : "";
}

}  // namespace

void Engine::DoWantKernels(const WantKernels& want) {
  // What the daemon means may have been taken out of use since; then it asks anew.
  const bool in_use = settled_ && want.variant != 0 && want.variant == champion_;
  if (!in_use || !MayTry() || ops_.want_kernels == nullptr) return;
  kernels_wanted_ = champion_;
  ops_.want_kernels(ops_.user, champion_handle_);
}

blz_result Engine::GiveKernels(uint64_t handle, const blz_step_kernels* before,
                               const blz_step_kernels* after) {
  if (kernels_wanted_ == 0 || handle != champion_handle_) return BLZ_NOT_FOUND;
  KernelsSeen seen;
  seen.variant = kernels_wanted_;
  std::string fault = Take(before, seen.before);
  if (fault.empty()) fault = Take(after, seen.after);
  if (!fault.empty()) {
    Say(BLZ_LOG_WARNING, "kernels were not taken: " + fault);
    return BLZ_INVALID;
  }
  kernels_wanted_ = 0;
  Send(OutgoingKind::kKernels, Encode(seen));
  return BLZ_OK;
}

}  // namespace blazed::shim
