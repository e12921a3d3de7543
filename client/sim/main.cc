// blaze-sim: the planner's figures under simulated hosts.
// Exit: 0 done, 1 failed or, with --check, a figure misses its bar, 2 wrong usage.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <variant>

#include "client/sim/ask.h"
#include "client/sim/command_line.h"
#include "client/sim/judge.h"
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

// False where standard output lost text.
bool Print(const std::string& text) {
  const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (!written) {
    std::fputs(
        "blaze-sim: cannot write to standard output; free space there or send it elsewhere\n",
        stderr);
  }
  return written;
}

bool AnyFails(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return Fails(f.standing); });
}

int Run(const SimOptions& options) {
  const bool people = isatty(STDERR_FILENO) == 1;
  const Scenario& scenario = *options.scenario;
  Request request = options.request;
  if (request.runs == 0) request.runs = scenario.runs;
  if (people) request.progress = ShowShare;
  const auto rows = scenario.run(request);
  if (people) std::fprintf(stderr, "\r%*s\r", 32, "");
  std::vector<Finding> findings;
  if (options.check) findings = Judge(scenario, rows);
  std::string text = options.json
                         ? ToJson(scenario.name, request.runs, request.seed, rows, findings)
                         : ToTable(rows);
  if (!options.json && options.check) text.append("\n").append(ToLines(findings));
  if (!Print(text)) return 1;
  return AnyFails(findings) ? 1 : 0;
}

int Ask() {
  AskSession session;
  for (std::string line; std::getline(std::cin, line);) {
    if (!Print(session.Answer(line).append("\n"))) return 1;
  }
  return 0;
}

int Main(int argc, char** argv) {
  const auto parsed = ParseSimCommandLine(argc, argv);
  if (const auto* farewell = std::get_if<Farewell>(&parsed)) {
    if (farewell->code == 0) return Print(farewell->text) ? 0 : 1;
    std::fputs(farewell->text.c_str(), stderr);
    return farewell->code;
  }
  const auto& options = std::get<SimOptions>(parsed);
  return options.ask ? Ask() : Run(options);
}

}  // namespace
}  // namespace blazed::sim

int main(int argc, char** argv) { return blazed::sim::Main(argc, argv); }
