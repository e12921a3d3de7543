#include "client/blazectl/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "blazed_version.h"
#include "client/flags/checks.h"

namespace blazed::blazectl {
namespace {

constexpr uint32_t kMostRows = 10'000;

// Seconds where the unit is missing, as people type it.
bool ParseTimeout(const std::string& text, std::optional<absl::Duration>* timeout) {
  const bool bare = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.';
  });
  absl::Duration value;
  if (!absl::ParseDuration(bare ? text + "s" : text, &value)) return false;
  if (value <= absl::ZeroDuration() || value > absl::Hours(1)) return false;
  *timeout = value;
  return true;
}

void AddGlobalFlags(CLI::App& app, Options& options) {
  app.add_option("--socket", options.socket, "the daemon's socket: a path or a unix: URI")
      ->check(flags::NotEmpty())
      ->type_name("PATH");
  app.add_flag_callback(
      "--json", [&options] { options.output = Output::kJson; }, "print JSON for programs");
  app.add_flag_callback(
      "--no-color", [&options] { options.colour = Colour::kNever; }, "plain text on terminals too");
  app.add_option_function<std::string>(
         "--timeout",
         [&options](const std::string& text) {
           if (!ParseTimeout(text, &options.timeout)) {
             throw CLI::ValidationError("--timeout", "give a time such as 500ms or 2s, at most 1h");
           }
         },
         "how long to wait for the daemon and its answer, such as 500ms; seconds without a "
         "unit")
      ->type_name("TIME");
}

CLI::App* AddVerb(CLI::App& app, Options& options, Verb verb, const char* name, const char* what) {
  CLI::App* sub = app.add_subcommand(name, what);
  sub->fallthrough();
  sub->callback([&options, verb] { options.verb = verb; });
  return sub;
}

void AddListVerb(CLI::App& app, Options& options, Verb verb, const char* name, const char* what) {
  CLI::App* sub = AddVerb(app, options, verb, name, what);
  sub->add_option("workload", options.workload, "fingerprint, its first digits, or a name");
  sub->add_option("--limit", options.limit, "rows to show, newest first")
      ->check(CLI::Range(1u, kMostRows));
}

void AddVerbs(CLI::App& app, Options& options) {
  AddVerb(app, options, Verb::kStatus, "status", "the daemon, its store and the attached sessions");
  AddListVerb(app, options, Verb::kGraphs, "graphs", "workloads and graphs seen");
  AddListVerb(app, options, Verb::kPlans, "plans", "candidate plans, with verdict and reason");
  AddListVerb(app, options, Verb::kRaces, "races", "races with their evidence");
  AddListVerb(app, options, Verb::kSettlements, "settlements",
              "what was settled, and what it saves");

  CLI::App* explain =
      AddVerb(app, options, Verb::kExplain, "explain", "why this plan, why not that one");
  explain->add_option("workload", options.workload, "fingerprint, its first digits, or a name");
  explain->add_option("--plan", options.plan, "a plan's number; without it the plan in force")
      ->check(flags::WholeNumber())
      ->type_name("N");

  CLI::App* watch = AddVerb(app, options, Verb::kWatch, "watch", "events as they happen");
  watch->add_option("workload", options.workload, "fingerprint, its first digits, or a name");
  watch->add_option("--after", options.after, "go on behind this event's number")
      ->check(flags::WholeNumber())
      ->type_name("N");
  watch->add_option("--events", options.events, "end after this many events")
      ->check(flags::WholeNumber())
      ->type_name("N");

  CLI::App* health =
      AddVerb(app, options, Verb::kHealth, "health", "does the daemon serve; exit 4 where not");
  health->add_option("subsystem", options.subsystem,
                     "a name the daemon registers; empty: all of it");

  CLI::App* report = AddVerb(app, options, Verb::kReport, "report", "a session's report as JSON");
  report->add_option("session", options.session, "number from status, or token")->required();
  app.require_subcommand(1);
}

std::string Sentence(const std::string& what) {
  std::string text = what;
  while (!text.empty() && (text.back() == '.' || text.back() == '\n')) text.pop_back();
  if (!text.empty()) text[0] = absl::ascii_tolower(static_cast<unsigned char>(text[0]));
  return absl::StrCat("blazectl: ", text, "; blazectl --help lists verbs and flags\n");
}

}  // namespace

std::variant<Options, Farewell> ParseCommandLine(std::vector<std::string> arguments) {
  Options options;
  CLI::App app("Asks a blazed daemon what it does and what it knows.", "blazectl");
  app.set_version_flag("--version",
                       absl::StrCat("blazectl ", BLAZED_VERSION, " (", BLAZED_COMMIT, ")"));
  AddGlobalFlags(app, options);
  AddVerbs(app, options);
  app.footer("exit: 0 done, 1 failed, 2 wrong usage, 3 no daemon, 4 unhealthy, 5 denied");
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return Farewell{ExitCode::kOk, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return Farewell{ExitCode::kOk, absl::StrCat(version.what(), "\n")};
  } catch (const CLI::RequiredError& error) {
    const bool no_verb = app.get_subcommands().empty();
    if (!no_verb) return Farewell{ExitCode::kUsage, Sentence(error.what())};
    const auto left = app.remaining();
    return Farewell{
        ExitCode::kUsage,
        Sentence(left.empty() ? "no verb given" : "unknown verb or flag '" + left.front() + "'")};
  } catch (const CLI::ParseError& error) {
    return Farewell{ExitCode::kUsage, Sentence(error.what())};
  }
  return options;
}

ExitCode PrintFarewell(const Farewell& farewell, std::FILE* out, std::FILE* err) {
  const bool good = farewell.code == ExitCode::kOk;
  std::FILE* const stream = good ? out : err;
  const bool printed = std::fputs(farewell.text.c_str(), stream) >= 0 && std::fflush(stream) == 0;
  if (printed || !good) return farewell.code;
  std::fputs("blazectl: cannot write the answer; is the disk full?\n", err);
  return ExitCode::kError;
}

}  // namespace blazed::blazectl
