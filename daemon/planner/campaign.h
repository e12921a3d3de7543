// The search for one settlement, handed from session to session: whoever explores next goes on from
// here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/planner/conclusion.h"
#include "daemon/planner/ledger.h"
#include "daemon/planner/race.h"
#include "daemon/planner/thought.h"
#include "daemon/planner/types.h"

namespace blazed::planner {

enum class Stage {
  kNoise,      // the default against itself; ends with the forecast
  kCandidate,  // a plan from elsewhere or from a process that left: replicated before any search
  kScout,      // cheap builds of single changes: which of them show in the signature
  kSearch,
  kVerify,     // the first accepted plan against the default, in discard mode
  kRebuild,    // the final champion torn down, built again, probed again
  kReplicate,  // against the default, fresh pairs, discard mode
  kDwell,      // the two plans alone for many steps each, in turn
  kSettling,   // waiting for the disk
};

// A thought that is out.
struct Thinking {
  SessionId session = 0;
  uint64_t request = 0;
  Moment asked{};
  Question question;
};

struct Campaign {
  Stage stage = Stage::kNoise;
  Plan champion;                      // empty: the default
  std::string champion_process;       // where it was accepted
  std::vector<Plan> earlier;          // champions before it, the latest last
  std::optional<Plan> candidate;      // to be replicated before any search
  bool candidate_unfinished = false;  // its search had not ended: after replication it goes on
  bool goes_on = false;               // from what is settled, which stays in force meanwhile
  bool verified = false;
  bool discard_mode = false;  // carry-over was seen
  bool measured = false;      // a distinct, proven plan has pairs under this default
  bool broken = false;        // a plan could not be built or proven
  bool afresh = false;        // pairs of earlier searches were under another default
  std::optional<Race> proof;  // a won replication of `champion`
  uint32_t failed_replications = 0;
  bool dwell_failed = false;  // a replicated win was not there in long dwells

  std::vector<Plan> scouts;      // single changes still to build
  uint32_t rejected_in_row = 0;  // probes, since one passed
  std::vector<Plan> suspects;    // single changes of a plan that failed
  // By toggle: probes in a row of plans with it that found wrong numbers.
  std::map<size_t, uint32_t> rejected_with;
  std::vector<Plan> batch;  // proposals of this round
  size_t batch_next = 0;
  std::optional<Thinking> thinking;
  std::optional<Conclusion> conclusion;  // of the last thought, until its plans are tried
  std::vector<Plan> looks;               // had their race before `no_winner`
  bool looking = false;                  // the contender is one of them
  bool rest_named = false;               // plans that the search would have ended without measuring
  bool waits = false;                    // no build pays yet
  bool reconsider = false;               // and nothing came of the conclusion that stands
  std::optional<Plan> contender;
  std::optional<Plan> sham;  // runs the same as the champion; raced as a control

  bool has_forecast = false;
  ForecastRecord forecast;
  double default_step_ns = 0;
  double gain = 0;  // of the champion against the default, as last measured
  Ledger ledger;

  std::optional<SettlementRecord> pending;  // asked of the store
  uint64_t pending_request = 0;
  // The plan failed while the store was writing: demoted as soon as the store has answered.
  std::optional<std::string> failed_meanwhile;
  Plan failed_plan;
  Verdict failed_verdict = Verdict::kDemoted;
};

}  // namespace blazed::planner
