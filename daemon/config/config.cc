#include "daemon/config/config.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/config/keys.h"

namespace blazed {
namespace {

std::string ValueText(const ConfigKey& key, const Config& config) {
  const ConfigValue value = key.get(config);
  if (const auto* text = std::get_if<std::string>(&value)) return absl::StrCat("\"", *text, "\"");
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<double>(&value)) return absl::StrCat(*number);
  const int64_t number = std::get<int64_t>(value);
  if (key.name == "socket_mode") {
    char octal[32];
    std::snprintf(octal, sizeof(octal), "0o%03llo", static_cast<unsigned long long>(number));
    return octal;
  }
  return absl::StrCat(number);
}

std::string RangeText(const ConfigKey& key) {
  const ConfigValue value = key.get(Config());
  if (!key.choices.empty()) return absl::StrJoin(key.choices, ", ");
  if (std::holds_alternative<bool>(value)) return "true, false";
  if (std::holds_alternative<std::string>(value)) return absl::StrCat("up to ", key.high, " bytes");
  if (key.name == "socket_mode") return "0o600 to 0o777";
  char text[64];
  std::snprintf(text, sizeof(text), "%.10g to %.10g", key.low, key.high);
  return text;
}

std::string EnvironmentFolder(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] == '/' ? value : "";
}

}  // namespace

absl::Status ResolvePlaces(Config* config) {
  const bool root = geteuid() == 0;
  if (config->socket.empty()) {
    const std::string runtime = root ? "/run" : EnvironmentFolder("XDG_RUNTIME_DIR");
    if (runtime.empty()) {
      return absl::FailedPreconditionError(
          "XDG_RUNTIME_DIR is not set, so there is no place for the socket; give --socket PATH "
          "or set BLAZED_SOCKET");
    }
    config->socket = absl::StrCat(runtime, "/blazed/blazed.sock");
  }
  if (config->state_dir.empty()) {
    std::string state = root ? "/var/lib" : EnvironmentFolder("XDG_STATE_HOME");
    if (state.empty()) {
      const std::string home = EnvironmentFolder("HOME");
      if (home.empty()) {
        return absl::FailedPreconditionError(
            "neither XDG_STATE_HOME nor HOME is set, so there is no place for the store; "
            "give --state DIR");
      }
      state = absl::StrCat(home, "/.local/state");
    }
    config->state_dir = absl::StrCat(state, "/blazed");
  }
  // Else the second to be bound would find the first and take it for another daemon's.
  if (config->admin_socket == config->socket) {
    return absl::InvalidArgumentError(
        absl::StrCat("daemon.admin_socket and daemon.socket are both ", config->socket,
                     "; give the operators' socket a path of its own, or leave it out"));
  }
  return absl::OkStatus();
}

std::string DefaultConfigText() {
  std::string text = "# Defaults of blazed. Keep only the lines that you change.\n";
  std::string_view section;
  const Config standard;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.section != section) {
      section = key.section;
      absl::StrAppend(&text, "\n[", std::string(section), "]\n");
    }
    absl::StrAppend(&text, "# ", std::string(key.text), "\n", std::string(key.name), " = ",
                    ValueText(key, standard), "\n");
  }
  return text;
}

std::string ConfigDocumentation() {
  std::string text =
      "# Configuration\n\n"
      "`blazed` reads `/etc/blazed/blazed.toml` when it exists, or the file of `--config`. The "
      "file is TOML and\n"
      "read strictly: an unknown key, a wrong type or a value out of range is an error that names "
      "the line. It has to be a plain file of at most 1 MiB; an empty one keeps every default.\n"
      "`blazed --check-config` says whether a file is good, `blazed config default` prints every "
      "default.\n"
      "`--socket`, `--state`, `--log-level`, `--budget-share`, `--budget-allowance-s` and "
      "`--max-builds` win over the file. BLAZED_SOCKET, which every client goes by, wins over the "
      "file's `socket` and loses to `--socket`; it is a path or a `unix:` URI. On SIGHUP the keys "
      "marked "
      "*reload* take effect\n"
      "at once, for sessions and tunings opened from then on; the others need a restart.\n\n"
      "This page is checked against the table in `daemon/config/keys.cc` by a test.\n";
  std::string_view section;
  const Config standard;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.section != section) {
      section = key.section;
      absl::StrAppend(
          &text, "\n## [", std::string(section),
          "]\n\n| key | default | range | when | what |\n| --- | --- | --- | --- | --- |\n");
    }
    absl::StrAppend(&text, "| `", std::string(key.name), "` | `", ValueText(key, standard), "` | ",
                    RangeText(key), " | ", key.reload == Reload::kOnHup ? "reload" : "start", " | ",
                    std::string(key.text), " |\n");
  }
  return text;
}

std::vector<std::string> RestartKeys(const Config& running, const Config& loaded) {
  std::vector<std::string> names;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.reload == Reload::kAtStart && key.get(running) != key.get(loaded)) {
      names.push_back(FullName(key));
    }
  }
  return names;
}

Config Reloaded(const Config& running, const Config& loaded) {
  Config merged = running;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.reload == Reload::kOnHup) key.set(merged, key.get(loaded));
  }
  return merged;
}

}  // namespace blazed
