// The fields of everything the codec writes, in their fixed order. Adding a field is another
// kCodecVersion.
#pragma once

#include "daemon/planner/action.h"
#include "daemon/planner/codec.h"
#include "daemon/planner/event.h"
#include "daemon/planner/tuning.h"

namespace blazed::planner {

// ---- shared values ----

template <class A>
void Visit(A& a, DecisionSpec& v) {
  a("id", v.id), a("name", v.name), a("kind", v.kind), a("options", v.options);
  a("graph", v.graph), a("sites", v.sites), a("reorders", v.reorders_sums);
}
template <class A>
void Visit(A& a, WorkloadSpec& v) {
  a("fingerprint", v.fingerprint), a("workload", v.name), a("decisions", v.decisions);
}
template <class A>
void Visit(A& a, Plan& v) {
  a("plan", v);
}
template <class A>
void Visit(A& a, ComparisonSummary& v) {
  a("equivalence", v.equivalence), a("elements", v.elements), a("mismatches", v.mismatches);
  a("max_abs", v.max_abs), a("max_rel", v.max_rel), a("max_ulp", v.max_ulp);
  a("nan_default", v.nan_default), a("nan_variant", v.nan_variant);
  a("inf_default", v.inf_default), a("inf_variant", v.inf_variant);
  a("predictions", v.prediction_disagreements), a("own_rel", v.own_max_rel);
  a("allowed_rel", v.allowed_max_rel), a("worst", v.worst_tensor);
  a("digest_default", v.digest_default), a("digest_variant", v.digest_variant);
}
template <class A>
void Visit(A& a, Interval& v) {
  a("estimate", v.estimate), a("low", v.low), a("high", v.high);
}
template <class A>
void Visit(A& a, CostRecord& v) {
  a("window", v.window), a("regret", v.regret), a("build", v.build), a("probe", v.probe);
  a("drain", v.drain), a("builds", v.builds), a("probes", v.probes), a("races", v.races);
  a("search_pairs", v.search_pairs), a("replication_pairs", v.replication_pairs);
  a("noise_pairs", v.noise_pairs), a("late_pairs", v.late_pairs);
  a("budget_spent", v.budget_spent), a("budget_allowed", v.budget_allowed);
}
template <class A>
void Visit(A& a, ForecastRecord& v) {
  a("f_window", v.window), a("f_builds", v.builds), a("f_regret", v.regret);
  a("resolvable", v.resolvable), a("based_on", v.based_on);
}
template <class A>
void Visit(A& a, PlanRecord& v) {
  a("plan", v.plan), a("signature", v.signature), a("verdict", v.verdict), a("reason", v.reason);
  a("pairs", v.pairs), a("build_ns", v.build_ns), a("peak", v.peak_bytes);
  a("compared", v.has_comparison), a("comparison", v.comparison);
}
template <class A>
void Visit(A& a, RaceRecord& v) {
  a("race", v.id), a("kind", v.kind), a("session", v.session), a("champion", v.champion);
  a("challenger", v.challenger), a("outcome", v.outcome), a("reason", v.reason);
  a("alpha", v.alpha), a("beta", v.beta), a("delta0", v.delta0), a("delta1", v.delta1);
  a("log_e_accept", v.log_e_accept), a("log_e_drop", v.log_e_drop), a("effect", v.effect);
  a("pairs", v.pairs), a("warm", v.warm_steps), a("timed", v.timed_steps);
  a("started", v.started), a("ended", v.ended);
}
template <class A>
void Visit(A& a, SettlementRecord& v) {
  a("settlement", v.id), a("kind", v.kind), a("contract", v.contract), a("plan", v.plan);
  a("champion_signature", v.champion_signature), a("default_signature", v.default_signature);
  a("default_step_ns", v.default_step_ns), a("settled_step_ns", v.settled_step_ns);
  a("gain", v.gain), a("cost", v.cost), a("forecast", v.forecast);
  a("break_even", v.break_even_steps), a("session", v.session), a("carry", v.carry);
}
template <class A>
void Visit(A& a, DriftTimer& v) {
  a("settlement", v.settlement), a("gap", v.gap_steps), a("left", v.steps_left);
}
template <class A>
void Visit(A& a, TuningConfig& v) {
  a("alpha", v.alpha), a("beta", v.beta), a("verify_beta", v.verify_beta);
  a("delta0", v.delta0), a("delta1", v.delta1), a("probe_batches", v.probe_batches);
  a("max_variants", v.max_live_variants), a("max_pairs", v.max_pairs_per_race);
  a("max_window", v.max_window), a("share_device", v.share_device);
  a("sham_share", v.sham_share), a("budget_share", v.budget_share);
  a("budget_allowance", v.budget_allowance), a("max_builds", v.max_builds);
  a("search", v.search);
}
template <class A>
void Visit(A& a, EarlierSearch& v) {
  a("s_options", v.options), a("s_builds", v.builds), a("s_steps", v.steps);
}
template <class A>
void Visit(A& a, TuningMemory& v) {
  a("in_force", v.settlement), a("candidate", v.candidate), a("drift", v.drift);
  a("plans", v.plans), a("races", v.races), a("checks", v.checks), a("surrogate", v.surrogate);
  a("searches", v.searches);
}
template <class A>
void Visit(A& a, Gap& v) {
  a("missing", v.missing), a("reason", v.reason);
}
template <class A>
void Visit(A& a, Opening& v) {
  a("workload", v.workload), a("contract", v.contract), a("config", v.config);
  a("memory", v.memory);
}

// ---- events ----

template <class A>
void Visit(A& a, SessionReady& v) {
  a("session", v.session), a("uid", v.uid), a("process", v.process), a("mode", v.mode);
  a("seed", v.seed), a("default_signature", v.default_signature);
  a("default_peak", v.default_peak_bytes), a("extra_memory", v.extra_memory_bytes);
  a("default_step_ns", v.default_step_ns), a("default_build_ns", v.default_build_ns);
  a("build_ns", v.build_ns);
  a("queued", v.queued);
  a("tune_until_steps", v.tune_until_steps), a("tune_until", v.tune_until);
  a("first_directive", v.first_directive), a("first_variant", v.first_variant);
  a("device", v.device), a("job", v.job);
}
template <class A>
void Visit(A& a, SessionGone& v) {
  a("session", v.session), a("reason", v.reason);
}
template <class A>
void Visit(A& a, VariantBuilt& v) {
  a("session", v.session), a("build", v.build), a("variant", v.variant), a("status", v.status);
  a("reason", v.reason), a("signature", v.signature), a("build_ns", v.build_ns);
  a("peak", v.peak_bytes);
}
template <class A>
void Visit(A& a, ProbeDone& v) {
  a("session", v.session), a("probe", v.probe), a("variant", v.variant);
  a("summary", v.summary), a("probe_ns", v.probe_ns), a("passed", v.passed_batches);
}
template <class A>
void Visit(A& a, LeaseDone& v) {
  a("session", v.session), a("lease", v.lease), a("units", v.units);
  a("first_step", v.first_step), a("drain_ns", v.drain_ns), a("complete", v.complete);
  a("run_ahead", v.run_ahead);
}
template <class A>
void Visit(A& a, LeaseExpired& v) {
  a("session", v.session), a("lease", v.lease);
}
template <class A>
void Visit(A& a, DirectiveRefused& v) {
  a("session", v.session), a("directive", v.directive), a("variant", v.variant);
  a("reason", v.reason), a("detail", v.detail);
}
template <class A>
void Visit(A& a, DirectiveHeld& v) {
  a("session", v.session), a("directive", v.directive);
}
template <class A>
void Visit(A& a, DirectiveSent& v) {
  a("session", v.session), a("directive", v.directive);
}
template <class A>
void Visit(A& a, VariantAdopted& v) {
  a("session", v.session), a("adopt", v.adopt), a("variant", v.variant);
  a("from_step", v.from_step);
}
template <class A>
void Visit(A& a, ServiceWindow& v) {
  a("session", v.session), a("variant", v.variant), a("first_step", v.first_step);
  a("steps", v.steps), a("host_ns", v.host_ns), a("median_ns", v.median_step_ns);
}
template <class A>
void Visit(A& a, SettlementStored& v) {
  a("request", v.request), a("settlement", v.settlement);
}
template <class A>
void Visit(A& a, SettlementFailed& v) {
  a("request", v.request), a("reason", v.reason);
}
template <class A>
void Visit(A& a, Conclusion& v) {
  a("contender", v.contender), a("left", v.left), a("plans", v.plans), a("base", v.base);
  a("gain", v.gain);
  a("samples", v.samples), a("quiet", v.quiet);
}
template <class A>
void Visit(A& a, ThoughtDone& v) {
  a("session", v.session), a("request", v.request), a("conclusion", v.conclusion);
}
template <class A>
void Visit(A&, Tick&) {}

// ---- actions ----

template <class A>
void Visit(A& a, BuildVariant& v) {
  a("session", v.session), a("build", v.build), a("variant", v.variant), a("plan", v.plan);
  a("rebuild_of", v.rebuild_of);
}
template <class A>
void Visit(A& a, ProbeVariants& v) {
  a("session", v.session), a("probe", v.probe), a("variants", v.variants);
  a("batches", v.batches);
}
template <class A>
void Visit(A& a, RunPairs& v) {
  a("session", v.session), a("lease", v.lease), a("champion", v.champion);
  a("challenger", v.challenger), a("challenger_first", v.challenger_first);
  a("warm", v.warm_steps), a("timed", v.timed_steps), a("deadline", v.deadline);
  a("abort_ns", v.abort_step_ns);
}
template <class A>
void Visit(A& a, Adopt& v) {
  a("session", v.session), a("adopt", v.adopt), a("variant", v.variant), a("plan", v.plan);
  a("reason", v.reason), a("settlement", v.settlement), a("kind", v.settlement_kind);
  a("settled", v.settled);
}
template <class A>
void Visit(A& a, DropVariant& v) {
  a("session", v.session), a("variant", v.variant);
}
template <class A>
void Visit(A& a, Stand& v) {
  a("session", v.session), a("reason", v.reason), a("detail", v.detail);
}
template <class A>
void Visit(A& a, ReportProgress& v) {
  a("session", v.session), a("phase", v.phase), a("candidates", v.candidates);
  a("dropped", v.dropped), a("cost", v.cost), a("gain", v.gain);
  a("choices", v.champion_choices), a("forecast", v.forecast), a("note", v.note);
}
template <class A>
void Visit(A& a, KeepPlan& v) {
  a("record", v.record);
}
template <class A>
void Visit(A& a, KeepRace& v) {
  a("record", v.record);
}
template <class A>
void Visit(A& a, KeepProbe& v) {
  a("session", v.session), a("plan", v.plan), a("summary", v.summary), a("probe_ns", v.probe_ns);
}
template <class A>
void Visit(A& a, KeepForecast& v) {
  a("session", v.session), a("record", v.record);
}
template <class A>
void Visit(A& a, Settle& v) {
  a("request", v.request), a("record", v.record);
}
template <class A>
void Visit(A& a, KeepDriftTimer& v) {
  a("timer", v.timer);
}
template <class A>
void Visit(A& a, DemoteSettlement& v) {
  a("settlement", v.settlement), a("reason", v.reason);
}
template <class A>
void Visit(A& a, Think& v) {
  a("session", v.session), a("request", v.request);
}
template <class A>
void Visit(A& a, KeepOutcome& v) {
  a("session", v.session), a("outcome", v.outcome), a("settlement", v.settlement);
  a("cost", v.cost), a("reason", v.reason);
}

}  // namespace blazed::planner
