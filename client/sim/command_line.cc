#include "client/sim/command_line.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <charconv>
#include <thread>

#include "blazed_version.h"
#include "client/sim/judge.h"

namespace blazed::sim {
namespace {

constexpr uint64_t kMostRuns = 1'000'000, kMostThreads = 1024;
constexpr uint64_t kMostBoundaries = 256;
constexpr double kLongestBuildS = 3600;

// Digits only: the library would read -1 as the largest number, and a larger one as the largest.
CLI::Validator WholeUpTo(uint64_t most) {
  return CLI::Validator(
      [most](std::string& text) {
        uint64_t value = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && stop == end && value <= most) return std::string();
        return "value " + text + " is no whole number from 0 to " + std::to_string(most);
      },
      "");
}

// A range alone lets "nan" through, which is neither below nor above anything.
std::string NotNan(const std::string& text) {
  const bool nan = text.find_first_of("nN") != std::string::npos;
  return nan ? "value " + text + " is no number of seconds" : "";
}

Farewell WrongUsage(std::string sentence) {
  // The library starts its sentences with a capital; names of flags are left alone.
  sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  while (sentence.back() == '\n' || sentence.back() == '.') sentence.pop_back();
  return {2, "blaze-sim: " + sentence + "; see blaze-sim --help\n"};
}

std::string About() {
  std::string about = "Runs the planner under simulated hosts. Scenarios:\n";
  for (const Scenario& s : Scenarios()) {
    about.append("  ").append(s.name).append(": ").append(s.about).append("\n");
  }
  about +=
      "  ask: step times for a tuner of another program, by lines of text: workload SPACE BUILD_S "
      "SEED, run O,O,... COUNT, done O,O,...\n";
  return about +
         "blaze-sim SCENARIO --help says what its rows mean and which figures they must reach.\n";
}

// What a row says and what it must reach.
std::string Explain(const Scenario& scenario) {
  std::string text = std::string("\n") + scenario.name + ": " + scenario.about + ", " +
                     std::to_string(scenario.runs) + " runs a row\n\nIts rows:\n";
  for (const Field& field : scenario.fields) {
    text.append("  ").append(field.name).append(": ").append(field.meaning).append("\n");
  }
  text +=
      "A figure's interval is its _low to _high: 95 % of what the runs leave possible; its _n says "
      "of how many runs, races or values it is.\n";
  if (scenario.bars.empty()) return text + "\nNo figure of it has a bar.\n";
  text += "\nIts bars:\n";
  for (const Bar& bar : scenario.bars) text += "  " + TextOf(bar) + "\n";
  return text +
         "--check fails on one where not even the better end of the interval reaches it, or where "
         "there is nothing to take the figure from.\n";
}

void AddFlags(CLI::App& app, SimOptions& options) {
  Request& request = options.request;
  app.add_option("--runs", request.runs, "runs of each row; 0: the scenario's own count")
      ->check(WholeUpTo(kMostRuns))
      ->type_name("N");
  app.add_option("--seed", request.seed, "one seed, one result")
      ->check(WholeUpTo(UINT64_MAX))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--threads", request.threads, "runs at a time; the results are the same")
      ->check(CLI::Range(uint64_t{1}, kMostThreads))
      ->type_name("N")
      ->default_str("as many as there are cores");
  app.add_option("--boundaries", request.boundaries,
                 "sizes of the spaces, where the scenario draws some")
      ->check(CLI::Range(uint64_t{1}, kMostBoundaries))
      ->delimiter(',')
      ->type_name("N,...");
  app.add_option("--build-s", request.build_s, "what a build takes, where the scenario charges it")
      ->check(NotNan)
      ->check(CLI::Range(0.0, kLongestBuildS))
      ->type_name("SECONDS");
  app.add_flag("--json", options.json, "one JSON object instead of a table");
  app.add_flag("--check", options.check,
               "one line for each bar; exit 1 where one is missed or lacks data");
}

}  // namespace

std::variant<SimOptions, Farewell> ParseSimCommandLine(int argc, const char* const* argv) {
  SimOptions options;
  options.request.runs = 0;
  options.request.threads = std::max(1u, std::thread::hardware_concurrency());
  std::string name;
  CLI::App app(About(), "blaze-sim");
  app.set_version_flag("--version", "blaze-sim " BLAZED_VERSION " (" BLAZED_COMMIT ")");
  app.add_option("scenario", name, "which scenario")->required()->type_name("NAME");
  AddFlags(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const Scenario* about = FindScenario(name);
    return Farewell{0, app.help() + (about == nullptr ? "" : Explain(*about))};
  } catch (const CLI::CallForVersion& version) {
    return Farewell{0, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return WrongUsage(error.what());
  }
  options.ask = name == "ask";
  if (options.ask) return options;
  options.scenario = FindScenario(name);
  if (options.scenario == nullptr) return WrongUsage("no scenario is called " + name);
  return options;
}

}  // namespace blazed::sim
