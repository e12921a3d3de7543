#include "storage/memory/memory_state.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "storage/answers.h"
#include "storage/digest_text.h"
#include "storage/earlier_search.h"
#include "storage/pair_codec.h"
#include "storage/workload_match.h"

namespace blazed::storage {
namespace {

template <typename Rows>
int64_t NextId(const Rows& rows) {
  return rows.empty() ? 1 : rows.rbegin()->first + 1;
}

// The id of the row that matches, else the next free one.
template <typename Rows, typename Matches>
int64_t IdWhere(const Rows& rows, Matches matches) {
  for (const auto& [id, row] : rows) {
    if (matches(row)) return id;
  }
  return NextId(rows);
}

}  // namespace

absl::Status MemoryState::CheckTuning(TuningId tuning) const {
  return tunings_.contains(tuning) ? absl::OkStatus() : ParentNotStored();
}

absl::Status MemoryState::PutEnvironment(const EnvironmentRow& row) {
  environments_.emplace(row.fingerprint, row);
  return absl::OkStatus();
}

absl::Status MemoryState::PutGraph(const GraphRow& row, WallNs now_ns) {
  const int64_t id = IdWhere(graphs_, [&](const Reader::Graph& graph) {
    return graph.row.fingerprint == row.fingerprint;
  });
  graphs_.emplace(id, Reader::Graph{id, row, now_ns});
  return absl::OkStatus();
}

absl::Status MemoryState::PutWorkload(const WorkloadRow& row, WallNs now_ns) {
  for (const Digest& graph : row.graphs) {
    const bool stored = std::any_of(graphs_.begin(), graphs_.end(), [&](const auto& item) {
      return item.second.row.fingerprint == graph;
    });
    if (!stored) return ParentNotStored();
  }
  const int64_t id = IdWhere(workloads_, [&](const Reader::Workload& workload) {
    return workload.row.spec.fingerprint == row.spec.fingerprint;
  });
  const auto known = workloads_.find(id);
  if (known == workloads_.end()) {
    workloads_.emplace(id, Reader::Workload{id, row, now_ns, now_ns, std::nullopt});
    return absl::OkStatus();
  }
  if (absl::Status status = CheckSameWorkload(known->second.row, row); !status.ok()) return status;
  known->second.last_seen_ns = now_ns;
  return absl::OkStatus();
}

absl::StatusOr<TuningId> MemoryState::PutTuning(const TuningKey& key) {
  const auto found = tuning_ids_.find(key);
  if (found != tuning_ids_.end()) return found->second;
  const bool workload_stored = std::any_of(
      workloads_.begin(), workloads_.end(),
      [&](const auto& item) { return item.second.row.spec.fingerprint == key.workload; });
  if (!workload_stored || !environments_.contains(key.environment)) return ParentNotStored();
  const TuningId id = NextId(tunings_);
  tuning_ids_.emplace(key, id);
  tunings_.emplace(id, key);
  return id;
}

uint64_t MemoryState::CountTunings(uint32_t uid, TuningId up_to) const {
  return static_cast<uint64_t>(
      std::count_if(tunings_.begin(), tunings_.upper_bound(up_to),
                    [uid](const auto& tuning) { return tuning.second.uid == uid; }));
}

absl::Status MemoryState::PutSession(const SessionRow& row) {
  if (row.tuning != 0 && !tunings_.contains(row.tuning)) return ParentNotStored();
  sessions_[row.id] = row;
  return absl::OkStatus();
}

absl::Status MemoryState::PutPlan(TuningId tuning, const planner::PlanRecord& record,
                                  WallNs now_ns) {
  if (absl::Status status = CheckTuning(tuning); !status.ok()) return status;
  const int64_t id = IdWhere(plans_, [&](const StoredPlan& plan) {
    return plan.tuning == tuning && plan.record.plan == record.plan;
  });
  plans_[id] = StoredPlan{id, tuning, record, now_ns};
  // Without a comparison there are no numbers of one.
  if (!record.has_comparison) plans_[id].record.comparison = {};
  return absl::OkStatus();
}

absl::Status MemoryState::PutRace(TuningId tuning, const planner::RaceRecord& record,
                                  WallNs now_ns) {
  if (absl::Status status = CheckTuning(tuning); !status.ok()) return status;
  const int64_t id = IdWhere(races_, [&](const StoredRace& race) {
    return race.tuning == tuning && race.record.id == record.id;
  });
  const ArmQuantiles quantiles = QuantilesOf(record.pairs);
  StoredRace race{id,
                  tuning,
                  record,
                  record.pairs.size(),
                  quantiles.champion,
                  quantiles.challenger,
                  now_ns - (record.ended - record.started).count(),
                  now_ns};
  race.record.pairs.clear();
  races_[id] = std::move(race);
  pairs_[id] = record.pairs;
  return absl::OkStatus();
}

absl::Status MemoryState::PutForecast(TuningId tuning, const planner::KeepForecast& forecast) {
  if (absl::Status status = CheckTuning(tuning); !status.ok()) return status;
  forecasts_[forecast.session] = forecast.record;
  return absl::OkStatus();
}

absl::Status MemoryState::PutOutcome(TuningId tuning, const planner::KeepOutcome& outcome,
                                     WallNs now_ns) {
  if (absl::Status status = CheckTuning(tuning); !status.ok()) return status;
  outcomes_[outcome.session] = StoredOutcome{tuning, outcome, now_ns};
  return absl::OkStatus();
}

absl::Status MemoryState::PutSurrogate(TuningId tuning, const std::vector<uint8_t>& state) {
  if (absl::Status status = CheckTuning(tuning); !status.ok()) return status;
  surrogates_[tuning] = state;
  return absl::OkStatus();
}

absl::Status MemoryState::PutDriftTimer(TuningId tuning, const planner::DriftTimer& timer) {
  if (absl::Status status = CheckTuning(tuning); !status.ok()) return status;
  if (!settlements_.contains(static_cast<int64_t>(timer.settlement))) return ParentNotStored();
  drift_timers_[timer.settlement] = timer;
  return absl::OkStatus();
}

absl::Status MemoryState::PutKernels(TuningId tuning, const PlanKernels& kernels, WallNs now_ns) {
  if (absl::Status status = CheckTuning(tuning); !status.ok()) return status;
  const int64_t id = IdWhere(kernels_, [&](const StoredKernels& stored) {
    return stored.tuning == tuning && stored.record.plan == kernels.plan;
  });
  kernels_[id] = StoredKernels{id, tuning, kernels, now_ns};
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MemoryState::PutEvent(const EventRow& event) {
  if (event.tuning != 0 && !tunings_.contains(event.tuning)) return ParentNotStored();
  EventRow& row = events_[++last_event_];
  row = event;
  row.id = last_event_;
  return last_event_;
}

const StoredSettlement* MemoryState::InForce(TuningId tuning) const {
  for (const auto& [id, settlement] : settlements_) {
    if (settlement.tuning == tuning && settlement.state == SettlementState::kInForce) {
      return &settlement;
    }
  }
  return nullptr;
}

absl::StatusOr<uint64_t> MemoryState::PutSettlement(TuningId tuning,
                                                    const planner::SettlementRecord& record,
                                                    WallNs now_ns) {
  if (absl::Status status = CheckTuning(tuning); !status.ok()) return status;
  const int64_t id = NextId(settlements_);
  for (auto& [other, settlement] : settlements_) {
    if (settlement.tuning != tuning || settlement.state != SettlementState::kInForce) continue;
    settlement.state = SettlementState::kSuperseded;
    settlement.state_reason = absl::StrCat("superseded by settlement ", id);
  }
  StoredSettlement& stored = settlements_[id];
  stored.tuning = tuning;
  stored.record = record;
  stored.record.id = static_cast<uint64_t>(id);
  stored.settled_ns = now_ns;
  return stored.record.id;
}

absl::Status MemoryState::Demote(uint64_t settlement, const std::string& reason) {
  const auto found = settlements_.find(static_cast<int64_t>(settlement));
  if (found == settlements_.end()) {
    return SettlementNotStored(settlement);
  }
  found->second.state = SettlementState::kDemoted;
  found->second.state_reason = reason;
  return absl::OkStatus();
}

std::vector<planner::EarlierSearch> MemoryState::EarlierSearches(const TuningKey& key) const {
  std::vector<planner::EarlierSearch> searches;
  for (auto it = settlements_.rbegin(); it != settlements_.rend(); ++it) {
    const StoredSettlement& settlement = it->second;
    const TuningKey& other = tunings_.at(settlement.tuning);
    if (other.environment != key.environment || other.contract != key.contract ||
        other.uid != key.uid || searches.size() == kEarlierSearches) {
      continue;
    }
    uint64_t options = 0;
    for (const auto& [id, workload] : workloads_) {
      if (workload.row.spec.fingerprint != other.workload) continue;
      for (const auto& decision : workload.row.spec.decisions) {
        options += decision.options.size() - 1;
      }
    }
    const auto search = EarlierSearchOf(settlement.record, options);
    if (search) searches.push_back(*search);
  }
  return searches;
}

absl::StatusOr<Store::Memory> MemoryState::LoadMemory(TuningId tuning) const {
  const auto key = tunings_.find(tuning);
  if (key == tunings_.end()) {
    return TuningNotStored(tuning);
  }
  Store::Memory memory;
  memory.workload = key->second.workload;
  for (const auto& [id, settlement] : settlements_) {
    if (settlement.state != SettlementState::kInForce) continue;
    const TuningKey& other = tunings_.at(settlement.tuning);
    if (settlement.tuning == tuning) {
      memory.settlement = settlement.record;
    } else if (other.workload == key->second.workload &&
               other.environment == key->second.environment &&
               other.contract == key->second.contract &&
               settlement.record.kind != planner::SettlementKind::kNoWinner) {
      memory.candidate = settlement.record;  // the newest wins: ids grow
    }
  }
  if (memory.settlement.has_value()) {
    memory.drift = Drift(static_cast<int64_t>(memory.settlement->id));
  }
  for (const auto& [id, plan] : plans_) {
    if (plan.tuning == tuning) memory.plans.push_back(plan.record);
  }
  uint64_t rows = 0;
  for (const auto& [id, race] : races_) {
    if (race.tuning != tuning) continue;
    rows += race.record.id > 0 ? 1 : 0;
    memory.races = std::max(memory.races, race.record.id);
    const bool check = race.record.kind == planner::RaceKind::kVerification ||
                       race.record.kind == planner::RaceKind::kReplication;
    memory.checks += check ? 1 : 0;
  }
  memory.checks += memory.races - rows;
  const auto surrogate = surrogates_.find(tuning);
  if (surrogate != surrogates_.end()) memory.surrogate = surrogate->second;
  for (const auto& [id, kernels] : kernels_) {
    if (kernels.tuning == tuning) memory.with_kernels.push_back(kernels.record.plan);
  }
  memory.searches = EarlierSearches(key->second);
  return memory;
}

uint64_t MemoryState::Prune(uint64_t events_kept, uint64_t kernels_kept, uint64_t pair_sets_kept,
                            uint32_t batch) {
  uint64_t removed = 0;
  const auto remove_oldest = [&removed, batch](auto& rows, uint64_t kept) {
    for (; rows.size() > kept && removed < batch; ++removed) rows.erase(rows.begin());
  };
  remove_oldest(events_, events_kept);
  remove_oldest(kernels_, kernels_kept);
  std::vector<int64_t> removable;
  for (const auto& [id, pairs] : pairs_) {
    const StoredRace& race = races_.at(id);
    const bool recurs = race.record.kind == planner::RaceKind::kDrift ||
                        race.record.kind == planner::RaceKind::kSham ||
                        race.record.kind == planner::RaceKind::kDwell;
    const bool settled = std::any_of(
        settlements_.begin(), settlements_.end(),
        [&](const auto& settlement) { return settlement.second.tuning == race.tuning; });
    if (recurs || !settled) removable.push_back(id);
  }
  if (removable.size() <= pair_sets_kept) return removed;
  removable.resize(std::min<size_t>(removable.size() - pair_sets_kept, batch));
  for (const int64_t id : removable) pairs_.erase(id);
  return removed + removable.size();
}

}  // namespace blazed::storage
