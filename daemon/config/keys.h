// The table of configuration keys. One row is a key's whole truth: place, type, range, text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/config/config.h"

namespace blazed {

using ConfigValue = std::variant<std::string, int64_t, double, bool>;

enum class Reload { kOnHup, kAtStart };

struct ConfigKey {
  std::string_view section;
  std::string_view name;
  Reload reload;
  double low, high;                  // of numbers; lengths of strings
  std::vector<std::string> choices;  // of strings; empty: free text
  std::string_view text;             // one sentence for people
  ConfigValue (*get)(const Config&);
  void (*set)(Config&, const ConfigValue&);
};

const std::vector<ConfigKey>& ConfigKeys();

// "section.name"
std::string FullName(const ConfigKey& key);

}  // namespace blazed
