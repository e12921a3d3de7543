// The messages of tuner.proto as the shim uses them: plain values, bounded where they are decoded.
// Numbers of enumerations are those of the .proto; values that are not known stay as they came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "client/cpp/base/digest.h"
#include "client/cpp/include/blazed/blazed.h"

namespace blazed::shim {

using Plan = std::vector<blz_choice>;  // non-default options, sorted by decision

inline bool SamePlan(const Plan& a, const Plan& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].decision != b[i].decision || a[i].option != b[i].option) return false;
  }
  return true;
}

enum class WireMode : uint32_t { kUnspecified = 0, kObserve = 1, kTune = 2, kPinned = 3 };

enum class Refusal : uint32_t {
  kNotProven = 1,
  kUnknownVariant = 2,
  kMalformed = 3,
  kOverLimit = 4,
  kNotTuning = 5,
  kMemory = 6,
  kRejectedEarlier = 7,
};

enum class BuildStatus : uint32_t { kOk = 1, kFailed = 2, kMemory = 3 };

inline constexpr uint32_t kUnitAborted = 32;
inline constexpr uint32_t kAdoptPinned = 6;

// Limits of tuner.proto.
inline constexpr size_t kMaxDecisions = 512;
inline constexpr size_t kMaxGraphs = 64;
inline constexpr size_t kMaxVariants = 64;
inline constexpr uint32_t kMaxPairs = 128;
inline constexpr uint32_t kMaxUnitSteps = 64;
inline constexpr uint32_t kMaxProbeBatches = 16;
inline constexpr uint32_t kMaxVariantId = 1u << 31;
inline constexpr size_t kMaxKernels = 512;
inline constexpr size_t kMaxKernelName = 256;
inline constexpr uint64_t kMaxLaunches = UINT32_MAX;
inline constexpr uint64_t kMaxKernelNs = 3'600'000'000'000;
inline constexpr uint64_t kMaxKernelBytes = uint64_t{1} << 50;
inline constexpr uint32_t kMaxOfAThread = INT32_MAX;
inline constexpr size_t kMaxMessageBytes = 1 << 20;

// ---- daemon to shim ----

struct Welcome {
  Digest session{};
  bool has_session = false;
  uint64_t daemon_epoch = 0;
  std::string daemon_version;
  WireMode mode = WireMode::kUnspecified;
  std::string mode_reason;
  uint32_t probe_batches = 0;
};

struct Build {
  uint64_t build_id = 0;
  uint32_t variant = 0;
  Plan plan;
  uint32_t rebuild_of = 0;
};

struct Probe {
  uint64_t probe_id = 0;
  std::vector<uint32_t> variants;
  uint32_t batches = 0;
};

struct RunPairs {
  uint64_t lease_id = 0;
  uint32_t champion = 0;
  uint32_t challenger = 0;
  uint32_t pairs = 0;
  std::vector<uint8_t> challenger_first;
  uint32_t warm_steps = 0;
  uint32_t timed_steps = 0;
  uint64_t deadline_ns = 0;
  uint64_t abort_step_ns = 0;
};

struct Adopt {
  uint64_t adopt_id = 0;
  uint32_t variant = 0;
  Plan plan;
  uint32_t reason = 0;
  uint32_t settlement = 0;
  uint64_t settlement_id = 0;
  bool settled = false;
};

struct Drop {
  uint32_t variant = 0;
};

struct WantKernels {
  uint32_t variant = 0;
};

struct Stand {
  uint32_t reason = 0;
  std::string detail;
};

struct Progress {
  uint32_t phase = 0;
  uint32_t candidates = 0;
  uint32_t dropped = 0;
  uint32_t builds = 0;
  uint32_t races = 0;
  uint64_t search_pairs = 0;
  uint64_t replication_pairs = 0;
  uint64_t window_ns = 0;
  uint64_t regret_ns = 0;
  double gain = 0;
  bool has_forecast = false;
  uint64_t forecast_window_ns = 0;
  uint32_t forecast_builds = 0;
  uint64_t forecast_regret_ns = 0;
  double forecast_resolvable = 0;
  std::string forecast_based_on;
  std::string note;
};

struct Refused {
  uint64_t sequence = 0;
  std::string detail;
};

struct UnknownBody {};  // a field of a later version: ignored

using DaemonBody = std::variant<UnknownBody, Welcome, Build, Probe, RunPairs, Adopt, Drop, Stand,
                                Progress, WantKernels, Refused>;

// ---- shim to daemon ----

struct Hello {
  Digest resume{};  // zero: a first session
  uint64_t resume_epoch = 0;
  WireMode mode = WireMode::kTune;
  uint32_t contract = 0;
  std::string job;
  uint32_t rank = 0;
  uint32_t world_size = 1;
  std::string host_name;
  std::string device;
  std::vector<std::pair<std::string, std::string>> environment;
  uint64_t extra_memory_bytes = 0;
  uint64_t tune_until_steps = 0;
  uint64_t tune_until_ns = 0;
  uint64_t process_start_ns = 0;
};

struct GraphSeen {
  Digest fingerprint{};
  uint32_t regime = 0;
  std::string name;
  uint32_t nodes = 0;
  std::string description;
};

struct DecisionSeen {
  Digest id{};
  std::string name;
  uint32_t kind = 0;
  std::vector<std::string> options;
  uint32_t graph = 0;
  uint32_t sites = 0;
  uint32_t reorders_sums = 0;
  std::vector<uint64_t> build_ns;  // empty, or one an option
};

struct WorkloadSeen {
  Digest fingerprint{};
  std::string name;
  std::vector<Digest> graphs;
  std::vector<DecisionSeen> decisions;
  Digest default_signature{};
  uint64_t default_peak_bytes = 0;
  uint64_t default_step_ns = 0;
  uint64_t default_build_ns = 0;
  bool queued = false;
};

struct VariantBuilt {
  uint64_t build_id = 0;
  uint32_t variant = 0;
  BuildStatus status = BuildStatus::kOk;
  std::string reason;
  Digest signature{};
  uint64_t build_ns = 0;
  uint64_t peak_bytes = 0;
};

struct UnitTime {
  uint64_t host_ns = 0;
  uint64_t device_ns = 0;
  uint32_t flags = 0;
};

struct StepsDone {
  uint64_t lease_id = 0;
  std::vector<UnitTime> units;
  uint64_t first_step = 0;
  uint64_t drain_ns = 0;
  bool complete = false;
  std::optional<uint32_t> run_ahead;
};

struct DirectiveRefused {
  uint64_t directive_id = 0;
  uint32_t variant = 0;
  Refusal reason = Refusal::kMalformed;
  std::string detail;
};

struct ServiceWindow {
  uint32_t variant = 0;
  uint64_t first_step = 0;
  uint32_t steps = 0;
  uint64_t host_ns = 0;
  uint64_t median_step_ns = 0;
};

struct Adopted {
  uint64_t adopt_id = 0;
  uint32_t variant = 0;
  uint64_t from_step = 0;
};

// `name` as it goes out, the numbers as the host gave them.
struct KernelUse {
  std::string name;
  blz_kernel numbers{};
};

struct StepKernels {
  blz_step_kernels totals{};
  std::vector<KernelUse> kernels;
};

struct KernelsSeen {
  uint32_t variant = 0;
  StepKernels before, after;
};

struct Bye {
  uint64_t steps = 0;
  std::string reason;
};

}  // namespace blazed::shim
