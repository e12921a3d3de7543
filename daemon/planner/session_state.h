// One attached session as the planner sees it: its variants, its open directives, what it measured.
// Plain data; the flows of tuning_state.h act on it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/planner/budget.h"
#include "daemon/planner/drain_cost.h"
#include "daemon/planner/dwell.h"
#include "daemon/planner/eprocess.h"
#include "daemon/planner/event.h"
#include "daemon/planner/exclusion.h"
#include "daemon/planner/ledger.h"
#include "daemon/planner/race.h"
#include "daemon/planner/random.h"
#include "daemon/planner/samples.h"
#include "daemon/planner/scale.h"
#include "daemon/planner/step_watch.h"
#include "daemon/planner/types.h"
#include "daemon/planner/unit.h"

namespace blazed::planner {

// Pairs of the plan in use against itself: before a forecast, and to fill a scale of this process.
inline constexpr uint32_t kForecastPairs = 32, kRingPairs = 16;

enum class VariantStage { kBuilding, kBuilt, kProving, kProven };

struct Variant {
  VariantId id = 0;
  Plan plan;
  VariantStage stage = VariantStage::kBuilding;
  Digest signature{};
  uint64_t build_ns = 0, peak_bytes = 0;
  uint64_t last_used = 0;
  uint32_t probe_tries = 0;
};

enum class DirectiveKind { kBuild, kProbe, kLease, kAdopt };
enum class LeasePurpose { kNoise, kProposal, kRace, kBurst, kDwell, kReturn };

// A directive without its answer. Answers that match none of these change nothing.
struct Outstanding {
  DirectiveKind kind = DirectiveKind::kBuild;
  Moment issued{};              // and sent, or, where it was held, sent then
  bool held = false;            // it waits for a turn: the host was not asked yet
  VariantId variant = 0;        // build, adopt
  std::set<VariantId> waiting;  // probe
  LeasePurpose purpose = LeasePurpose::kNoise;
  LeaseTerms lease;
  Nanos deadline{};                      // of a lease
  RaceId race = 0;                       // of a lease for one
  RaceKind of_kind = RaceKind::kSearch;  // of that race
  VariantId champion = 0, challenger = 0;
  bool discard = false;
  double expected_ns = 0;  // what it is expected to take; of a probe: each variant

  // Of what is not answered yet.
  double ExpectedNs() const {
    const bool probe = kind == DirectiveKind::kProbe;
    return expected_ns * (probe ? static_cast<double>(waiting.size()) : 1.0);
  }
};

enum class Role {
  kObserving,  // never changed
  kWaiting,    // on the default until there is an answer or a turn to explore
  kExploring,
  kServing,  // adopting what is settled
  kSettled,  // runs the settlement
  kFrozen,   // nothing further is explored here
};

// Adoption of a stored settlement.
struct Serving {
  Plan plan;
  SettlementRecord settlement;
  bool compared = false;
  bool match = false;  // both signatures are those of the settlement
};

// A part in the race of another session.
struct Helping {
  RaceId race = 0;
  std::string note;      // what people see meanwhile
  bool rebuilt = false;  // for a race that settles
};

// Exploring waits for its budget.
struct BudgetPause {
  double needed_ns = 0;         // goes on once so much fits
  std::optional<Moment> until;  // nullopt: never
  Moment since{};
  Phase phase = Phase::kSearch;  // goes on there
};

// A drift check under way. Without pairs it is a probe of the plan in use and nothing else.
struct Burst {
  Plan plan;  // the one in use that is checked
  bool with_pairs = true;
  bool alarmed = false;  // the watch called for it, not the timer
  bool discard = false;  // a warm step before each timed one
  bool probed = false;
  std::vector<PairSample> pairs;
  std::vector<double> ratios, scales;
  Moment started{};
};

// A look at a demoted plan, against the default, which is in use.
struct Returning {
  Plan plan;
  ClippedBet ahead, behind;
  std::vector<PairSample> pairs;
  std::vector<double> ratios, scales;  // log(default / plan)
  Moment started{};
};

// Long dwells under way, between a won replication and its settlement.
struct Dwelling {
  Race proof;
  SettlementKind kind = SettlementKind::kInJob;
  DwellTest test;
  bool challenger_first = false;
  std::optional<Dwell> first;      // of the block under way
  std::vector<PairSample> blocks;  // one pair each
  Moment started{};
  uint32_t disturbed = 0;  // dwells that left nothing to read, in a row
};

struct Session {
  explicit Session(const SessionReady& ready_event, Moment at)
      : ready(ready_event),
        since(at),
        units(ready_event.queued, ready_event.default_step_ns),
        coin(ready_event.seed),
        draw(ready_event.seed ^ 0x5bd1e995a5a5a5a5ULL),
        next_variant(ready_event.first_variant),
        next_directive(ready_event.first_directive) {}

  SessionReady ready;
  Moment since;
  UnitRule units;
  DrainCost drain_cost;
  Random coin, draw;  // order of pairs; proposals
  VariantId next_variant;
  DirectiveId next_directive;

  Role role = Role::kWaiting;
  Phase phase = Phase::kWaiting;
  std::map<VariantId, Variant> variants;
  std::map<Plan, VariantId> by_plan;
  std::map<Plan, Verdict> failed;   // not to be tried again in this process
  std::map<Plan, uint32_t> faults;  // probes of it that failed to run in this process
  std::map<DirectiveId, Outstanding> open;
  VariantId in_use = kDefaultVariant;
  DirectiveId in_use_adopt = 0;         // the adopt that asked for it
  std::optional<uint64_t> in_use_from;  // the host's first step under it, once it said so

  ScaleRing plain, discard;  // by lease mode
  Exclusion exclusion;
  std::vector<double> noise_step_ns;
  uint32_t noise_pairs = 0;
  double step_ns = 0;
  uint32_t expired_in_row = 0;
  std::optional<uint64_t> first_step;
  uint64_t latest_step = 0;

  std::optional<Race> race;
  std::optional<Helping> helping;
  RaceId sat_out = 0;       // the race that it takes no part in any more
  bool silent = false;      // leases for others ran out: it is asked again when its own turn comes
  bool race_again = false;  // it ended because its units were too short: it is run afresh
  std::optional<Serving> serving;
  std::optional<Burst> burst;
  std::optional<Returning> returning;
  bool undecided = false;  // how its latest search ended
  std::optional<Dwelling> dwelling;
  bool rebuilt = false;
  VariantId rebuilding = 0;
  Digest before_rebuild{};
  std::optional<uint64_t> last_window_step;
  double goes_on_at = 0;      // steps of this job, then its search goes on; 0: never
  DriftTimer probe_timer;     // where checks are probes without pairs
  bool trials_ended = false;  // the host tries nothing more, checks included
  StepWatch watch;
  bool alarmed = false;                // the watch called; a check is due as soon as one may run
  std::vector<double> window_step_ns;  // of an observed session's service
  std::optional<ForecastRecord> forecast;  // of an observed session
  Ledger ledger;
  Budget budget;
  std::optional<BudgetPause> pause;
  Nanos paused{};              // in all, before this pause
  uint64_t drain_unit_ns = 0;  // last measured
  uint64_t turn = 0;           // which one was its latest to explore; 0: none so far
  uint64_t clock = 0;          // grows with each use of a variant

  // Of its search, which may wait for its budget.
  Phase SearchPhase() const { return pause ? pause->phase : phase; }
  // Work that a next step has to wait for; an adopt needs no waiting.
  bool Busy() const {
    for (const auto& [id, directive] : open) {
      if (directive.kind != DirectiveKind::kAdopt) return true;
    }
    return false;
  }
  bool Leased() const {
    for (const auto& [id, directive] : open) {
      if (directive.kind == DirectiveKind::kLease) return true;
    }
    return false;
  }
  // Pairs of the race that are under way.
  uint64_t Lent(RaceId id) const {
    uint64_t pairs = 0;
    for (const auto& [directive, d] : open) {
      const bool lent = d.kind == DirectiveKind::kLease && d.purpose == LeasePurpose::kRace;
      if (lent && d.race == id) pairs += d.lease.challenger_first.size();
    }
    return pairs;
  }
  Variant* Find(VariantId id) {
    const auto it = variants.find(id);
    return it == variants.end() ? nullptr : &it->second;
  }
  ScaleRing& ring(bool with_discard) { return with_discard ? discard : plain; }
};

}  // namespace blazed::planner
