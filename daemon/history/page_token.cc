#include "daemon/history/page_token.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace blazed::history {

std::string MakePageToken(const std::string& list, int64_t before) {
  return absl::WebSafeBase64Escape(absl::StrCat("1 ", list, " ", before));
}

absl::StatusOr<int64_t> ReadPageToken(const std::string& list, const std::string& token) {
  if (token.empty()) return 0;
  std::string text;
  int64_t before = 0;
  const std::string head = absl::StrCat("1 ", list, " ");
  if (!absl::WebSafeBase64Unescape(token, &text) ||
      !absl::SimpleAtoi(absl::StripPrefix(text, head), &before) || before <= 0 ||
      MakePageToken(list, before) != token) {
    return absl::InvalidArgumentError(absl::StrCat(
        "page_token is no token of this list: send next_page_token of the last reply of ", list));
  }
  return before;
}

}  // namespace blazed::history
