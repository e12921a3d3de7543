#include "daemon/session/tuning_log.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/planner/counted.h"
#include "daemon/planner/interval.h"
#include "storage/plan_text.h"

namespace blazed::session {
namespace {

using planner::WorkloadSpec;

constexpr char kOpeningKind[] = "opening";
constexpr char kGapKind[] = "gap";

struct Notice {
  planner::SessionId session = 0;
  std::string kind;
  std::string sentence;
};

std::string Percent(double part) { return absl::StrFormat("%+.2f %%", 100 * part); }

// The effect is log(champion / challenger); what people read is the saving of a step's time. Beyond
// a factor of seven no percentage says more.
std::string SizeText(double log_ratio) {
  if (log_ratio >= planner::kOpenEnd) return "more than seven times faster";
  if (log_ratio <= -planner::kOpenEnd) return "more than seven times slower";
  return absl::StrCat(Percent(-std::expm1(-log_ratio)), " of a step");
}

std::optional<Notice> Of(const WorkloadSpec& workload, const planner::KeepRace& race) {
  const planner::RaceRecord& record = race.record;
  const char* kind = record.outcome == planner::RaceOutcome::kWon    ? "race_won"
                     : record.outcome == planner::RaceOutcome::kLost ? "race_lost"
                                                                     : "race_undecided";
  return Notice{record.session, kind,
                absl::StrCat(storage::PlanForPeople(workload, record.challenger), " against ",
                             storage::PlanForPeople(workload, record.champion), ": ",
                             SizeText(record.effect.estimate), " over ",
                             planner::Counted(record.pairs.size(), "pair"),
                             record.reason.empty() ? "" : ", ", record.reason)};
}

std::optional<Notice> Of(const WorkloadSpec& workload, const planner::KeepPlan& plan) {
  switch (plan.record.verdict) {
    case planner::Verdict::kBuildFailed:
    case planner::Verdict::kNotHonoured:
    case planner::Verdict::kDuplicate:
    case planner::Verdict::kRejectedDifferent:
    case planner::Verdict::kRejectedBroken:
    case planner::Verdict::kInconclusive:
    case planner::Verdict::kRejectedMemory:
      return Notice{0, "plan_ruled_out",
                    absl::StrCat(storage::PlanForPeople(workload, plan.record.plan), ": ",
                                 plan.record.reason)};
    default:
      return std::nullopt;
  }
}

std::optional<Notice> Of(const WorkloadSpec& workload, const planner::Adopt& adopt) {
  const char* why = "";
  switch (adopt.reason) {
    case planner::AdoptReason::kWonRace:
      why = adopt.plan.empty() ? "no other plan won" : "it won its race";
      break;
    case planner::AdoptReason::kSettled:
      why = "the search settled on it";
      break;
    case planner::AdoptReason::kStoredMatch:
      why = "it was settled earlier and both signatures match";
      break;
    case planner::AdoptReason::kReplicatedHere:
      why = "it was settled earlier and won again in this process";
      break;
    case planner::AdoptReason::kDemoted:
      why = "the plan before it failed";
      break;
    case planner::AdoptReason::kPinned:
      why = "an operator chose it";
      break;
  }
  return Notice{adopt.session, "champion",
                absl::StrCat(storage::PlanForPeople(workload, adopt.plan), ": ", why)};
}

std::optional<Notice> Of(const WorkloadSpec& workload, const planner::Settle& settle) {
  const planner::SettlementRecord& record = settle.record;
  if (record.kind == planner::SettlementKind::kNoWinner) {
    return Notice{record.session, "settled", "no winner: the default plan stays"};
  }
  return Notice{record.session, "settled",
                absl::StrCat(storage::PlanForPeople(workload, record.plan), " saves ",
                             Percent(record.gain.estimate), " of a step")};
}

std::optional<Notice> Of(const WorkloadSpec&, const planner::KeepForecast& forecast) {
  const planner::ForecastRecord& record = forecast.record;
  return Notice{forecast.session, "forecast_made",
                absl::StrFormat("%.1f s and %s, wins above %.2f %% can be told, from %s",
                                std::chrono::duration<double>(record.window).count(),
                                planner::Counted(record.builds, "build"), 100 * record.resolvable,
                                record.based_on)};
}

std::optional<Notice> Of(const WorkloadSpec&, const planner::DemoteSettlement& demote) {
  return Notice{0, "stood_down",
                absl::StrCat("settlement ", demote.settlement, ": ", demote.reason)};
}

std::optional<Notice> Of(const WorkloadSpec&, const planner::Stand& stand) {
  return Notice{stand.session, "stood_down", stand.detail};
}

std::optional<Notice> Of(const WorkloadSpec&, const planner::KeepOutcome& outcome) {
  return Notice{outcome.session, "search_ended", outcome.reason};
}

template <typename Other>
std::optional<Notice> Of(const WorkloadSpec&, const Other&) {
  return std::nullopt;
}

}  // namespace

planner::TuningMemory ToPlannerMemory(storage::Store::Memory memory) {
  planner::TuningMemory known;
  known.settlement = std::move(memory.settlement);
  known.candidate = std::move(memory.candidate);
  known.drift = std::move(memory.drift);
  known.plans = std::move(memory.plans);
  known.races = memory.races;
  known.checks = memory.checks;
  known.surrogate = std::move(memory.surrogate);
  known.searches = std::move(memory.searches);
  return known;
}

storage::EventRow OpeningRow(storage::TuningId tuning, int64_t wall_ns,
                             const planner::Opening& opening) {
  return {0, tuning, 0, wall_ns, kOpeningKind, planner::EncodeOpening(opening)};
}

storage::EventRow GapRow(storage::TuningId tuning, int64_t wall_ns, const planner::Gap& gap) {
  return {0, tuning, 0, wall_ns, kGapKind, planner::EncodeGap(gap)};
}

bool IsLogKind(const std::string& kind) {
  return kind == kOpeningKind || kind == kGapKind || planner::IsEventKind(kind);
}

absl::StatusOr<std::vector<std::string>> ReadTuningLogs(storage::Reader& reader,
                                                        storage::TuningId tuning) {
  std::vector<std::string> logs;
  const auto add = [&logs](const std::string& line) {
    if (!logs.empty()) absl::StrAppend(&logs.back(), line, "\n");
  };
  storage::EventPage page;
  page.limit = 1000;
  for (;;) {
    absl::StatusOr<std::vector<storage::EventRow>> rows = reader.Events(page);
    if (!rows.ok()) return rows.status();
    for (const storage::EventRow& row : *rows) {
      // Ids are dense, and a damaged row is left out: whose it was cannot be known.
      const auto skipped = static_cast<uint64_t>(row.id - page.after - 1);
      if (page.after > 0 && skipped > 0) {
        add(planner::EncodeGap({skipped, "damaged rows were left out"}));
      }
      page.after = row.id;
      if (row.tuning != tuning || !IsLogKind(row.kind)) continue;
      if (row.kind == kOpeningKind) logs.emplace_back();
      add(row.payload);
    }
    if (rows->size() < page.limit) return logs;
  }
}

storage::EventRow EventRowOf(storage::TuningId tuning, planner::SessionId session, int64_t wall_ns,
                             const planner::Event& event) {
  return {0, tuning, session, wall_ns, planner::EventKind(event), planner::EncodeEvent(event)};
}

std::optional<storage::EventRow> NoticeOf(storage::TuningId tuning, int64_t wall_ns,
                                          const planner::WorkloadSpec& workload,
                                          const planner::Action& action) {
  std::optional<Notice> notice = std::visit([&](const auto& a) { return Of(workload, a); }, action);
  if (!notice) return std::nullopt;
  return storage::EventRow{
      0, tuning, notice->session, wall_ns, std::move(notice->kind), std::move(notice->sentence)};
}

}  // namespace blazed::session
