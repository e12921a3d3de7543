// MemoryState's answers to readers.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "storage/answers.h"
#include "storage/digest_text.h"
#include "storage/memory/memory_state.h"

namespace blazed::storage {
namespace {

// Newest first, below the page's row, those that `wanted` takes.
template <typename Rows, typename Wanted>
std::vector<typename Rows::mapped_type> Newest(const Rows& rows, const Page& page, Wanted wanted) {
  std::vector<typename Rows::mapped_type> found;
  for (auto row = rows.rbegin(); row != rows.rend() && found.size() < LimitOf(page.limit); ++row) {
    if (page.before > 0 && row->first >= page.before) continue;
    if (wanted(row->second)) found.push_back(row->second);
  }
  return found;
}

}  // namespace

bool MemoryState::Seen(const Owner& owner, const Digest& workload) const {
  return std::any_of(tunings_.begin(), tunings_.end(), [&](const auto& item) {
    return owner.Owns(item.second) && item.second.workload == workload;
  });
}

template <typename Rows>
absl::StatusOr<std::vector<typename Rows::mapped_type>> MemoryState::Evidence(
    const Rows& rows, const Page& page) const {
  absl::StatusOr<DigestRange> range = DigestsByPrefix(page.workload_hex);
  if (!range.ok()) return range.status();
  return Newest(rows, page, [&](const typename Rows::mapped_type& row) {
    const TuningKey& key = tunings_.at(row.tuning);
    return range->Contains(key.workload) && (!page.owner.has_value() || page.owner->Owns(key));
  });
}

absl::StatusOr<std::vector<Reader::Workload>> MemoryState::Workloads(const Page& page) const {
  absl::StatusOr<DigestRange> range = DigestsByPrefix(page.workload_hex);
  if (!range.ok()) return range.status();
  std::vector<Reader::Workload> found =
      Newest(workloads_, page, [&](const Reader::Workload& workload) {
        const Digest& fingerprint = workload.row.spec.fingerprint;
        return range->Contains(fingerprint) &&
               (!page.owner.has_value() || Seen(*page.owner, fingerprint));
      });
  for (Reader::Workload& workload : found) {
    for (const auto& [id, settlement] : settlements_) {
      const TuningKey& key = tunings_.at(settlement.tuning);
      if (settlement.state == SettlementState::kInForce &&
          key.workload == workload.row.spec.fingerprint &&
          (!page.owner.has_value() || page.owner->Owns(key))) {
        workload.settlement = settlement;
      }
    }
  }
  return found;
}

absl::StatusOr<std::vector<Reader::Graph>> MemoryState::Graphs(const Page& page) const {
  absl::StatusOr<DigestRange> range = DigestsByPrefix(page.workload_hex);
  if (!range.ok()) return range.status();
  const auto used = [&](const Digest& graph, auto wanted) {
    return std::any_of(workloads_.begin(), workloads_.end(), [&](const auto& item) {
      const WorkloadRow& row = item.second.row;
      return wanted(row.spec.fingerprint) &&
             std::find(row.graphs.begin(), row.graphs.end(), graph) != row.graphs.end();
    });
  };
  return Newest(graphs_, page, [&](const Reader::Graph& graph) {
    const bool of_user = !page.owner.has_value() ||
                         used(graph.row.fingerprint,
                              [&](const Digest& workload) { return Seen(*page.owner, workload); });
    const bool of_workload =
        page.workload_hex.empty() || used(graph.row.fingerprint, [&](const Digest& workload) {
          return range->Contains(workload);
        });
    return of_user && of_workload;
  });
}

absl::StatusOr<std::vector<StoredPlan>> MemoryState::Plans(const Page& page) const {
  return Evidence(plans_, page);
}

absl::StatusOr<std::vector<StoredRace>> MemoryState::Races(const Page& page) const {
  return Evidence(races_, page);
}

absl::StatusOr<std::vector<StoredSettlement>> MemoryState::Settlements(const Page& page) const {
  return Evidence(settlements_, page);
}

absl::StatusOr<std::vector<EventRow>> MemoryState::Events(const EventPage& page) const {
  absl::StatusOr<DigestRange> range = DigestsByPrefix(page.workload_hex);
  if (!range.ok()) return range.status();
  const bool all = page.workload_hex.empty() && !page.owner.has_value();
  std::vector<EventRow> found;
  for (auto event = events_.upper_bound(page.after);
       event != events_.end() && found.size() < LimitOf(page.limit); ++event) {
    const auto key = tunings_.find(event->second.tuning);
    const bool wanted = key != tunings_.end() && range->Contains(key->second.workload) &&
                        (!page.owner.has_value() || page.owner->Owns(key->second));
    if (all || wanted) found.push_back(event->second);
  }
  return found;
}

absl::StatusOr<std::vector<planner::PairSample>> MemoryState::LoadPairs(int64_t race_row) const {
  const auto found = pairs_.find(race_row);
  if (found == pairs_.end()) return NotStored(absl::StrCat("raw pairs of race ", race_row));
  return found->second;
}

absl::StatusOr<Reader::Tuning> MemoryState::TuningById(TuningId id) const {
  const auto found = tunings_.find(id);
  if (found == tunings_.end()) return NotStored(absl::StrCat("tuning ", id));
  return Reader::Tuning{id, found->second};
}

int64_t MemoryState::PlanId(TuningId tuning, const planner::Plan& plan) const {
  for (const auto& [id, stored] : plans_) {
    if (stored.tuning == tuning && stored.record.plan == plan) return id;
  }
  return 0;
}

absl::StatusOr<WorkloadRow> MemoryState::WorkloadByPrefix(const std::string& hex_prefix) const {
  absl::StatusOr<DigestRange> range = DigestsByPrefix(hex_prefix);
  if (!range.ok()) return range.status();
  const WorkloadRow* found = nullptr;
  for (const auto& [id, workload] : workloads_) {
    if (!range->Contains(workload.row.spec.fingerprint)) continue;
    if (found != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("several workloads begin with '", hex_prefix, "': give more digits"));
    }
    found = &workload.row;
  }
  if (found == nullptr) return NotStored(absl::StrCat("workload '", hex_prefix, "'"));
  return *found;
}

absl::StatusOr<EnvironmentRow> MemoryState::Environment(const Digest& fingerprint) const {
  const auto found = environments_.find(fingerprint);
  if (found == environments_.end()) {
    return NotStored(absl::StrCat("environment ", DigestToHex(fingerprint)));
  }
  return found->second;
}

std::optional<planner::DriftTimer> MemoryState::Drift(int64_t settlement) const {
  const auto found = drift_timers_.find(static_cast<uint64_t>(settlement));
  if (found == drift_timers_.end()) return std::nullopt;
  return found->second;
}

std::optional<StoredKernels> MemoryState::Kernels(TuningId tuning,
                                                  const planner::Plan& plan) const {
  for (const auto& [id, kernels] : kernels_) {
    if (kernels.tuning == tuning && kernels.record.plan == plan) return kernels;
  }
  return std::nullopt;
}

std::optional<SessionRow> MemoryState::Session(planner::SessionId id) const {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<Reader::SessionStory> MemoryState::Story(planner::SessionId id) const {
  const std::optional<SessionRow> session = Session(id);
  if (!session.has_value()) return NotStored(absl::StrCat("session ", id));
  Reader::SessionStory story;
  story.session = *session;
  if (session->tuning == 0) return story;
  story.key = tunings_.at(session->tuning);
  for (const auto& [row, workload] : workloads_) {
    if (workload.row.spec.fingerprint == story.key.workload) story.workload = workload.row;
  }
  for (const Digest& fingerprint : story.workload.graphs) {
    for (const auto& [row, graph] : graphs_) {
      if (graph.row.fingerprint == fingerprint) story.graphs.push_back(graph.row);
    }
  }
  story.environment = environments_.at(story.key.environment);
  const auto forecast = forecasts_.find(id);
  if (forecast != forecasts_.end()) story.forecast = forecast->second;
  const auto outcome = outcomes_.find(id);
  if (outcome != outcomes_.end()) story.outcome = outcome->second;
  if (story.outcome.has_value()) {
    const auto found = settlements_.find(static_cast<int64_t>(story.outcome->record.settlement));
    if (found != settlements_.end()) story.settlement = found->second;
  } else if (const StoredSettlement* settlement = InForce(session->tuning)) {
    story.settlement = *settlement;
  }
  for (const auto& [row, plan] : plans_) {
    if (plan.tuning == session->tuning) story.plans.push_back(plan);
  }
  for (const auto& [row, race] : races_) {
    if (race.tuning == session->tuning) story.races.push_back(race);
  }
  return story;
}

}  // namespace blazed::storage
