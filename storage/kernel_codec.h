// The kernels of one step as one blob.
//
// Format 1, all numbers varints: the totals, a count, then for each kernel the length of its name,
// the name and its numbers. Numbers of a group that may be absent are led by flags, bit i for the
// i-th in the order of kernels.h; absent ones take no bytes.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/kernels.h"

namespace blazed::storage {

inline constexpr int64_t kKernelFormat = 1;

std::string PackKernels(const StepKernels& step);

// DATA_LOSS for an unknown format or bytes that do not parse to the end.
absl::StatusOr<StepKernels> UnpackKernels(int64_t format, std::string_view blob);

}  // namespace blazed::storage
