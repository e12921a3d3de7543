#include "client/blazectl/enum_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace blazed::blazectl {
namespace {

// SettlementKind -> SETTLEMENT_KIND_, what every value of that enum starts with.
std::string PrefixOf(const std::string& type) {
  std::string prefix;
  for (char c : type) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isupper(byte) && !prefix.empty()) prefix += '_';
    prefix += absl::ascii_toupper(byte);
  }
  return prefix + "_";
}

}  // namespace

std::string EnumWord(const google::protobuf::EnumDescriptor* type, int number, Joint joint) {
  const auto* value = type->FindValueByNumber(number);
  if (value == nullptr) return absl::StrCat(number);
  absl::string_view name = value->name();
  absl::ConsumePrefix(&name, PrefixOf(type->name()));
  if (name == "UNSPECIFIED") return "-";
  std::string word = absl::AsciiStrToLower(name);
  if (joint == Joint::kBlank) std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

}  // namespace blazed::blazectl
