#include "storage/sqlite/row_codec.h"

#include <algorithm>

#include "storage/kernel_codec.h"

namespace blazed::storage {
namespace {

constexpr size_t kComparisonColumns = 16;

void PutComparison(RowWriter& out, const planner::ComparisonSummary& summary) {
  out.Enumerator(summary.equivalence).Count(summary.elements).Count(summary.mismatches);
  out.Real(summary.max_abs).Real(summary.max_rel).Count(summary.max_ulp);
  out.Count(summary.nan_default).Count(summary.nan_variant);
  out.Count(summary.inf_default).Count(summary.inf_variant);
  out.Count(summary.prediction_disagreements);
  out.Real(summary.own_max_rel).Real(summary.allowed_max_rel).Text(summary.worst_tensor);
  out.Digest(summary.digest_default).Digest(summary.digest_variant);
}

void TakeComparison(RowReader& in, planner::ComparisonSummary& summary) {
  in.Enumerator(summary.equivalence, planner::Equivalence::kInconclusive);
  in.Count(summary.elements);
  in.Count(summary.mismatches);
  in.Real(summary.max_abs);
  in.Real(summary.max_rel);
  in.Count(summary.max_ulp);
  in.Count(summary.nan_default);
  in.Count(summary.nan_variant);
  in.Count(summary.inf_default);
  in.Count(summary.inf_variant);
  in.Count(summary.prediction_disagreements);
  in.Real(summary.own_max_rel);
  in.Real(summary.allowed_max_rel);
  in.Text(summary.worst_tensor);
  in.Digest(summary.digest_default);
  in.Digest(summary.digest_variant);
}

void PutCost(RowWriter& out, const planner::CostRecord& cost) {
  out.Time(cost.window).Time(cost.regret).Time(cost.build).Time(cost.probe).Time(cost.drain);
  out.Count(cost.builds).Count(cost.probes).Count(cost.races);
  out.Count(cost.search_pairs).Count(cost.replication_pairs);
}

// Of the last columns, which came later than the others.
void PutPairsByUse(RowWriter& out, const planner::CostRecord& cost) {
  out.Count(cost.noise_pairs).Count(cost.late_pairs);
}

void PutBudget(RowWriter& out, const planner::CostRecord& cost) {
  out.Time(cost.budget_spent).Time(cost.budget_allowed);
}

void TakeBudget(RowReader& in, planner::CostRecord& cost) {
  in.Time(cost.budget_spent);
  in.Time(cost.budget_allowed);
}

void TakePairsByUse(RowReader& in, planner::CostRecord& cost) {
  in.Count(cost.noise_pairs);
  in.Count(cost.late_pairs);
}

void TakeCost(RowReader& in, planner::CostRecord& cost) {
  in.Time(cost.window);
  in.Time(cost.regret);
  in.Time(cost.build);
  in.Time(cost.probe);
  in.Time(cost.drain);
  in.Count(cost.builds);
  in.Count(cost.probes);
  in.Count(cost.races);
  in.Count(cost.search_pairs);
  in.Count(cost.replication_pairs);
}

void PutForecast(RowWriter& out, const planner::ForecastRecord& record) {
  out.Time(record.window).Count(record.builds).Time(record.regret);
  out.Real(record.resolvable).Text(record.based_on);
}

void TakeForecast(RowReader& in, planner::ForecastRecord& record) {
  in.Time(record.window);
  in.Count(record.builds);
  in.Time(record.regret);
  in.Real(record.resolvable);
  in.Text(record.based_on);
}

void PutInterval(RowWriter& out, const planner::Interval& interval) {
  out.Real(interval.estimate).Real(interval.low).Real(interval.high);
}

void TakeInterval(RowReader& in, planner::Interval& interval) {
  in.Real(interval.estimate);
  in.Real(interval.low);
  in.Real(interval.high);
}

void PutQuantiles(RowWriter& out, const Quantiles& quantiles) {
  out.Real(quantiles.p10).Real(quantiles.p50).Real(quantiles.p90);
}

void TakeQuantiles(RowReader& in, Quantiles& quantiles) {
  in.Real(quantiles.p10);
  in.Real(quantiles.p50);
  in.Real(quantiles.p90);
}

}  // namespace

Row EncodeGraph(const GraphRow& graph, WallNs first_seen_ns) {
  RowWriter out;
  out.Digest(graph.fingerprint).Text(graph.name).Enumerator(graph.regime).Count(graph.nodes);
  out.Text(graph.description).Int(first_seen_ns);
  return out.Take();
}

bool DecodeGraph(const Row& row, GraphRow& graph, WallNs& first_seen_ns) {
  RowReader in(row);
  in.Digest(graph.fingerprint);
  in.Text(graph.name);
  in.Enumerator(graph.regime, Regime::kForward);
  in.Count(graph.nodes);
  in.Text(graph.description);
  first_seen_ns = in.Int();
  return in.ok();
}

Row EncodeTuning(const TuningKey& key) {
  RowWriter out;
  out.Digest(key.workload).Digest(key.environment).Enumerator(key.contract).Count(key.uid);
  out.Text(key.principal);
  return out.Take();
}

bool DecodeTuning(const Row& row, TuningKey& key) {
  RowReader in(row);
  in.Digest(key.workload);
  in.Digest(key.environment);
  in.Enumerator(key.contract, planner::Contract::kPrediction);
  in.Count(key.uid);
  in.Text(key.principal);
  return in.ok();
}

Row EncodeSession(const SessionRow& session) {
  RowWriter out;
  if (session.tuning == 0) {
    out.Null();
  } else {
    out.Int(session.tuning);
  }
  out.Count(session.uid).Int(session.pid).Text(session.process).Text(session.job);
  out.Text(session.host_name).Text(session.device).Enumerator(session.mode);
  out.Int(session.attached_ns).Int(session.gone_ns).Text(session.gone_reason);
  return out.Take();
}

bool DecodeSession(int64_t id, const Row& row, SessionRow& session) {
  RowReader in(row);
  session.id = static_cast<planner::SessionId>(id);
  if (in.NextIsNull()) {
    in.Skip(1);
    session.tuning = 0;
  } else {
    session.tuning = in.Int();
  }
  in.Count(session.uid);
  in.Count(session.pid);
  in.Text(session.process);
  in.Text(session.job);
  in.Text(session.host_name);
  in.Text(session.device);
  in.Enumerator(session.mode, planner::Mode::kPinned);
  session.attached_ns = in.Int();
  session.gone_ns = in.Int();
  in.Text(session.gone_reason);
  return in.ok();
}

Row EncodePlan(TuningId tuning, const planner::PlanRecord& record, WallNs updated_ns) {
  RowWriter out;
  out.Int(tuning).Plan(record.plan).Digest(record.signature).Enumerator(record.verdict);
  out.Text(record.reason).Count(record.pairs).Count(record.build_ns).Count(record.peak_bytes);
  out.Int(updated_ns);
  if (record.has_comparison) {
    PutComparison(out, record.comparison);
  } else {
    for (size_t i = 0; i < kComparisonColumns; ++i) out.Null();
  }
  return out.Take();
}

bool DecodePlan(int64_t id, const Row& row, StoredPlan& plan) {
  RowReader in(row);
  plan.id = id;
  plan.tuning = in.Int();
  in.Plan(plan.record.plan);
  in.Digest(plan.record.signature);
  in.Enumerator(plan.record.verdict, planner::Verdict::kDemoted);
  in.Text(plan.record.reason);
  in.Count(plan.record.pairs);
  in.Count(plan.record.build_ns);
  in.Count(plan.record.peak_bytes);
  plan.updated_ns = in.Int();
  plan.record.has_comparison = !in.NextIsNull();
  if (plan.record.has_comparison) {
    TakeComparison(in, plan.record.comparison);
  } else {
    in.Skip(kComparisonColumns);
  }
  return in.ok();
}

Row EncodeVariant(TuningId tuning, const VariantFacts& variant) {
  RowWriter out;
  out.Int(tuning).Count(variant.session).Count(variant.variant).Plan(variant.plan);
  out.Digest(variant.signature).Count(variant.build_ns).Count(variant.peak_bytes);
  out.Text(variant.failure);
  return out.Take();
}

Row EncodeProbe(TuningId tuning, const planner::KeepProbe& probe) {
  RowWriter out;
  out.Int(tuning).Count(probe.session).Plan(probe.plan).Count(probe.probe_ns);
  PutComparison(out, probe.summary);
  return out.Take();
}

namespace {

// The table's check knows five kinds. Both controls share the last one and are told apart by alpha:
// long dwells accept nothing and have none.
planner::RaceKind RowKindOf(planner::RaceKind kind) {
  return kind == planner::RaceKind::kDwell ? planner::RaceKind::kSham : kind;
}

}  // namespace

Row EncodeRace(TuningId tuning, const planner::RaceRecord& record, WallNs ended_ns) {
  const ArmQuantiles quantiles = QuantilesOf(record.pairs);
  const planner::Nanos length = record.ended - record.started;
  RowWriter out;
  out.Int(tuning).Count(record.id).Enumerator(RowKindOf(record.kind)).Count(record.session);
  out.Plan(record.champion).Plan(record.challenger).Enumerator(record.outcome);
  out.Text(record.reason).Real(record.alpha).Real(record.beta);
  out.Real(record.delta0).Real(record.delta1);
  out.Real(record.log_e_accept).Real(record.log_e_drop);
  PutInterval(out, record.effect);
  out.Time(record.started).Time(record.ended).Count(record.pairs.size());
  PutQuantiles(out, quantiles.champion);
  PutQuantiles(out, quantiles.challenger);
  out.Int(ended_ns - length.count()).Int(ended_ns);
  out.Count(record.warm_steps).Count(record.timed_steps);
  return out.Take();
}

bool DecodeRace(int64_t id, const Row& row, StoredRace& race) {
  RowReader in(row);
  race.id = id;
  race.tuning = in.Int();
  in.Count(race.record.id);
  in.Enumerator(race.record.kind, planner::RaceKind::kSham);
  in.Count(race.record.session);
  in.Plan(race.record.champion);
  in.Plan(race.record.challenger);
  in.Enumerator(race.record.outcome, planner::RaceOutcome::kUndecided);
  in.Text(race.record.reason);
  in.Real(race.record.alpha);
  const bool control = race.record.kind == planner::RaceKind::kSham;
  if (control && race.record.alpha == 0) race.record.kind = planner::RaceKind::kDwell;
  in.Real(race.record.beta);
  in.Real(race.record.delta0);
  in.Real(race.record.delta1);
  in.Real(race.record.log_e_accept);
  in.Real(race.record.log_e_drop);
  TakeInterval(in, race.record.effect);
  in.Time(race.record.started);
  in.Time(race.record.ended);
  in.Count(race.pair_count);
  TakeQuantiles(in, race.champion_ns);
  TakeQuantiles(in, race.challenger_ns);
  race.started_ns = in.Int();
  race.ended_ns = in.Int();
  in.Count(race.record.warm_steps);
  in.Count(race.record.timed_steps);
  race.record.timed_steps = std::max(1u, race.record.timed_steps);
  return in.ok();
}

Row EncodeForecast(TuningId tuning, const planner::ForecastRecord& record) {
  RowWriter out;
  out.Int(tuning);
  PutForecast(out, record);
  return out.Take();
}

bool DecodeForecast(const Row& row, planner::ForecastRecord& record) {
  RowReader in(row);
  in.Skip(1);
  TakeForecast(in, record);
  return in.ok();
}

Row EncodeSettlement(const StoredSettlement& settlement) {
  const planner::SettlementRecord& record = settlement.record;
  RowWriter out;
  out.Int(settlement.tuning).Enumerator(record.kind).Enumerator(record.contract);
  out.Plan(record.plan).Digest(record.champion_signature).Digest(record.default_signature);
  out.Real(record.default_step_ns).Real(record.settled_step_ns);
  PutInterval(out, record.gain);
  PutCost(out, record.cost);
  PutForecast(out, record.forecast);
  out.Real(record.break_even_steps).Count(record.session);
  out.Enumerator(settlement.state).Text(settlement.state_reason).Int(settlement.settled_ns);
  PutPairsByUse(out, record.cost);
  out.Int(record.carry ? 1 : 0);
  return out.Take();
}

bool DecodeSettlement(int64_t id, const Row& row, StoredSettlement& settlement) {
  planner::SettlementRecord& record = settlement.record;
  RowReader in(row);
  record.id = static_cast<uint64_t>(id);
  settlement.tuning = in.Int();
  in.Enumerator(record.kind, planner::SettlementKind::kNoWinner);
  in.Enumerator(record.contract, planner::Contract::kPrediction);
  in.Plan(record.plan);
  in.Digest(record.champion_signature);
  in.Digest(record.default_signature);
  in.Real(record.default_step_ns);
  in.Real(record.settled_step_ns);
  TakeInterval(in, record.gain);
  TakeCost(in, record.cost);
  TakeForecast(in, record.forecast);
  in.Real(record.break_even_steps);
  in.Count(record.session);
  in.Enumerator(settlement.state, SettlementState::kDemoted);
  in.Text(settlement.state_reason);
  settlement.settled_ns = in.Int();
  TakePairsByUse(in, record.cost);
  record.carry = in.Int() != 0;
  return in.ok();
}

Row EncodeDriftTimer(TuningId tuning, const planner::DriftTimer& timer) {
  RowWriter out;
  out.Int(tuning).Count(timer.gap_steps).Count(timer.steps_left);
  return out.Take();
}

bool DecodeDriftTimer(int64_t settlement, const Row& row, planner::DriftTimer& timer) {
  RowReader in(row);
  timer.settlement = static_cast<uint64_t>(settlement);
  in.Skip(1);
  in.Count(timer.gap_steps);
  in.Count(timer.steps_left);
  return in.ok();
}

Row EncodeOutcome(TuningId tuning, const planner::KeepOutcome& outcome, WallNs at_ns) {
  RowWriter out;
  out.Int(tuning).Enumerator(outcome.outcome).Count(outcome.settlement);
  PutCost(out, outcome.cost);
  out.Text(outcome.reason).Int(at_ns);
  PutPairsByUse(out, outcome.cost);
  PutBudget(out, outcome.cost);
  return out.Take();
}

bool DecodeOutcome(int64_t session, const Row& row, StoredOutcome& outcome) {
  RowReader in(row);
  outcome.record.session = static_cast<planner::SessionId>(session);
  outcome.tuning = in.Int();
  in.Enumerator(outcome.record.outcome, planner::Outcome::kServed);
  in.Count(outcome.record.settlement);
  TakeCost(in, outcome.record.cost);
  in.Text(outcome.record.reason);
  outcome.at_ns = in.Int();
  TakePairsByUse(in, outcome.record.cost);
  TakeBudget(in, outcome.record.cost);
  return in.ok();
}

Row EncodeKernels(TuningId tuning, const PlanKernels& record, WallNs seen_ns) {
  RowWriter out;
  out.Int(tuning).Plan(record.plan).Count(record.session).Int(seen_ns).Int(kKernelFormat);
  out.Bytes(PackKernels(record.before)).Bytes(PackKernels(record.after));
  return out.Take();
}

bool DecodeKernels(int64_t id, const Row& row, StoredKernels& kernels) {
  RowReader in(row);
  kernels.id = id;
  kernels.tuning = in.Int();
  in.Plan(kernels.record.plan);
  in.Count(kernels.record.session);
  kernels.seen_ns = in.Int();
  const int64_t format = in.Int();
  std::string before, after;
  in.Bytes(before);
  in.Bytes(after);
  if (!in.ok()) return false;
  absl::StatusOr<StepKernels> under_default = UnpackKernels(format, before);
  absl::StatusOr<StepKernels> under_plan = UnpackKernels(format, after);
  if (!under_default.ok() || !under_plan.ok()) return false;
  kernels.record.before = *std::move(under_default);
  kernels.record.after = *std::move(under_plan);
  return true;
}

Row EncodeEvent(const EventRow& event) {
  RowWriter out;
  if (event.tuning == 0) {
    out.Null();
  } else {
    out.Int(event.tuning);
  }
  out.Count(event.session).Int(event.wall_ns).Text(event.kind).Bytes(event.payload);
  return out.Take();
}

bool DecodeEvent(int64_t id, const Row& row, EventRow& event) {
  RowReader in(row);
  event.id = id;
  if (in.NextIsNull()) {
    in.Skip(1);
    event.tuning = 0;
  } else {
    event.tuning = in.Int();
  }
  in.Count(event.session);
  event.wall_ns = in.Int();
  in.Text(event.kind);
  in.Bytes(event.payload);
  return in.ok();
}

}  // namespace blazed::storage
