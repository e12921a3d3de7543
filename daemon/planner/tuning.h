// One workload under one environment, contract and principal: the whole decision process as a state
// machine.
//
// Apply(event) -> actions. Pure: no clock, thread, log, random device, file or socket; the same
// memory and events give the same actions, byte for byte. Not thread-safe: the control strand owns
// every Tuning.
//
// The stages an event passes, in the order of this folder's README: confirm, verify, measure,
// select, settle, drift.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "daemon/planner/action.h"
#include "daemon/planner/event.h"
#include "daemon/planner/types.h"

namespace blazed::planner {

// What names the plans that are tried: the surrogate of search.h or a list of listing.h. Whatever
// does, races alone accept.
enum class SearchKind { kSurrogate, kExhaustive, kGreedy, kRandom };

// Knobs that change behaviour or cost; defaults are the ones of docs/measurement.md.
struct TuningConfig {
  double alpha = 0.05;  // error budget of the workload's life
  double beta = 0.10;   // drop level of search races
  double verify_beta = 0.01;
  double delta0 = 0.0025;  // a settled win is larger than this
  double delta1 = 0.0075;  // a race drops what is likely smaller than this
  uint32_t probe_batches = 3;
  uint32_t max_live_variants = 48;
  uint64_t max_pairs_per_race = 4000;
  double sham_share = 0.05;  // of search races that are preceded by one between equal plans
  Nanos max_window = std::chrono::minutes(30);  // beyond it the search ends `undecided`
  // Jobs on one device disturb each other: only one of them gives pairs, unless this is set.
  bool share_device = false;
  // What a job may pay for exploring: the allowance, and this share of its wall time. Twelve builds
  // of ten seconds, the rebuild and all probes come to two and a half minutes.
  double budget_share = 0.02;
  Nanos budget_allowance = std::chrono::minutes(3);
  uint32_t max_builds = 0;  // of a session; 0: as many as the search's profile allows
  SearchKind search = SearchKind::kSurrogate;
  bool operator==(const TuningConfig&) const = default;
};

// What the store knows when a tuning is opened.
struct TuningMemory {
  std::optional<SettlementRecord> settlement;  // in force, same principal, contract and environment
  std::optional<SettlementRecord>
      candidate;  // of another principal, else as this tuning: first candidate only
  std::optional<DriftTimer> drift;
  std::vector<PlanRecord> plans;  // tried earlier here
  uint64_t races = 0;   // highest id given to a race: ids and the error split go on above it
  uint64_t checks = 0;  // verifications and replications opened earlier: their split goes on
  std::vector<uint8_t> surrogate;       // opaque state of an earlier search, empty: none
  std::vector<EarlierSearch> searches;  // of any workload in this environment under this contract
  bool operator==(const TuningMemory&) const = default;
};

struct Thought;

class Tuning {
 public:
  Tuning(WorkloadSpec workload, Contract contract, TuningConfig config, TuningMemory memory);
  ~Tuning();
  Tuning(Tuning&&) noexcept;
  Tuning& operator=(Tuning&&) noexcept;

  std::vector<Action> Apply(const Event& event);

  // Opaque search state for TuningMemory::surrogate of a later tuning.
  std::vector<uint8_t> SaveSurrogate() const;

  Phase phase(SessionId session) const;

  // Whether the session's answer to this directive is still waited for. One that is not open any
  // more need not be sent, or not again.
  bool IsOpen(SessionId session, DirectiveId directive) const;

  // The thought that a Think asked for, as a copy that any thread may think (thought.h). Null where
  // nobody waits for it any more.
  std::shared_ptr<const Thought> FindThought(SessionId session, uint64_t request) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace blazed::planner
