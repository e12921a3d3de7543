// The planner's vocabulary: values only, no behaviour, nothing but the standard library.
// Words are those of docs/glossary.md. Used by the shell, by storage and by tests as well.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace blazed::planner {

using Nanos = std::chrono::nanoseconds;

// A 128-bit digest: fingerprints and signatures.
using Digest = std::array<uint8_t, 16>;

// A moment on the shell's monotonic clock, since an arbitrary origin; only differences mean
// anything.
using Moment = Nanos;

using SessionId = uint64_t;    // unique within a store, never reused
using VariantId = uint32_t;    // unique within a session; 0 is the default plan
using DirectiveId = uint64_t;  // builds, probes, leases and adopts of a session share one counter
using RaceId = uint64_t;       // unique within a tuning

inline constexpr VariantId kDefaultVariant = 0;

enum class Contract { kBitwise, kRounding, kPrediction };
enum class Mode { kObserve, kTune, kPinned };
enum class DecisionKind { kBoundary, kChoice };

inline constexpr size_t kMostOptions = 16;  // of a decision, the default among them

struct DecisionSpec {
  Digest id{};
  std::string name;
  DecisionKind kind = DecisionKind::kBoundary;
  std::vector<std::string> options;  // [0] is the host's own
  uint32_t graph = 0;                // 1-based; 0: the whole step
  uint32_t sites = 1;
  bool reorders_sums = false;
  bool operator==(const DecisionSpec&) const = default;
};

struct WorkloadSpec {
  Digest fingerprint{};
  std::string name;
  std::vector<DecisionSpec> decisions;
  bool operator==(const WorkloadSpec&) const = default;
};

struct Choice {
  uint32_t decision = 0;
  uint32_t option = 0;  // never 0
  auto operator<=>(const Choice&) const = default;
};

// Sorted by decision, non-default options only; empty is the default plan.
using Plan = std::vector<Choice>;

enum class Equivalence {
  kNothingToCheck,
  kIdentical,
  kRounding,
  kRejectedDifferent,
  kRejectedBroken,
  kInconclusive,
};

struct ComparisonSummary {
  Equivalence equivalence = Equivalence::kInconclusive;
  uint64_t elements = 0;
  uint64_t mismatches = 0;
  double max_abs = 0;
  double max_rel = 0;
  uint64_t max_ulp = 0;
  uint64_t nan_default = 0, nan_variant = 0, inf_default = 0, inf_variant = 0;
  uint64_t prediction_disagreements = 0;
  double own_max_rel = 0;
  double allowed_max_rel = 0;
  std::string worst_tensor;
  Digest digest_default{}, digest_variant{};
  bool operator==(const ComparisonSummary&) const = default;
};

// What became of a candidate; mirrors blazed.v1.Verdict.
enum class Verdict {
  kProposed,
  kBuildFailed,
  kNotHonoured,
  kDuplicate,
  kRejectedDifferent,
  kRejectedBroken,
  kInconclusive,
  kRejectedMemory,
  kProven,
  kLost,
  kUndecided,
  kWon,
  kChampion,
  kDemoted,
};

enum class RaceKind { kSearch, kVerification, kReplication, kDrift, kSham, kDwell };
enum class RaceOutcome { kWon, kLost, kUndecided };
enum class SettlementKind { kInJob, kReplicated, kNoWinner };
enum class AdoptReason { kWonRace, kSettled, kStoredMatch, kReplicatedHere, kDemoted, kPinned };
enum class StandReason { kPaused, kPolicy, kDemoted, kDraining, kStoreFailed };
enum class Phase {
  kWaiting,
  kForecast,
  kSearch,
  kVerify,
  kReplicate,
  kSettled,
  kStanding,
  kServed
};

// Flags of a unit; mirrors blazed.v1.UnitFlag.
inline constexpr uint32_t kUnitCheckpoint = 1, kUnitEvaluation = 2, kUnitProfiler = 4,
                          kUnitRecompile = 8, kUnitClockEvent = 16, kUnitAborted = 32,
                          kUnitNeighbour = 64;
// Events of the machine; the others say that the step did other work.
inline constexpr uint32_t kMachineFlags = kUnitClockEvent | kUnitNeighbour;

struct UnitTime {
  uint64_t host_ns = 0;
  uint64_t device_ns = 0;
  uint32_t flags = 0;
  bool operator==(const UnitTime&) const = default;
};

// A pair as it counts: mean step times of its two units and which ran first. Host times judge;
// device times are kept beside them, 0 where the host has no device clock.
struct PairSample {
  double champion_ns = 0;
  double challenger_ns = 0;
  bool challenger_first = false;
  bool excluded = false;  // flagged by an event known independently of its time
  bool aborted = false;   // the challenger was cut short: counts as a loss
  double champion_device_ns = 0, challenger_device_ns = 0;
  SessionId session = 0;  // the job that gave it; 0: the session of its race
  uint32_t flags = 0;     // of either unit, without kUnitAborted
  bool operator==(const PairSample&) const = default;
};

struct Interval {
  double estimate = 0, low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};

// One finished race with its evidence. `estimate` and bounds are log(champion / challenger).
struct RaceRecord {
  RaceId id = 0;
  RaceKind kind = RaceKind::kSearch;
  SessionId session = 0;
  Plan champion, challenger;
  RaceOutcome outcome = RaceOutcome::kUndecided;
  std::string reason;
  double alpha = 0, beta = 0, delta0 = 0, delta1 = 0;
  double log_e_accept = 0, log_e_drop = 0;
  Interval effect;
  std::vector<PairSample> pairs;
  uint32_t warm_steps = 0, timed_steps = 1;  // of each of their units
  Moment started{}, ended{};
  bool operator==(const RaceRecord&) const = default;
};

struct PlanRecord {
  Plan plan;
  Digest signature{};  // zero until built
  Verdict verdict = Verdict::kProposed;
  std::string reason;
  uint64_t pairs = 0;
  uint64_t build_ns = 0;
  uint64_t peak_bytes = 0;
  bool has_comparison = false;
  ComparisonSummary comparison;
  bool operator==(const PlanRecord&) const = default;
};

struct ForecastRecord {
  Nanos window{};
  uint32_t builds = 0;
  Nanos regret{};
  double resolvable = 0;  // relative win
  std::string based_on;
  bool operator==(const ForecastRecord&) const = default;
};

// What a search cost, in wall time and counts.
struct CostRecord {
  Nanos window{}, regret{}, build{}, probe{}, drain{};
  uint32_t builds = 0, probes = 0, races = 0;
  // All pairs that ran are one or the other.
  uint64_t search_pairs = 0, replication_pairs = 0;
  // Of them: the plan in use against itself, and what a lease still ran behind its race's verdict.
  uint64_t noise_pairs = 0, late_pairs = 0;
  // Of a job: what exploring took of its budget, drift checks included, and what it was allowed by
  // then. Zero where costs are of more than one job.
  Nanos budget_spent{}, budget_allowed{};
  bool operator==(const CostRecord&) const = default;
};

struct SettlementRecord {
  uint64_t id = 0;  // given by the store; 0 before
  SettlementKind kind = SettlementKind::kNoWinner;
  Contract contract = Contract::kRounding;
  Plan plan;
  Digest champion_signature{}, default_signature{};
  double default_step_ns = 0, settled_step_ns = 0;
  Interval gain;  // saving of a step's time, 1 - exp(-log ratio); all zero for no_winner
  CostRecord cost;
  ForecastRecord forecast;
  double break_even_steps = 0;  // excess / (slow - fast); 0 where nothing is gained
  SessionId session = 0;
  bool carry = false;  // a step was seen to depend on the one before it: checks need a warm step
  bool operator==(const SettlementRecord&) const = default;
};

// What an earlier search took that ended with an answer: the forecast of one of like size goes by
// it.
struct EarlierSearch {
  uint64_t options = 0;  // of its workload, defaults left out
  uint64_t builds = 0;
  double steps = 0;  // of its default plan in its window, builds and probes left out
  bool operator==(const EarlierSearch&) const = default;
};

// Timer of the widening drift checks of a settlement.
struct DriftTimer {
  uint64_t settlement = 0;
  uint64_t gap_steps = 250;
  uint64_t steps_left = 250;
  bool operator==(const DriftTimer&) const = default;
};

}  // namespace blazed::planner
