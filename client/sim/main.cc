// blaze-sim: the planner's figures under simulated hosts.
// Exit: 0 done, 1 failed, 2 wrong usage.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "blazed_version.h"
#include "client/sim/print.h"
#include "client/sim/scenarios.h"

namespace blazed::sim {
namespace {

void ShowShare(double share) {
  static int shown = -1;
  const int percent = static_cast<int>(share * 100);
  if (percent == shown) return;
  shown = percent;
  std::string bar(static_cast<size_t>(percent / 4), '#');
  bar.resize(25, '.');
  std::fprintf(stderr, "\r%s %3d %%", bar.c_str(), percent);
}

const Scenario* Find(const std::string& name) {
  for (const Scenario& scenario : Scenarios()) {
    if (scenario.name == name) return &scenario;
  }
  return nullptr;
}

int Run(const Scenario& scenario, uint64_t runs, uint64_t seed, bool json) {
  const bool people = isatty(STDERR_FILENO) == 1;
  const auto rows = scenario.run(runs, seed, [&](double share) {
    if (people) ShowShare(share);
  });
  if (people) std::fprintf(stderr, "\r%*s\r", 32, "");
  const std::string text = json ? ToJson(scenario.name, runs, seed, rows) : ToTable(rows);
  const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (!written) std::fputs("blaze-sim: the result could not be written\n", stderr);
  return written ? 0 : 1;
}

int Main(int argc, char** argv) {
  std::string about = "Runs the planner under simulated hosts. Scenarios:\n";
  for (const Scenario& s : Scenarios()) {
    about.append("  ").append(s.name).append(": ").append(s.about).append("\n");
  }
  CLI::App app(about, "blaze-sim");
  app.set_version_flag("--version", "blaze-sim " BLAZED_VERSION);
  std::string name;
  uint64_t runs = 0, seed = 1;
  bool json = false;
  app.add_option("scenario", name, "which scenario")->required();
  app.add_option("--runs", runs, "runs of each row; 0: the scenario's own count")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--seed", seed, "one seed, one result");
  app.add_flag("--json", json, "one JSON object instead of a table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  const Scenario* scenario = Find(name);
  if (scenario == nullptr) {
    std::fprintf(stderr, "blaze-sim: no scenario is called %s, see --help\n", name.c_str());
    return 2;
  }
  return Run(*scenario, runs == 0 ? scenario->runs : runs, seed, json);
}

}  // namespace
}  // namespace blazed::sim

int main(int argc, char** argv) { return blazed::sim::Main(argc, argv); }
