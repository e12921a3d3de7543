#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/trainer/command_line.h"

namespace blazed::trainer {

enum class Device { kCpu, kCuda };
enum class Regime { kTraining, kForward };
enum class Contract { kBitwise, kRounding, kPrediction };

// What runs and who decides it.
enum class PlanMode {
  kOff,      // the default plan, no shim in the process's way
  kDefault,  // the default plan, the shim observes
  kNone,     // nothing merged: every boundary cut, no shim
  kTune,     // blazed searches and adopts
  kPinned,   // settled plans only, no trials
};

enum class Until {
  kSteps,    // all --steps
  kSettled,  // a few steps after the answer, --steps at most
};

// The job's place in a report of several jobs.
enum class Role { kFirst, kSecond };

// Everything the command line says. Sizes of 0 read as the workload's own default.
struct TrainOptions {
  std::string workload = "attention";
  Device device = Device::kCpu;
  Regime regime = Regime::kTraining;
  Contract contract = Contract::kRounding;
  PlanMode plan = PlanMode::kTune;
  Until until = Until::kSteps;
  Role role = Role::kFirst;
  int64_t steps = 1000;
  int64_t seconds = 0;             // 0: no limit in wall time
  std::vector<std::string> texts;  // empty: the texts Debian ships
  uint64_t seed = 1;
  int width = 0;
  int seq = 0;
  int batch = 0;
  int layers = 0;
  int heads = 0;
  int threads = 1;                 // that a plan may use; one is no decision
  int64_t extra_memory_mib = 512;  // peak memory a plan may use above the default's
  std::string report;              // path; empty: no file
  std::string socket;              // empty: the shim's own search
  std::string job;                 // empty: the daemon makes one
};

// Options to run with, or how to end at once (help, version, wrong usage).
std::variant<TrainOptions, Ending> ParseTrainCommandLine(int argc, const char* const* argv);

// The names that flags and reports use.
absl::string_view NameOf(Device device);
absl::string_view NameOf(Regime regime);
absl::string_view NameOf(Contract contract);
absl::string_view NameOf(PlanMode plan);
absl::string_view NameOf(Role role);

}  // namespace blazed::trainer
