// What every store answers in the same words, and how many rows it answers with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "storage/records.h"

namespace blazed::storage {

// Rows of one answer, whatever was asked for.
inline uint32_t LimitOf(uint32_t asked) { return std::clamp<uint32_t>(asked, 1, 1000); }

inline absl::Status NotStored(const std::string& what) {
  return absl::NotFoundError(absl::StrCat(what, " is not stored"));
}

inline absl::Status SettlementNotStored(uint64_t settlement) {
  return absl::NotFoundError(
      absl::StrCat("settlement ", settlement, " is not stored: list them with blazectl"));
}

inline absl::Status TuningNotStored(TuningId tuning) {
  return absl::NotFoundError(absl::StrCat("tuning ", tuning, " is not stored: put it first"));
}

// For a row that refers to another.
inline absl::Status ParentNotStored() {
  return absl::InvalidArgumentError(
      "the row belongs to one that is not stored: store its graphs, workload, environment and "
      "tuning first");
}

}  // namespace blazed::storage
