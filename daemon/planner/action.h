// Everything a tuning can ask of the shell: directives for a session, rows for the store.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "daemon/planner/types.h"

namespace blazed::planner {

// ---- directives; each goes to one session and carries an id that makes a repeat harmless ----

struct BuildVariant {
  SessionId session = 0;
  DirectiveId build = 0;
  VariantId variant = 0;
  Plan plan;
  VariantId rebuild_of = 0;  // drop this one first; 0: none
  bool operator==(const BuildVariant&) const = default;
};

struct ProbeVariants {
  SessionId session = 0;
  DirectiveId probe = 0;
  std::vector<VariantId> variants;  // at most 16
  uint32_t batches = 3;
  bool operator==(const ProbeVariants&) const = default;
};

struct RunPairs {
  SessionId session = 0;
  DirectiveId lease = 0;
  VariantId champion = 0, challenger = 0;  // equal: the champion against itself
  std::vector<bool> challenger_first;      // one coin a pair
  uint32_t warm_steps = 0, timed_steps = 1;
  Nanos deadline{};
  uint64_t abort_step_ns = 0;
  bool operator==(const RunPairs&) const = default;
};

struct Adopt {
  SessionId session = 0;
  DirectiveId adopt = 0;
  VariantId variant = 0;
  Plan plan;
  AdoptReason reason = AdoptReason::kWonRace;
  uint64_t settlement = 0;                                     // 0: provisional
  SettlementKind settlement_kind = SettlementKind::kNoWinner;  // meaningful with a settlement
  bool settled = false;  // nothing further is explored in this session
  bool operator==(const Adopt&) const = default;
};

struct DropVariant {
  SessionId session = 0;
  VariantId variant = 0;
  bool operator==(const DropVariant&) const = default;
};

struct Stand {
  SessionId session = 0;
  StandReason reason = StandReason::kPaused;
  std::string detail;
  bool operator==(const Stand&) const = default;
};

struct ReportProgress {
  SessionId session = 0;
  Phase phase = Phase::kWaiting;
  uint32_t candidates = 0, dropped = 0;
  CostRecord cost;
  double gain = 0;
  uint32_t champion_choices = 0;
  ForecastRecord forecast;
  std::string note;
  bool operator==(const ReportProgress&) const = default;
};

// ---- rows; the shell writes them in order. Only Settle waits for the disk ----

struct KeepPlan {
  PlanRecord record;
  bool operator==(const KeepPlan&) const = default;
};

struct KeepRace {
  RaceRecord record;
  bool operator==(const KeepRace&) const = default;
};

struct KeepProbe {
  SessionId session = 0;
  Plan plan;
  ComparisonSummary summary;
  uint64_t probe_ns = 0;
  bool operator==(const KeepProbe&) const = default;
};

struct KeepForecast {
  SessionId session = 0;
  ForecastRecord record;
  bool operator==(const KeepForecast&) const = default;
};

// Make this durable, then send SettlementStored or SettlementFailed. No session may hear of it
// earlier.
struct Settle {
  uint64_t request = 0;
  SettlementRecord record;
  bool operator==(const Settle&) const = default;
};

struct KeepDriftTimer {
  DriftTimer timer;
  bool operator==(const KeepDriftTimer&) const = default;
};

// A settled plan failed in service; it stays in the store with its story.
struct DemoteSettlement {
  uint64_t settlement = 0;
  std::string reason;
  bool operator==(const DemoteSettlement&) const = default;
};

// How the tuning of a session ended or stands; the report's `outcome`.
enum class Outcome { kSettled, kNoWinner, kUndecided, kServed };
struct KeepOutcome {
  SessionId session = 0;
  Outcome outcome = Outcome::kUndecided;
  uint64_t settlement = 0;
  CostRecord cost;
  std::string reason;
  bool operator==(const KeepOutcome&) const = default;
};

// Take the thought of this session and request (Tuning::FindThought), think it off the control
// strand, and send ThoughtDone.
struct Think {
  SessionId session = 0;
  uint64_t request = 0;
  bool operator==(const Think&) const = default;
};

using Action = std::variant<BuildVariant, ProbeVariants, RunPairs, Adopt, DropVariant, Stand,
                            ReportProgress, KeepPlan, KeepRace, KeepProbe, KeepForecast, Settle,
                            KeepDriftTimer, DemoteSettlement, KeepOutcome, Think>;

}  // namespace blazed::planner
