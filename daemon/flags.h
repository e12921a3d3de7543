// The command line of `blazed`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/config/config.h"

namespace blazed {

enum class Verb { kServe, kCheckConfig, kPrintDefaults, kPrintDocumentation, kExit };

struct Flags {
  Verb verb = Verb::kServe;
  int exit_code = 0;        // of kExit: help and version were printed, or the usage was wrong
  std::string config_path;  // empty: no file
  std::string socket, state_dir, log_level;
  // What exploring may cost a job; empty: as the file has it.
  std::optional<double> budget_share;
  std::optional<int64_t> budget_allowance_s;
  std::optional<uint32_t> max_builds;
};

// Prints help, version and usage errors itself.
Flags ParseFlags(int argc, char** argv);

// The configuration file, with BLAZED_SOCKET and then the flags over it and every place filled in.
// Also what a reload reads.
absl::StatusOr<Config> ConfigOf(const Flags& flags);

}  // namespace blazed
