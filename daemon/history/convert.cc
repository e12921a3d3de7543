#include "daemon/history/convert.h"

#include <utility>

#include "daemon/history/kernels.h"
#include "daemon/history/words.h"
#include "storage/digest_text.h"
#include "storage/plan_text.h"

namespace blazed::history {
namespace {

constexpr size_t kDetailBytes =
    512;  // a notice is a sentence; an event's encoding is cut to its beginning

std::string RawDigest(const planner::Digest& digest) {
  return std::string(reinterpret_cast<const char*>(digest.data()), digest.size());
}

std::string HexUnlessZero(const planner::Digest& digest) {
  return digest == planner::Digest{} ? "" : storage::DigestToHex(digest);
}

// Strings of a message have to be UTF-8; a payload is whatever its writer made it.
std::string Printable(const std::string& bytes) {
  std::string text = bytes.substr(0, kDetailBytes);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  return text;
}

void FillComparison(const planner::ComparisonSummary& summary, v1::ComparisonSummary* out) {
  // The proto's enumerators follow the planner's, one further because of UNSPECIFIED.
  out->set_equivalence(static_cast<v1::Equivalence>(static_cast<int>(summary.equivalence) + 1));
  out->set_elements(summary.elements);
  out->set_mismatches(summary.mismatches);
  out->set_max_abs(summary.max_abs);
  out->set_max_rel(summary.max_rel);
  out->set_max_ulp(summary.max_ulp);
  out->set_nan_default(summary.nan_default);
  out->set_nan_variant(summary.nan_variant);
  out->set_inf_default(summary.inf_default);
  out->set_inf_variant(summary.inf_variant);
  out->set_prediction_disagreements(summary.prediction_disagreements);
  out->set_own_max_rel(summary.own_max_rel);
  out->set_allowed_max_rel(summary.allowed_max_rel);
  out->set_worst_tensor(summary.worst_tensor);
  out->set_digest_default(RawDigest(summary.digest_default));
  out->set_digest_variant(RawDigest(summary.digest_variant));
}

static_assert(static_cast<int>(planner::Verdict::kDemoted) + 1 == v1::VERDICT_DEMOTED);
static_assert(static_cast<int>(planner::Equivalence::kInconclusive) + 1 ==
              v1::EQUIVALENCE_INCONCLUSIVE);
static_assert(static_cast<int>(planner::SettlementKind::kNoWinner) + 1 ==
              v1::SETTLEMENT_KIND_NO_WINNER);
static_assert(static_cast<int>(planner::Contract::kPrediction) + 1 == v1::CONTRACT_PREDICTION);
static_assert(static_cast<int>(storage::Regime::kForward) == v1::REGIME_FORWARD);

}  // namespace

absl::StatusOr<const Lookup::Context*> Lookup::Of(storage::TuningId tuning) {
  const auto known = contexts_.find(tuning);
  if (known != contexts_.end()) return &known->second;
  absl::StatusOr<storage::Reader::Tuning> found = reader_.TuningById(tuning);
  if (!found.ok()) return found.status();
  Context context;
  context.key = std::move(found->key);
  absl::StatusOr<storage::WorkloadRow> workload =
      reader_.WorkloadByPrefix(storage::DigestToHex(context.key.workload));
  if (workload.ok()) {
    context.workload = std::move(workload->spec);
  } else if (!absl::IsNotFound(workload.status())) {
    return workload.status();
  }
  return &contexts_.emplace(tuning, std::move(context)).first->second;
}

v1::Plan ToProto(const planner::Plan& plan) {
  v1::Plan out;
  for (const planner::Choice& choice : plan) {
    v1::Choice* added = out.add_choices();
    added->set_decision(choice.decision);
    added->set_option(choice.option);
  }
  return out;
}

v1::WorkloadRow ToProto(const storage::Reader::Workload& workload) {
  v1::WorkloadRow out;
  out.set_fingerprint(storage::DigestToHex(workload.row.spec.fingerprint));
  out.set_name(workload.row.spec.name);
  out.set_decisions(static_cast<uint32_t>(workload.row.spec.decisions.size()));
  out.set_graphs(static_cast<uint32_t>(workload.row.graphs.size()));
  out.set_first_seen_unix_ns(workload.first_seen_ns);
  out.set_last_seen_unix_ns(workload.last_seen_ns);
  if (workload.settlement.has_value()) {
    out.set_settlement(Word(workload.settlement->record.kind));
    out.set_gain(workload.settlement->record.gain.estimate);
  }
  return out;
}

v1::GraphRow ToProto(const storage::Reader::Graph& graph) {
  v1::GraphRow out;
  out.set_fingerprint(storage::DigestToHex(graph.row.fingerprint));
  out.set_name(graph.row.name);
  out.set_regime(static_cast<v1::Regime>(graph.row.regime));
  out.set_nodes(graph.row.nodes);
  out.set_description(graph.row.description);
  out.set_first_seen_unix_ns(graph.first_seen_ns);
  return out;
}

absl::StatusOr<v1::PlanRow> ToProto(const storage::StoredPlan& plan, Lookup& lookup) {
  absl::StatusOr<const Lookup::Context*> context = lookup.Of(plan.tuning);
  if (!context.ok()) return context.status();
  v1::PlanRow out;
  out.set_id(static_cast<uint64_t>(plan.id));
  out.set_workload(storage::DigestToHex((*context)->key.workload));
  out.set_environment(storage::DigestToHex((*context)->key.environment));
  *out.mutable_plan() = ToProto(plan.record.plan);
  out.set_plan_text(storage::PlanForPeople((*context)->workload, plan.record.plan));
  out.set_signature(HexUnlessZero(plan.record.signature));
  out.set_verdict(static_cast<v1::Verdict>(static_cast<int>(plan.record.verdict) + 1));
  out.set_reason(plan.record.reason);
  out.set_pairs(plan.record.pairs);
  out.set_build_ns(plan.record.build_ns);
  out.set_peak_bytes(plan.record.peak_bytes);
  if (plan.record.has_comparison) {
    FillComparison(plan.record.comparison, out.mutable_comparison());
  }
  out.set_updated_unix_ns(plan.updated_ns);
  return out;
}

absl::StatusOr<v1::RaceRow> ToProto(const storage::StoredRace& race, Lookup& lookup) {
  absl::StatusOr<const Lookup::Context*> context = lookup.Of(race.tuning);
  if (!context.ok()) return context.status();
  absl::StatusOr<int64_t> champion = lookup.reader().PlanId(race.tuning, race.record.champion);
  if (!champion.ok()) return champion.status();
  absl::StatusOr<int64_t> challenger = lookup.reader().PlanId(race.tuning, race.record.challenger);
  if (!challenger.ok()) return challenger.status();
  v1::RaceRow out;
  out.set_id(static_cast<uint64_t>(race.id));
  out.set_workload(storage::DigestToHex((*context)->key.workload));
  out.set_kind(KindWord(race.record));
  out.set_champion_plan(static_cast<uint64_t>(*champion));
  out.set_challenger_plan(static_cast<uint64_t>(*challenger));
  out.set_challenger_text(storage::PlanForPeople((*context)->workload, race.record.challenger));
  out.set_outcome(Word(race.record.outcome));
  out.set_reason(race.record.reason);
  out.set_alpha(race.record.alpha);
  out.set_delta0(race.record.delta0);
  out.set_delta1(race.record.delta1);
  out.set_log_e_accept(race.record.log_e_accept);
  out.set_log_e_drop(race.record.log_e_drop);
  out.set_pairs(race.pair_count);
  out.set_estimate(race.record.effect.estimate);
  out.set_low(race.record.effect.low);
  out.set_high(race.record.effect.high);
  out.set_started_unix_ns(race.started_ns);
  out.set_ended_unix_ns(race.ended_ns);
  out.set_session(race.record.session);
  out.set_warm_steps(race.record.warm_steps);
  out.set_timed_steps(race.record.timed_steps);
  return out;
}

namespace {

void FillUse(const storage::KernelUse& use, v1::KernelUse* out) {
  out->set_name(use.name);
  if (use.launches) out->set_launches(*use.launches);
  if (use.time_ns) out->set_time_ns(*use.time_ns);
  if (use.read_bytes) out->set_read_bytes(*use.read_bytes);
  if (use.written_bytes) out->set_written_bytes(*use.written_bytes);
  if (use.registers) out->set_registers(*use.registers);
  if (use.spill_bytes) out->set_spill_bytes(*use.spill_bytes);
  if (use.shared_bytes) out->set_shared_bytes(*use.shared_bytes);
}

void FillTotals(const storage::StepTotals& totals, v1::StepTotals* out) {
  if (totals.step_ns) out->set_step_ns(*totals.step_ns);
  if (totals.busy_ns) out->set_busy_ns(*totals.busy_ns);
  if (totals.kernel_launches) out->set_kernel_launches(*totals.kernel_launches);
  if (totals.host_launches) out->set_host_launches(*totals.host_launches);
}

}  // namespace

v1::KernelComparison ToProto(const storage::StoredKernels& kernels) {
  v1::KernelComparison out;
  out.set_session(kernels.record.session);
  out.set_seen_unix_ns(kernels.seen_ns);
  FillTotals(kernels.record.before.totals, out.mutable_before());
  FillTotals(kernels.record.after.totals, out.mutable_after());
  for (const KernelChange& change : ChangesOf(kernels.record)) {
    v1::KernelChange* row = out.add_kernels();
    row->set_name(change.before != nullptr ? change.before->name : change.after->name);
    if (change.before != nullptr) FillUse(*change.before, row->mutable_before());
    if (change.after != nullptr) FillUse(*change.after, row->mutable_after());
  }
  return out;
}

absl::StatusOr<v1::SettlementRow> ToProto(const storage::StoredSettlement& settlement,
                                          Lookup& lookup) {
  absl::StatusOr<const Lookup::Context*> context = lookup.Of(settlement.tuning);
  if (!context.ok()) return context.status();
  const planner::SettlementRecord& record = settlement.record;
  v1::SettlementRow out;
  out.set_id(record.id);
  out.set_workload(storage::DigestToHex((*context)->key.workload));
  out.set_workload_name((*context)->workload.name);
  out.set_environment(storage::DigestToHex((*context)->key.environment));
  out.set_kind(static_cast<v1::SettlementKind>(static_cast<int>(record.kind) + 1));
  out.set_contract(static_cast<v1::Contract>(static_cast<int>(record.contract) + 1));
  *out.mutable_plan() = ToProto(record.plan);
  out.set_plan_text(storage::PlanForPeople((*context)->workload, record.plan));
  out.set_champion_signature(HexUnlessZero(record.champion_signature));
  out.set_default_signature(HexUnlessZero(record.default_signature));
  out.set_default_step_ns(record.default_step_ns);
  out.set_settled_step_ns(record.settled_step_ns);
  out.set_gain(record.gain.estimate);
  out.set_gain_low(record.gain.low);
  out.set_gain_high(record.gain.high);
  out.set_search_pairs(record.cost.search_pairs);
  out.set_replication_pairs(record.cost.replication_pairs);
  out.set_window_ns(static_cast<uint64_t>(record.cost.window.count()));
  out.set_regret_ns(static_cast<uint64_t>(record.cost.regret.count()));
  out.set_break_even_steps(record.break_even_steps);
  out.set_settled_unix_ns(settlement.settled_ns);
  out.set_state(Word(settlement.state));
  out.set_uid((*context)->key.uid);
  if (settlement.state != storage::SettlementState::kInForce) return out;
  absl::StatusOr<std::optional<planner::DriftTimer>> timer =
      lookup.reader().Drift(static_cast<int64_t>(record.id));
  if (!timer.ok()) return timer.status();
  if (timer->has_value()) out.set_next_check_steps((*timer)->steps_left);
  return out;
}

absl::StatusOr<v1::WatchEvent> ToProto(const storage::EventRow& event, Lookup& lookup) {
  v1::WatchEvent out;
  out.set_id(static_cast<uint64_t>(event.id));
  out.set_unix_ns(event.wall_ns);
  out.set_session(event.session);
  out.set_kind(Printable(event.kind));
  out.set_detail(Printable(event.payload));
  if (event.tuning != 0) {
    absl::StatusOr<const Lookup::Context*> context = lookup.Of(event.tuning);
    if (!context.ok()) return context.status();
    out.set_workload(storage::DigestToHex((*context)->key.workload));
    out.set_workload_name((*context)->workload.name);
  }
  return out;
}

v1::StoreOpening ToProto(const storage::OpenReport& report) {
  v1::StoreOpening out;
  out.set_state(Word(report.state));
  out.set_detail(report.detail);
  out.set_quarantine(report.quarantine);
  out.set_restored_from(report.restored_from);
  out.set_migrated_from(report.migrated_from);
  return out;
}

v1::SessionStatus ToProto(const SessionStatus& session) {
  v1::SessionStatus out;
  out.set_session(session.session);
  out.set_uid(session.uid);
  out.set_pid(session.pid);
  out.set_job(session.job);
  out.set_host_name(session.host_name);
  out.set_workload(HexUnlessZero(session.workload));
  out.set_workload_name(session.workload_name);
  out.set_phase(session.phase);
  out.set_attached_ns(session.attached_ns);
  out.set_candidates(session.candidates);
  out.set_dropped(session.dropped);
  out.set_search_pairs(session.search_pairs);
  out.set_gain(session.gain);
  out.set_budget_spent_ns(session.budget_spent_ns);
  out.set_budget_allowed_ns(session.budget_allowed_ns);
  out.set_note(session.note);
  return out;
}

}  // namespace blazed::history
