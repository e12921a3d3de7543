// Flags and verbs. Global flags stand before or after the verb.
#pragma once

#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "client/blazectl/exit_code.h"
#include "client/blazectl/options.h"

namespace blazed::blazectl {

// The command line ended the program by itself: help, version, or wrong usage.
struct Farewell {
  ExitCode code = ExitCode::kOk;
  std::string text;  // for stdout where the code is kOk, else for stderr
};

// `arguments` without the program's name.
std::variant<Options, Farewell> ParseCommandLine(std::vector<std::string> arguments);

// Prints it and gives the exit code: its own, or kError where `out` lost the answer.
ExitCode PrintFarewell(const Farewell& farewell, std::FILE* out, std::FILE* err);

}  // namespace blazed::blazectl
