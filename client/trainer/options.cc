#include "client/trainer/options.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "client/trainer/text.h"
#include "client/trainer/workloads/limits.h"

namespace blazed::trainer {
namespace {

constexpr int64_t kMostSteps = 1'000'000'000;
constexpr int64_t kMostSeconds = 365LL * 24 * 3600;
constexpr int64_t kMostMemoryMib = int64_t{1} << 24;
constexpr size_t kLongestJob = 96;  // the protocol's limit

const ChoiceNames<Device>& Devices() {
  static const auto& names =
      *new ChoiceNames<Device>{{"cpu", Device::kCpu}, {"cuda", Device::kCuda}};
  return names;
}

const ChoiceNames<Regime>& Regimes() {
  static const auto& names =
      *new ChoiceNames<Regime>{{"training", Regime::kTraining}, {"forward", Regime::kForward}};
  return names;
}

const ChoiceNames<Contract>& Contracts() {
  static const auto& names = *new ChoiceNames<Contract>{{"bitwise", Contract::kBitwise},
                                                        {"rounding", Contract::kRounding},
                                                        {"prediction", Contract::kPrediction}};
  return names;
}

const ChoiceNames<PlanMode>& Plans() {
  static const auto& names = *new ChoiceNames<PlanMode>{{"off", PlanMode::kOff},
                                                        {"default", PlanMode::kDefault},
                                                        {"none", PlanMode::kNone},
                                                        {"tune", PlanMode::kTune},
                                                        {"pinned", PlanMode::kPinned}};
  return names;
}

const ChoiceNames<Role>& Roles() {
  static const auto& names =
      *new ChoiceNames<Role>{{"first", Role::kFirst}, {"second", Role::kSecond}};
  return names;
}

const ChoiceNames<Until>& Untils() {
  static const auto& names =
      *new ChoiceNames<Until>{{"steps", Until::kSteps}, {"settled", Until::kSettled}};
  return names;
}

template <typename E>
absl::string_view NameIn(const ChoiceNames<E>& names, E value) {
  for (const auto& [name, choice] : names) {
    if (choice == value) return name;
  }
  return "unknown";
}

void AddSizes(CLI::App& app, TrainOptions& options) {
  const auto add = [&app](const char* flag, int* target, int most, const char* help) {
    app.add_option(flag, *target, help)->check(CLI::Range(1, most))->type_name("N");
  };
  add("--width", &options.width, workloads::kMostWidth, "features a row");
  add("--seq", &options.seq, workloads::kMostSeq, "characters a sequence");
  add("--batch", &options.batch, workloads::kMostBatch, "sequences or rows a step");
  add("--layers", &options.layers, workloads::kMostLayers, "layers");
  add("--heads", &options.heads, workloads::kMostHeads, "attention heads, a divisor of the width");
}

void AddRun(CLI::App& app, TrainOptions& options) {
  app.add_option("--workload", options.workload, "what to train")
      ->type_name("NAME")
      ->capture_default_str();
  AddChoice(app, "--device", &options.device, Devices(), "where to train");
  AddChoice(app, "--regime", &options.regime, Regimes(), "whole steps, or the forward pass alone");
  AddChoice(app, "--contract", &options.contract, Contracts(),
            "how strictly a plan's numbers must agree with the default plan's");
  AddChoice(app, "--plan", &options.plan, Plans(),
            "off: no shim; default: observe; none: nothing merged; tune: search; pinned: settled "
            "plans only");
  app.add_option("--steps", options.steps, "steps to train, at most")
      ->check(CLI::Range(int64_t{1}, kMostSteps))
      ->type_name("N")
      ->capture_default_str();
  AddChoice(app, "--until", &options.until, Untils(),
            "train all steps, or end a few steps after the answer");
  app.add_option("--seconds", options.seconds,
                 "end after this wall time and tune no longer than it")
      ->check(CLI::Range(int64_t{1}, kMostSeconds))
      ->type_name("N");
  app.add_option("--text", options.texts,
                 std::string("text to train on, several are joined [") + kDefaultTextFolder + "]")
      ->check(flags::NotEmpty())
      ->type_name("PATH");
  AddCount(app, "--seed", &options.seed, "start of parameters and batches");
}

void AddRest(CLI::App& app, TrainOptions& options) {
  app.add_option("--threads", options.threads, "threads that a plan may run a step on")
      ->check(CLI::Range(1, workloads::kMostThreads))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--extra-memory-mib", options.extra_memory_mib,
                 "peak memory that a plan may use above the default's")
      ->check(CLI::Range(int64_t{0}, kMostMemoryMib))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--report", options.report, "write the report as JSON")
      ->check(flags::NotEmpty())
      ->type_name("FILE.json");
  app.add_option("--socket", options.socket, "the daemon's socket, path or unix: URI")
      ->check(flags::NotEmpty())
      ->type_name("PATH");
  app.add_option("--job", options.job, "name of the job")
      ->check(flags::NotEmpty())
      ->type_name("ID");
  AddChoice(app, "--role", &options.role, Roles(), "the job's place in a report of two");
}

}  // namespace

std::variant<TrainOptions, Ending> ParseTrainCommandLine(int argc, const char* const* argv) {
  TrainOptions options;
  CLI::App app("Trains a small model on this machine and lets blazed tune its plan meanwhile",
               "blaze-train");
  AddRun(app, options);
  AddSizes(app, options);
  AddRest(app, options);
  Ending ending;
  if (!ReadCommandLine(app, argc, argv, &ending)) return ending;
  if (options.job.size() > kLongestJob) {
    return WrongUsage(app, "--job is longer than 96 bytes, choose a shorter one");
  }
  if (std::any_of(options.job.begin(), options.job.end(), absl::ascii_iscntrl)) {
    return WrongUsage(app, "--job holds control characters, choose a name without");
  }
  return options;
}

absl::string_view NameOf(Device device) { return NameIn(Devices(), device); }
absl::string_view NameOf(Regime regime) { return NameIn(Regimes(), regime); }
absl::string_view NameOf(Contract contract) { return NameIn(Contracts(), contract); }
absl::string_view NameOf(PlanMode plan) { return NameIn(Plans(), plan); }
absl::string_view NameOf(Role role) { return NameIn(Roles(), role); }

}  // namespace blazed::trainer
