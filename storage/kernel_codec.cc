#include "storage/kernel_codec.h"

#include <limits>
#include <tuple>

#include "absl/status/status.h"
#include "storage/varint.h"

namespace blazed::storage {
namespace {

// The numbers of a group that may be absent, in the order of their flags.
auto NumbersOf(auto& kernel) {
  return std::tie(kernel.launches, kernel.time_ns, kernel.read_bytes, kernel.written_bytes,
                  kernel.registers, kernel.spill_bytes, kernel.shared_bytes);
}
auto TotalsOf(auto& totals) {
  return std::tie(totals.step_ns, totals.busy_ns, totals.kernel_launches, totals.host_launches);
}

template <typename Numbers>
void PutNumbers(std::string& out, const Numbers& numbers) {
  uint64_t flags = 0, bit = 1;
  const auto flag = [&](const auto& number) {
    if (number.has_value()) flags |= bit;
    bit <<= 1;
  };
  const auto put = [&](const auto& number) {
    if (number.has_value()) PutVarint(out, *number);
  };
  std::apply([&](const auto&... number) { (flag(number), ...); }, numbers);
  PutVarint(out, flags);
  std::apply([&](const auto&... number) { (put(number), ...); }, numbers);
}

template <typename Number>
bool TakeNumber(std::string_view& in, std::optional<Number>& number) {
  uint64_t value = 0;
  if (!TakeVarint(in, value) || value > std::numeric_limits<Number>::max()) return false;
  number = static_cast<Number>(value);
  return true;
}

template <typename Numbers>
bool TakeNumbers(std::string_view& in, const Numbers& numbers) {
  uint64_t flags = 0;
  if (!TakeVarint(in, flags) || flags >> std::tuple_size_v<Numbers> != 0) return false;
  const auto take = [&](auto& number) {
    const bool there = (flags & 1) != 0;
    flags >>= 1;
    return !there || TakeNumber(in, number);
  };
  return std::apply([&](auto&... number) { return (take(number) && ...); }, numbers);
}

bool TakeKernel(std::string_view& in, KernelUse& kernel) {
  uint64_t length = 0;
  if (!TakeVarint(in, length) || length > in.size()) return false;
  kernel.name = in.substr(0, length);
  in.remove_prefix(length);
  return TakeNumbers(in, NumbersOf(kernel));
}

}  // namespace

std::string PackKernels(const StepKernels& step) {
  std::string out;
  PutNumbers(out, TotalsOf(step.totals));
  PutVarint(out, step.kernels.size());
  for (const KernelUse& kernel : step.kernels) {
    PutVarint(out, kernel.name.size());
    out += kernel.name;
    PutNumbers(out, NumbersOf(kernel));
  }
  return out;
}

absl::StatusOr<StepKernels> UnpackKernels(int64_t format, std::string_view blob) {
  const absl::Status damaged = absl::DataLossError("the stored kernels of a plan are damaged");
  StepKernels step;
  uint64_t count = 0;
  if (format != kKernelFormat || !TakeNumbers(blob, TotalsOf(step.totals)) ||
      !TakeVarint(blob, count)) {
    return damaged;
  }
  if (count > blob.size() / 2) return damaged;  // a kernel takes two bytes at least
  step.kernels.resize(count);
  for (KernelUse& kernel : step.kernels) {
    if (!TakeKernel(blob, kernel)) return damaged;
  }
  if (!blob.empty()) return damaged;
  return step;
}

}  // namespace blazed::storage
