#include "daemon/flags.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "absl/strings/str_cat.h"
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

// A range alone lets "nan" through.
std::string NotNan(const std::string& value) {
  return value.find_first_of("nN") != std::string::npos ? "give a number" : "";
}

void AddBudgetFlags(CLI::App& app, Flags& flags) {
  const planner::TuningConfig standard;
  const int64_t allowance_s =
      std::chrono::duration_cast<std::chrono::seconds>(standard.budget_allowance).count();
  app.add_option("--budget-share", flags.budget_share,
                 absl::StrCat("part of a job's wall time that exploring may cost, from 0 to 1; ",
                              standard.budget_share, " where no file says otherwise"))
      ->check(NotNan)
      ->check(CLI::Range(0.0, 1.0));
  app.add_option(
         "--budget-allowance-s", flags.budget_allowance_s,
         absl::StrCat("seconds that exploring may cost a job at once, on top of its share; ",
                      allowance_s, " where no file says otherwise"))
      ->check(CLI::Range(0, 604800));
  app.add_option("--max-builds", flags.max_builds,
                 "builds that one search may ask a job for; 0: no limit of its own")
      ->check(CLI::Range(0, 1000000));
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
  app.add_option("--socket", flags.socket, "path of the socket that shims connect to")
      ->check(NotEmpty);
  app.add_option("--state", flags.state_dir, "folder of the store")->check(NotEmpty);
  app.add_option("--log-level", flags.log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
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
    std::fprintf(stderr, "blazed: %s\nblazed --help says what it takes\n", error.what());
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
  if (!flags.socket.empty()) config.socket = flags.socket;
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
