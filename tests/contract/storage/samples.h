// Rows with every field set, for tests of a store. Each takes a number that makes it differ from
// the others.
#pragma once

#include <string>
#include <vector>

#include "storage/kernels.h"
#include "storage/records.h"
#include "storage/store.h"

namespace blazed::storage::samples {

inline Digest DigestOf(uint8_t seed) {
  Digest digest{};
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(seed * 17 + i);
  return digest;
}

inline EnvironmentRow Environment(uint8_t seed = 1) {
  return {DigestOf(seed), {{"device", "cpu"}, {"blas", "openblas 0.3.21"}, {"threads", "2"}}};
}

inline GraphRow Graph(uint8_t seed = 2) {
  return {DigestOf(seed), "layer", Regime::kForward, 12, "ln -> gemm -> gelu"};
}

inline WorkloadRow Workload(uint8_t seed = 3) {
  planner::DecisionSpec cut;
  cut.id = DigestOf(40);
  cut.name = "ln.1|gemm.2";
  cut.kind = planner::DecisionKind::kBoundary;
  cut.options = {"merge", "cut"};
  cut.graph = 1;
  cut.sites = 4;
  planner::DecisionSpec attention;
  attention.id = DigestOf(41);
  attention.name = "attention/forward";
  attention.kind = planner::DecisionKind::kChoice;
  attention.options = {"materialised", "streamed", "blocked"};
  attention.graph = 1;
  attention.sites = 2;
  attention.reorders_sums = true;
  WorkloadRow row;
  row.spec = {DigestOf(seed), "attention", {cut, attention}};
  row.graphs = {DigestOf(2), DigestOf(2)};
  return row;
}

inline TuningKey Key(uint32_t uid = 1000, uint8_t workload = 3) {
  return {DigestOf(workload), DigestOf(1), planner::Contract::kRounding, uid,
          "uid " + std::to_string(uid) + " cgroup /user.slice"};
}

inline SessionRow Session(planner::SessionId id, TuningId tuning, uint32_t uid = 1000) {
  SessionRow row;
  row.id = id;
  row.tuning = tuning;
  row.uid = uid;
  row.pid = 4242;
  row.process = "boot-1 4242 777";
  row.job = "night run";
  row.host_name = "blaze-train";
  row.device = "cpu";
  row.mode = planner::Mode::kTune;
  row.attached_ns = 100;
  row.gone_ns = 200;
  row.gone_reason = "bye";
  return row;
}

inline planner::ComparisonSummary Comparison() {
  planner::ComparisonSummary summary;
  summary.equivalence = planner::Equivalence::kRounding;
  summary.elements = 1000;
  summary.mismatches = 7;
  summary.max_abs = 1e-6;
  summary.max_rel = 3e-7;
  summary.max_ulp = 3;
  summary.nan_default = 1;
  summary.nan_variant = 2;
  summary.inf_default = 3;
  summary.inf_variant = 4;
  summary.prediction_disagreements = 5;
  summary.own_max_rel = 1e-7;
  summary.allowed_max_rel = 1e-6;
  summary.worst_tensor = "grad.w2";
  summary.digest_default = DigestOf(50);
  summary.digest_variant = DigestOf(51);
  return summary;
}

inline planner::PlanRecord Plan(uint32_t option = 1) {
  planner::PlanRecord record;
  record.plan = {{0, 1}, {1, option}};
  record.signature = DigestOf(60);
  record.verdict = planner::Verdict::kLost;
  record.reason = "dropped as slower";
  record.pairs = 31;
  record.build_ns = 1'500'000;
  record.peak_bytes = 1 << 20;
  record.has_comparison = true;
  record.comparison = Comparison();
  return record;
}

inline planner::RaceRecord Race(planner::RaceId id = 1, size_t pairs = 20) {
  planner::RaceRecord record;
  record.id = id;
  record.kind = planner::RaceKind::kVerification;
  record.session = 1;
  record.champion = {};
  record.challenger = {{1, 1}};
  record.outcome = planner::RaceOutcome::kWon;
  record.reason = "accepted";
  record.alpha = 0.0125;
  record.beta = 0.01;
  record.delta0 = 0.0025;
  record.delta1 = 0.0075;
  record.log_e_accept = 4.5;
  record.log_e_drop = -2.25;
  record.effect = {0.05, 0.04, 0.06};
  for (size_t i = 0; i < pairs; ++i) {
    const auto step = static_cast<double>(i);
    record.pairs.push_back({1000.0 + step, 900.5 + step, i % 2 == 0, i == 3, i == 4});
    if (i % 4 == 1) record.pairs.back().champion_device_ns = 700.25 + step;
    if (i % 4 > 1) record.pairs.back().challenger_device_ns = 600.0 + step;
  }
  record.warm_steps = 2;
  record.timed_steps = 8;
  record.started = planner::Nanos(5'000);
  record.ended = planner::Nanos(9'000);
  return record;
}

inline planner::ForecastRecord Forecast() {
  return {planner::Nanos(60'000'000'000), 12, planner::Nanos(900'000'000), 0.004,
          "200 steps of this job"};
}

inline planner::CostRecord Cost() {
  return {planner::Nanos(50),
          planner::Nanos(40),
          planner::Nanos(30),
          planner::Nanos(20),
          planner::Nanos(10),
          9,
          8,
          7,
          600,
          40,
          32,
          13};
}

inline planner::SettlementRecord Settlement(
    planner::SettlementKind kind = planner::SettlementKind::kInJob) {
  planner::SettlementRecord record;
  record.kind = kind;
  record.contract = planner::Contract::kRounding;
  record.plan = {{1, 1}};
  record.champion_signature = DigestOf(70);
  record.default_signature = DigestOf(71);
  record.default_step_ns = 2'000'000.5;
  record.settled_step_ns = 1'900'000.25;
  record.gain = {0.05, 0.04, 0.06};
  record.cost = Cost();
  record.forecast = Forecast();
  record.break_even_steps = 1234.5;
  record.session = 1;
  record.carry = true;
  return record;
}

// One kernel of which everything is known, and one of which nothing is.
inline PlanKernels Kernels(uint32_t option = 1) {
  const StepKernels step{{3'400'000, 700'000, 412, 411},
                         {{"triton_poi_fused_add_0", 12, 310'000, 1 << 20, 1 << 19, 32, 0, 4096},
                          {"library", {}, {}, {}, {}, {}, {}, {}}}};
  return {
      {{1, option}}, 1, step, {{}, {{"triton_poi_fused_add_0", 4, 90'000, {}, {}, 40, {}, {}}}}};
}

inline planner::KeepOutcome Outcome(planner::SessionId session, uint64_t settlement) {
  planner::CostRecord cost = Cost();
  cost.budget_spent = planner::Nanos(21);
  cost.budget_allowed = planner::Nanos(22);
  return {session, planner::Outcome::kSettled, settlement, cost, "settled after a rebuild"};
}

inline EventRow Event(TuningId tuning, const std::string& kind) {
  EventRow event;
  event.tuning = tuning;
  event.session = 1;
  event.wall_ns = 77;
  event.kind = kind;
  event.payload = std::string("\0\x01payload", 9);
  return event;
}

// Stores what a tuning hangs on, and the tuning.
inline absl::StatusOr<TuningId> PutTuningWithParents(Store& store, const TuningKey& key) {
  absl::Status status = store.PutEnvironment(Environment());
  if (status.ok()) status = store.PutGraph(Graph());
  WorkloadRow workload = Workload();
  workload.spec.fingerprint = key.workload;
  if (status.ok()) status = store.PutWorkload(workload);
  if (!status.ok()) return status;
  return store.PutTuning(key);
}

}  // namespace blazed::storage::samples
