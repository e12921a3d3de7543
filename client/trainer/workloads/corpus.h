#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace blazed::workloads {

// A text as character ids. Ids are given to byte values by ascending value, so the same text gives
// the same ids in every process; bytes beyond kVocabulary - 1 distinct values share the last id.
class Corpus {
 public:
  // The graph's shape, and with it the fingerprint, must not depend on the text, so the vocabulary
  // has one size for all.
  static constexpr int kVocabulary = 96;

  // INVALID_ARGUMENT when the text is shorter than `minimum` characters.
  static absl::StatusOr<Corpus> FromText(std::string_view text, int64_t minimum);

  int64_t size() const { return static_cast<int64_t>(ids_.size()); }
  int32_t id(int64_t position) const { return ids_[static_cast<size_t>(position)]; }

 private:
  std::vector<int32_t> ids_;
};

}  // namespace blazed::workloads
