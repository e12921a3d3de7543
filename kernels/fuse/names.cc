#include "kernels/fuse/names.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/fuse/decision.h"

namespace blazed::fuse {
namespace {

bool IsDigit(char byte) { return std::isdigit(static_cast<unsigned char>(byte)) != 0; }

// "layer12/norm1" -> "layer", "12", "/norm", "1".
std::vector<std::string> Pieces(const std::string& place) {
  std::vector<std::string> pieces;
  for (size_t i = 0; i < place.size(); ++i) {
    if (i == 0 || IsDigit(place[i]) != IsDigit(place[i - 1])) pieces.emplace_back();
    pieces.back() += place[i];
  }
  return pieces;
}

// Turns numbers of `common` that `place` has otherwise into stars; false where more differs.
bool Widen(std::vector<std::string>& common, const std::string& place) {
  const std::vector<std::string> pieces = Pieces(place);
  if (pieces.size() != common.size()) return false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i] == common[i]) continue;
    if (!IsDigit(pieces[i][0]) || !(IsDigit(common[i][0]) || common[i] == "*")) return false;
    common[i].assign(1, '*');
  }
  return true;
}

// The end of a long name says more than its beginning.
std::string Shortened(const std::string& text, size_t limit) {
  constexpr size_t kDots = 2;
  if (text.size() <= limit) return text;
  if (limit <= kDots) return text.substr(0, limit);
  return absl::StrCat("..", text.substr(text.size() - (limit - kDots)));
}

std::string Join(const NameParts& parts, const std::string& place, size_t limit) {
  std::vector<std::string> words;
  if (!parts.phase.empty()) words.push_back(parts.phase);
  const size_t fixed = parts.phase.size() + parts.what.size() + 2;
  if (!place.empty() && fixed < limit) words.push_back(Shortened(place, limit - fixed));
  words.push_back(parts.what);
  return Shortened(absl::StrJoin(words, " "), limit);
}

}  // namespace

std::string CommonPlace(const std::vector<std::string>& places) {
  const std::set<std::string> distinct(places.begin(), places.end());
  if (distinct.empty()) return "";
  std::vector<std::string> common = Pieces(places[0]);
  const bool alike = std::all_of(distinct.begin(), distinct.end(),
                                 [&common](const auto& place) { return Widen(common, place); });
  if (alike) return absl::StrJoin(common, "");
  return absl::StrCat(places[0], "+", distinct.size() - 1);
}

std::vector<std::string> UniqueNames(const std::vector<NameParts>& parts,
                                     const std::vector<std::vector<std::string>>& places) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string place = CommonPlace(places[i]);
    std::string name = Join(parts[i], place, kLongestName);
    for (int number = 2; !taken.insert(name).second; ++number) {
      const std::string mark = absl::StrCat(" #", number);
      name = absl::StrCat(Join(parts[i], place, kLongestName - mark.size()), mark);
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace blazed::fuse
