// Reads JSON as far as recorded data needs it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace blazed::sim {

struct Json {
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json>;
  std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value = nullptr;

  // Of another kind or missing: null, 0, empty. Recorded data is the program's own.
  const Json& At(const std::string& key) const;
  const Array& Items() const;
  double Number() const;
  std::string Text() const;
};

// Nothing where the text is no JSON, or nests deeper than 32. Escapes other than \" and \\ are
// none.
std::optional<Json> ParseJson(std::string_view text);

}  // namespace blazed::sim
