#include "client/trainer/report/build_report.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "blazed_version.h"
#include "client/trainer/host/describe.h"

namespace blazed::trainer {
namespace {

double Seconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

std::string Hex(const Digest& digest) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

struct Answer {
  const char* outcome;
  Json settlement;
  std::string reason;
};

// What the shim alone can say about how the tuning ended.
Answer AnswerOf(const TrainOptions& options, const SessionFacts& session) {
  if (options.plan == PlanMode::kOff) {
    return {"off", nullptr, "asked for with --plan off: the default plan, no shim"};
  }
  if (options.plan == PlanMode::kNone) {
    return {"off", nullptr, "asked for with --plan none: nothing merged, no shim"};
  }
  if (!session.attached) return {"off", nullptr, session.reason};
  if (options.plan != PlanMode::kDefault && !session.settled &&
      session.counters.mode == BLZ_MODE_OBSERVE) {
    // Less was granted than asked for, and the shim was told why.
    return {"off", nullptr,
            session.reason.empty() ? "the session only observed, so nothing was changed"
                                   : session.reason};
  }
  if (options.plan == PlanMode::kPinned) {
    return {"pinned", nullptr,
            session.settled ? "" : "nothing is settled here yet for this workload"};
  }
  if (options.plan != PlanMode::kTune) {
    return {"off", nullptr, "asked for with --plan default: observed, nothing was changed"};
  }
  if (session.settled && session.settlement == BLZ_SETTLEMENT_NO_WINNER) {
    return {"no_winner", "no_winner", ""};
  }
  if (session.settled && session.settlement != BLZ_SETTLEMENT_NONE) {
    return {"settled", session.settlement == BLZ_SETTLEMENT_IN_JOB ? "in_job" : "replicated", ""};
  }
  return {"undecided", nullptr, "the daemon gave no report, so only what this process saw is here"};
}

// The default plan's step as the trainer timed it: over its last steps where nothing else ran.
// What the trainer itself can say of the default plan: its median step where nothing else ran.
Json DefaultStepNs(const TrainOptions& options, const RunFacts& run, const SessionFacts& session) {
  const bool alone = options.plan != PlanMode::kNone && session.counters.variants_built == 0 &&
                     session.plan.empty();
  return alone && run.median_step_ns > 0 ? Json(run.median_step_ns) : Json();
}

Json BuiltPlans(const workloads::Workload& workload, const std::vector<BuildStory>& builds) {
  Json plans = Json::array();
  for (const BuildStory& build : builds) {
    const bool failed = !build.failure.empty();
    plans.push_back(
        {{"plan", PlanNames(workload.space, build.plan)},
         {"signature", failed ? "" : Hex(build.signature)},
         {"verdict", failed ? "build_failed" : "undecided"},
         {"reason", failed ? build.failure : "built; its verdict stayed with the daemon"},
         {"pairs", 0}});
  }
  return plans;
}

Json ForecastOf(const SessionFacts& session) {
  const blz_status_info& counters = session.counters;
  // What a served job hears of is the forecast of the job that searched.
  if (session.phase == BLZ_PHASE_SERVED) return nullptr;
  if (counters.forecast_window_ns == 0 && counters.forecast_builds == 0) return nullptr;
  return {{"window_s", Seconds(counters.forecast_window_ns)},
          {"builds", counters.forecast_builds},
          {"regret_s", Seconds(counters.forecast_regret_ns)},
          {"resolvable", counters.forecast_resolvable}};
}

// The job's element as far as this process knows it.
Json OwnJob(const TrainOptions& options, const workloads::Workload& workload, const RunFacts& run,
            const SessionFacts& session, const std::vector<BuildStory>& builds) {
  const Answer answer = AnswerOf(options, session);
  const blz_status_info& counters = session.counters;
  std::vector<std::string> plan = session.plan;
  if (options.plan == PlanMode::kNone) plan = PlanNames(workload.space, AllCut(workload.space));
  const bool tried = counters.variants_built > 0;
  return {{"role", NameOf(options.role)},
          {"outcome", answer.outcome},
          {"settlement", answer.settlement},
          {"served", session.phase == BLZ_PHASE_SERVED && answer.settlement != nullptr &&
                         !run.settled_itself},
          {"reason", answer.reason},
          {"plan", plan},
          {"default_step_ns", DefaultStepNs(options, run, session)},
          {"settled_step_ns", nullptr},
          {"gain", nullptr},
          {"equivalence", nullptr},
          {"boundaries", BoundaryCount(workload.space)},
          {"decisions", workload.space.decisions.size()},
          {"search_pairs", counters.search_pairs},
          {"replication_pairs", counters.replication_pairs},
          {"pairs_by_use", nullptr},
          {"builds", tried ? counters.variants_built : counters.builds},
          {"probes", counters.probes},
          {"races", counters.races},
          {"races_by_kind", nullptr},
          {"window_s", Seconds(counters.window_ns)},
          {"regret_s", Seconds(counters.regret_ns)},
          {"build_s", Seconds(counters.build_ns)},
          {"probe_s", Seconds(counters.probe_ns)},
          {"drain_s", Seconds(counters.drain_ns)},
          {"budget", nullptr},
          {"forecast", ForecastOf(session)},
          {"break_even_steps", nullptr},
          {"plans", BuiltPlans(workload, builds)}};
}

Json RunOf(const RunFacts& run, const SessionFacts& session) {
  Json curve = Json::array();
  for (const auto& [step, loss] : run.loss_curve) curve.push_back({step, loss});
  return {{"steps", run.steps},
          {"stopped", NameOf(run.stopped)},
          {"first_loss", run.first_loss},
          {"last_loss", run.last_loss},
          {"loss_curve", std::move(curve)},
          {"loss_digest", run.loss_digest},
          {"model_digest", run.model_digest},
          {"wall_s", absl::ToDoubleSeconds(run.wall)},
          {"base_step_ns", run.base_step_ns},
          {"median_step_ns", run.median_step_ns},
          {"shim_state", NameOf(session.state)},
          {"shim_reason", session.reason},
          {"refused", session.counters.refused},
          {"rejected", session.counters.rejected},
          {"reconnects", session.counters.reconnects}};
}

// Lays the daemon's fields over the trainer's own; a field of the wrong type is left out, so that
// the report stays readable whatever the daemon said.
void LayOver(const Json& daemon, const Json& head, Json* job) {
  for (const auto& [key, value] : daemon.items()) {
    // The shim ran the plan, so it knows best which; the daemon may have heard less.
    if (key == "role" || key == "run" || key == "plan" || key == "equivalence") continue;
    // A search that raced nothing timed nothing; the trainer's own clock stands in.
    if (key == "default_step_ns" && value.is_null()) continue;
    Json trial = *job;
    trial[key] = value;
    Json report = head;
    report["jobs"] = Json::array({trial});
    if (CheckReport(report).ok()) *job = std::move(trial);
  }
}

// The daemon has a reason for every outcome that it keeps. Where it keeps none, because nothing was
// tuned, the trainer knows why: it asked for that itself, or the shim was told.
void KeepOwnReason(const Answer& own, Json* job) {
  const bool none =
      (*job)["outcome"] == "off" || ((*job)["outcome"] == "pinned" && (*job)["reason"] == "");
  if (none && (*job)["outcome"] == own.outcome && !own.reason.empty()) {
    (*job)["reason"] = own.reason;
  }
}

bool SamePlan(const Json& a, const Json& b) {
  const auto sorted = [](const Json& plan) {
    std::vector<std::string> names;
    for (const Json& name : plan) {
      if (name.is_string()) names.push_back(name.get<std::string>());
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  return a.is_array() && b.is_array() && sorted(a) == sorted(b);
}

// What the daemon found of the plan that the job ran.
Json EquivalenceOf(const Json& daemon, const Json& job) {
  if (job["plan"].empty()) return "nothing_to_check";
  for (const Json& candidate : job["plans"]) {
    const auto found = candidate.find("equivalence");
    const bool known = found != candidate.end() && found->is_string();
    if (known && SamePlan(candidate["plan"], job["plan"])) return *found;
  }
  const bool same = daemon.contains("plan") && SamePlan(daemon["plan"], job["plan"]);
  const bool told = daemon.contains("equivalence") && daemon["equivalence"].is_string();
  return same && told ? daemon["equivalence"] : Json();
}

}  // namespace

Json BuildReport(const TrainOptions& options, const workloads::Workload& workload,
                 const RunFacts& run, const SessionFacts& session,
                 const std::vector<BuildStory>& builds) {
  Json report = {{"schema", 1},
                 {"device", NameOf(options.device)},
                 {"workload", workload.name},
                 {"regime", NameOf(options.regime)},
                 {"contract", NameOf(options.contract)},
                 {"plan_mode", NameOf(options.plan)},
                 {"seed", options.seed},
                 {"sizes",
                  {{"width", workload.options.width},
                   {"seq", workload.options.seq},
                   {"batch", workload.options.batch},
                   {"layers", workload.options.layers},
                   {"heads", workload.options.heads}}},
                 {"version", BLAZED_VERSION},
                 {"commit", BLAZED_COMMIT},
                 {"environment", DescribeEnvironment(options.threads)}};
  Json job = OwnJob(options, workload, run, session, builds);
  const Json daemon = Json::parse(session.daemon_report, nullptr, /*allow_exceptions=*/false);
  if (daemon.is_object()) {
    job["reason"] = "";
    LayOver(daemon, report, &job);
    KeepOwnReason(AnswerOf(options, session), &job);
    job["equivalence"] = EquivalenceOf(daemon, job);
  }
  job["run"] = RunOf(run, session);
  report["jobs"] = Json::array({std::move(job)});
  return report;
}

}  // namespace blazed::trainer
