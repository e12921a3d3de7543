#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/base/unique_fd.h"
#include "daemon/config/config.h"
#include "daemon/config/keys.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1  // the shared library is built with exceptions
#include <toml++/toml.h>

namespace blazed {
namespace {

constexpr size_t kLongestFile = 1 << 20;

// How many letters must change, appear or vanish to make `a` out of `b`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// Empty where no key is near enough to be meant: more than a third of its letters differ.
std::string NearestKey(const std::string& name) {
  std::string best;
  size_t best_distance = SIZE_MAX;
  for (const ConfigKey& key : ConfigKeys()) {
    const size_t distance = EditDistance(name, FullName(key));
    if (distance < best_distance) {
      best_distance = distance;
      best = FullName(key);
    }
  }
  return 3 * best_distance <= best.size() ? best : "";
}

class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  absl::Status Apply(const toml::table& root, Config* config) const {
    for (auto&& [section_key, section] : root) {
      const std::string section_name(section_key.str());
      const toml::table* table = section.as_table();
      if (table == nullptr) return UnknownKey(section_name, section_key.source());
      for (auto&& [key, node] : *table) {
        const std::string name = absl::StrCat(section_name, ".", std::string(key.str()));
        if (absl::Status s = ApplyKey(name, key, node, config); !s.ok()) return s;
      }
      if (table->empty() && !KnownSection(section_name)) {
        return UnknownKey(section_name, section_key.source());
      }
    }
    return absl::OkStatus();
  }

  absl::Status Error(const toml::source_region& where, std::string_view sentence) const {
    return absl::InvalidArgumentError(
        absl::StrCat(source_, " line ", where.begin.line, ": ", std::string(sentence)));
  }

 private:
  static bool KnownSection(std::string_view name) {
    return std::any_of(ConfigKeys().begin(), ConfigKeys().end(),
                       [name](const ConfigKey& key) { return key.section == name; });
  }

  absl::Status UnknownKey(const std::string& name, const toml::source_region& where) const {
    const std::string nearest = NearestKey(name);
    return Error(where,
                 absl::StrCat("unknown key ", name,
                              nearest.empty() ? "; `blazed config default` prints every key"
                                              : absl::StrCat("; did you mean ", nearest, "?")));
  }

  absl::Status ApplyKey(const std::string& name, const toml::key& key, const toml::node& node,
                        Config* config) const {
    for (const ConfigKey& known : ConfigKeys()) {
      if (FullName(known) != name) continue;
      absl::StatusOr<ConfigValue> value = Read(known, node);
      if (!value.ok()) return value.status();
      known.set(*config, *value);
      return absl::OkStatus();
    }
    return UnknownKey(name, key.source());
  }

  absl::StatusOr<ConfigValue> Read(const ConfigKey& key, const toml::node& node) const {
    const ConfigValue standard = key.get(Config());
    if (std::holds_alternative<bool>(standard)) return ReadFlag(key, node);
    if (std::holds_alternative<std::string>(standard)) return ReadText(key, node);
    return ReadNumber(key, node, std::holds_alternative<int64_t>(standard));
  }

  absl::StatusOr<ConfigValue> ReadFlag(const ConfigKey& key, const toml::node& node) const {
    if (!node.is_boolean()) return WrongType(key, node, "true or false");
    return ConfigValue(node.as_boolean()->get());
  }

  absl::StatusOr<ConfigValue> ReadText(const ConfigKey& key, const toml::node& node) const {
    if (!node.is_string()) return WrongType(key, node, "a string in quotes");
    const std::string& text = node.as_string()->get();
    if (!key.choices.empty()) {
      if (std::find(key.choices.begin(), key.choices.end(), text) == key.choices.end()) {
        return Error(node.source(),
                     absl::StrCat(FullName(key), " must be one of ",
                                  absl::StrJoin(key.choices, ", "), "; got \"", text, "\""));
      }
    } else if (static_cast<double>(text.size()) > key.high || text.find('\0') != text.npos) {
      return Error(node.source(), absl::StrCat(FullName(key), " must be at most ", key.high,
                                               " bytes without a NUL; got ", text.size()));
    }
    return ConfigValue(text);
  }

  absl::StatusOr<ConfigValue> ReadNumber(const ConfigKey& key, const toml::node& node,
                                         bool whole) const {
    if (whole && !node.is_integer()) return WrongType(key, node, "a whole number");
    if (!node.is_number()) return WrongType(key, node, "a number");
    const double number = node.is_integer() ? static_cast<double>(node.as_integer()->get())
                                            : node.as_floating_point()->get();
    if (!(number >= key.low && number <= key.high)) {
      if (key.name == "socket_mode") {
        return Error(node.source(), absl::StrCat(FullName(key),
                                                 " must be written in octal, from 0o600 to 0o777; "
                                                 "for rw-rw-rw- write 0o666"));
      }
      const auto text = [whole](double value) {
        return whole ? absl::StrCat(static_cast<int64_t>(value)) : absl::StrCat(value);
      };
      const std::string got = whole ? absl::StrCat(node.as_integer()->get()) : absl::StrCat(number);
      return Error(node.source(), absl::StrCat(FullName(key), " must be between ", text(key.low),
                                               " and ", text(key.high), "; got ", got));
    }
    if (whole) return ConfigValue(node.as_integer()->get());
    return ConfigValue(number);
  }

  absl::Status WrongType(const ConfigKey& key, const toml::node& node,
                         std::string_view wanted) const {
    return Error(node.source(), absl::StrCat(FullName(key), " must be ", std::string(wanted)));
  }

  std::string source_;
};

absl::Status CannotRead(const std::string& path, int error) {
  const std::string sentence = absl::StrCat("cannot read the configuration file ", path, ": ",
                                            strerror(error), "; give a readable file to --config");
  return error == EACCES ? absl::PermissionDeniedError(sentence) : absl::NotFoundError(sentence);
}

// Never waits: a reload reads on the control strand, and the path may lead anywhere by then.
absl::StatusOr<std::string> ReadConfigFile(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) return CannotRead(path, errno);
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return CannotRead(path, errno);
  if (!S_ISREG(facts.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the configuration ", path, " is no plain file; give a plain file to --config"));
  }
  std::string text;
  char buffer[16384];
  ssize_t count = 0;
  while (text.size() <= kLongestFile && (count = read(file.get(), buffer, sizeof(buffer))) != 0) {
    if (count > 0) {
      text.append(buffer, static_cast<size_t>(count));
    } else if (errno != EINTR) {
      return CannotRead(path, errno);
    }
  }
  if (text.size() > kLongestFile) {
    return absl::InvalidArgumentError(
        absl::StrCat("the configuration file ", path, " is longer than 1 MiB; give a shorter one"));
  }
  return text;
}

}  // namespace

absl::StatusOr<Config> ParseConfig(std::string_view text, std::string_view source) {
  const Parser parser(source);
  toml::parse_result result = toml::parse(text, source);
  if (!result) {
    return parser.Error(result.error().source(),
                        absl::StrCat("not TOML: ", std::string(result.error().description())));
  }
  Config config;
  if (absl::Status s = parser.Apply(result.table(), &config); !s.ok()) return s;
  if (config.session.tuning.delta1 <= config.session.tuning.delta0) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(source), ": tuning.delta1 must be larger than tuning.delta0"));
  }
  return config;
}

absl::StatusOr<Config> LoadConfig(const std::string& path) {
  absl::StatusOr<std::string> text = ReadConfigFile(path);
  if (!text.ok()) return text.status();
  return ParseConfig(*text, path);
}

}  // namespace blazed
