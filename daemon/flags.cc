#include "daemon/flags.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "blazed_version.h"
#include "daemon/exit_codes.h"
#include "daemon/rpc/socket_path.h"

namespace blazed {
namespace {

constexpr char kSystemConfig[] = "/etc/blazed/blazed.toml";

constexpr char kFooter[] =
    "Exit codes: 0 stopped as asked, 1 failed while running, 2 wrong usage or configuration,\n"
    "3 the socket or the store is in use or cannot be taken.";

// An empty value is a script's unset variable and would silently mean the default place.
std::string NotEmpty(const std::string& value) {
  return value.empty() ? "the value is empty; give one or leave the flag out" : "";
}

// The library's own range lets "nan" through and says nothing of what to do.
CLI::Validator Number(double low, double high) {
  const auto check = [low, high](const std::string& text) {
    double value = 0;
    const bool good = absl::SimpleAtod(text, &value) && value >= low && value <= high;
    return good ? std::string()
                : absl::StrCat("'", text, "' does not do; give a number from ", low, " to ", high);
  };
  return CLI::Validator(check, "");
}

CLI::Validator WholeNumber(int64_t low, int64_t high) {
  const auto check = [low, high](const std::string& text) {
    int64_t value = 0;
    const bool good = absl::SimpleAtoi(text, &value) && value >= low && value <= high;
    return good ? std::string()
                : absl::StrCat("'", text, "' does not do; give a whole number from ", low, " to ",
                               high);
  };
  return CLI::Validator(check, "");
}

std::string IsLevel(const std::string& text) {
  for (const char* level : {"debug", "info", "warning", "error"}) {
    if (text == level) return "";
  }
  return absl::StrCat("'", text, "' is no level; give debug, info, warning or error");
}

// What was not understood and the next move, in place of the library's bare sentences.
std::string UsageSentence(const CLI::App& app, const CLI::App& config, const CLI::Error& error) {
  const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (config.parsed() && (extra || dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)) {
    const std::vector<std::string> left = app.remaining(true);
    const std::string what = left.empty() ? "config says nothing by itself"
                                          : absl::StrCat("config knows no '", left[0], "'");
    return what +
           "; `blazed config default` prints every key with its default, `blazed config docs` "
           "the same as a table";
  }
  if (extra) return absl::StrCat("unknown verb or flag '", app.remaining(true)[0], "'");
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const absl::string_view what = error.what();
    return absl::StrCat(std::string(what.substr(0, what.find(':'))), " needs a value of its own");
  }
  return error.what();
}

// The address that all clients of this environment go by: a path or a unix: URI.
absl::StatusOr<std::string> SocketOfEnvironment() {
  const char* value = std::getenv("BLAZED_SOCKET");
  absl::string_view path = value == nullptr ? "" : value;
  if (path.empty()) return std::string();
  if (absl::ConsumePrefix(&path, "unix:")) absl::ConsumePrefix(&path, "//");
  if (path.empty()) {
    return absl::InvalidArgumentError("BLAZED_SOCKET names no path; give a path or a unix: URI");
  }
  if (absl::Status status = rpc::CheckSocketPath(std::string(path)); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("BLAZED_SOCKET: ", status.message()));
  }
  return std::string(path);
}

void AddBudgetFlags(CLI::App& app, Flags& flags) {
  const planner::TuningConfig standard;
  const int64_t allowance_s =
      std::chrono::duration_cast<std::chrono::seconds>(standard.budget_allowance).count();
  app.add_option("--budget-share", flags.budget_share,
                 absl::StrCat("part of a job's wall time that exploring may cost, from 0 to 1; ",
                              standard.budget_share, " where no file says otherwise"))
      ->check(Number(0, 1));
  app.add_option(
         "--budget-allowance-s", flags.budget_allowance_s,
         absl::StrCat("seconds that exploring may cost a job at once, on top of its share; ",
                      allowance_s, " where no file says otherwise"))
      ->check(WholeNumber(0, 604800));
  app.add_option("--max-builds", flags.max_builds,
                 "builds that one search may ask a job for; 0: no limit of its own")
      ->check(WholeNumber(0, 1000000));
}

}  // namespace

Flags ParseFlags(int argc, char** argv) {
  Flags flags;
  CLI::App app("blazed measures fusion plans on real training steps and keeps the winners",
               "blazed");
  app.footer(kFooter);
  app.set_version_flag("--version",
                       absl::StrCat("blazed ", BLAZED_VERSION, " (", BLAZED_COMMIT, ")"));
  bool check = false;
  app.add_option("--config", flags.config_path,
                 absl::StrCat("configuration file; without it ", kSystemConfig, " if it exists"))
      ->check(NotEmpty);
  app.add_option("--socket", flags.socket,
                 "path of the socket that shims connect to; without it what BLAZED_SOCKET names, "
                 "then what the file says")
      ->check(NotEmpty);
  app.add_option("--state", flags.state_dir, "folder of the store")->check(NotEmpty);
  app.add_option("--log-level", flags.log_level, "debug, info, warning or error")->check(IsLevel);
  AddBudgetFlags(app, flags);
  app.add_flag("--check-config", check, "say whether the configuration is good, and exit");
  CLI::App* config = app.add_subcommand("config", "print the configuration that is built in");
  config->require_subcommand(1);
  CLI::App* defaults = config->add_subcommand("default", "every key with its default, as TOML");
  CLI::App* docs = config->add_subcommand("docs", "every key as the table of docs/config.md");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    flags.verb = Verb::kExit;
    if (error.get_exit_code() == 0) {
      app.exit(error);  // help and version
      return flags;
    }
    std::fprintf(stderr, "blazed: %s\nblazed --help says what it takes\n",
                 UsageSentence(app, *config, error).c_str());
    flags.exit_code = kExitUsage;
    return flags;
  }
  if (defaults->parsed()) flags.verb = Verb::kPrintDefaults;
  if (docs->parsed()) flags.verb = Verb::kPrintDocumentation;
  if (check) flags.verb = Verb::kCheckConfig;
  if (flags.config_path.empty() && access(kSystemConfig, F_OK) == 0) {
    flags.config_path = kSystemConfig;
  }
  return flags;
}

absl::StatusOr<Config> ConfigOf(const Flags& flags) {
  Config config;
  if (!flags.config_path.empty()) {
    absl::StatusOr<Config> loaded = LoadConfig(flags.config_path);
    if (!loaded.ok()) return loaded.status();
    config = *std::move(loaded);
  }
  if (!flags.socket.empty()) {
    config.socket = flags.socket;
  } else {
    absl::StatusOr<std::string> named = SocketOfEnvironment();
    if (!named.ok()) return named.status();
    if (!named->empty()) config.socket = *std::move(named);
  }
  if (!flags.state_dir.empty()) config.state_dir = flags.state_dir;
  if (!flags.log_level.empty()) config.log_level = flags.log_level;
  planner::TuningConfig& tuning = config.session.tuning;
  if (flags.budget_share) tuning.budget_share = *flags.budget_share;
  if (flags.budget_allowance_s) {
    tuning.budget_allowance = std::chrono::seconds(*flags.budget_allowance_s);
  }
  if (flags.max_builds) tuning.max_builds = *flags.max_builds;
  if (absl::Status status = ResolvePlaces(&config); !status.ok()) return status;
  if (absl::Status status = rpc::CheckSocketPath(config.socket); !status.ok()) return status;
  if (config.admin_socket.empty()) return config;
  if (absl::Status status = rpc::CheckSocketPath(config.admin_socket); !status.ok()) return status;
  return config;
}

}  // namespace blazed
