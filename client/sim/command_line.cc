#include "client/sim/command_line.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <charconv>

#include "blazed_version.h"

namespace blazed::sim {
namespace {

constexpr uint64_t kMostRuns = 1'000'000;

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
  return about;
}

}  // namespace

std::variant<SimOptions, Farewell> ParseSimCommandLine(int argc, const char* const* argv) {
  SimOptions options;
  std::string name;
  CLI::App app(About(), "blaze-sim");
  app.set_version_flag("--version", "blaze-sim " BLAZED_VERSION " (" BLAZED_COMMIT ")");
  app.add_option("scenario", name, "which scenario")->required()->type_name("NAME");
  app.add_option("--runs", options.runs, "runs of each row; 0: the scenario's own count")
      ->check(WholeUpTo(kMostRuns))
      ->type_name("N");
  app.add_option("--seed", options.seed, "one seed, one result")
      ->check(WholeUpTo(UINT64_MAX))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--json", options.json, "one JSON object instead of a table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Farewell{0, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return Farewell{0, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return WrongUsage(error.what());
  }
  for (const Scenario& scenario : Scenarios()) {
    if (scenario.name == name) options.scenario = &scenario;
  }
  if (options.scenario == nullptr) return WrongUsage("no scenario is called " + name);
  return options;
}

}  // namespace blazed::sim
