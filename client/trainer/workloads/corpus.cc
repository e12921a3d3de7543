#include "client/trainer/workloads/corpus.h"

#include <array>

#include "absl/strings/str_cat.h"

namespace blazed::workloads {

absl::StatusOr<Corpus> Corpus::FromText(std::string_view text, int64_t minimum) {
  if (static_cast<int64_t>(text.size()) < minimum) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the text has ", text.size(), " characters, fewer than the ", minimum, " a batch needs"));
  }
  std::array<bool, 256> present = {};
  for (const char c : text) present[static_cast<unsigned char>(c)] = true;
  std::array<int32_t, 256> id = {};
  int32_t next = 0;
  for (size_t byte = 0; byte < present.size(); ++byte) {
    if (!present[byte]) continue;
    id[byte] = next;
    if (next < kVocabulary - 1) ++next;
  }
  Corpus corpus;
  corpus.ids_.reserve(text.size());
  for (const char c : text) corpus.ids_.push_back(id[static_cast<unsigned char>(c)]);
  return corpus;
}

}  // namespace blazed::workloads
