#include "client/trainer/report/job_report.h"

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace blazed::trainer {
namespace {

const Json* Find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

double Number(const Json& object, const char* key) {
  const Json* value = Find(object, key);
  return value != nullptr && value->is_number() ? value->get<double>() : 0.0;
}

int64_t Integer(const Json& object, const char* key) {
  const Json* value = Find(object, key);
  if (value == nullptr || !value->is_number()) return 0;
  if (value->is_number_float()) return static_cast<int64_t>(value->get<double>());
  return value->get<int64_t>();
}

std::string Text(const Json& object, const char* key) {
  const Json* value = Find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

std::string EntryText(const Json& entry) {
  if (entry.is_string()) return entry.get<std::string>();
  if (!entry.is_object()) return entry.dump();
  const auto part = [&entry](const char* name, const char* number) {
    const std::string text = Text(entry, name);
    return !text.empty() ? text : absl::StrCat(Integer(entry, number));
  };
  return absl::StrCat(part("decision", "decision"), "=", part("option", "option"));
}

std::vector<std::string> PlanEntries(const Json* plan) {
  std::vector<std::string> entries;
  if (plan == nullptr || !plan->is_array()) return entries;
  for (const Json& entry : *plan) entries.push_back(EntryText(entry));
  return entries;
}

std::string PlanLineOf(const std::vector<std::string>& entries) {
  return entries.empty() ? "default" : absl::StrJoin(entries, ", ");
}

std::optional<Gain> ReadGain(const Json* gain) {
  if (gain == nullptr || !gain->is_object()) return std::nullopt;
  return Gain{Number(*gain, "estimate"), Number(*gain, "low"), Number(*gain, "high")};
}

std::optional<ForecastReport> ReadForecast(const Json* forecast) {
  if (forecast == nullptr || !forecast->is_object()) return std::nullopt;
  return ForecastReport{Number(*forecast, "window_s"), Integer(*forecast, "builds"),
                        Number(*forecast, "regret_s"), Number(*forecast, "resolvable"),
                        Text(*forecast, "based_on")};
}

std::optional<PairUses> ReadPairUses(const Json* uses) {
  if (uses == nullptr || !uses->is_object()) return std::nullopt;
  return PairUses{Integer(*uses, "noise"),
                  Integer(*uses, "proposals"),
                  Integer(*uses, "search_races"),
                  Integer(*uses, "verification_races"),
                  Integer(*uses, "replication_races"),
                  Integer(*uses, "sham_races"),
                  Integer(*uses, "late")};
}

std::vector<Candidate> ReadCandidates(const Json* plans) {
  std::vector<Candidate> candidates;
  if (plans == nullptr || !plans->is_array()) return candidates;
  for (const Json& plan : *plans) {
    candidates.push_back({PlanLineOf(PlanEntries(Find(plan, "plan"))), Text(plan, "signature"),
                          Text(plan, "verdict"), Text(plan, "reason"), Integer(plan, "pairs")});
  }
  return candidates;
}

void ReadCosts(const Json& job, JobReport* out) {
  out->search_pairs = Integer(job, "search_pairs");
  out->replication_pairs = Integer(job, "replication_pairs");
  out->pairs_by_use = ReadPairUses(Find(job, "pairs_by_use"));
  out->builds = Integer(job, "builds");
  out->probes = Integer(job, "probes");
  out->races = Integer(job, "races");
  if (const Json* kinds = Find(job, "races_by_kind")) {
    out->dwells = Integer(*kinds, "dwell");
    out->drift_checks = Integer(*kinds, "drift");
  }
  out->window_s = Number(job, "window_s");
  out->regret_s = Number(job, "regret_s");
  out->build_s = Number(job, "build_s");
  out->probe_s = Number(job, "probe_s");
  out->drain_s = Number(job, "drain_s");
  if (const Json* budget = Find(job, "budget")) {
    out->budget_spent_s = Number(*budget, "spent_s");
    out->budget_allowed_s = Number(*budget, "allowed_s");
  }
  out->forecast = ReadForecast(Find(job, "forecast"));
}

void ReadRun(const Json& job, JobReport* out) {
  const Json* run = Find(job, "run");
  if (run == nullptr) return;
  out->steps = Integer(*run, "steps");
  out->first_loss = Number(*run, "first_loss");
  out->last_loss = Number(*run, "last_loss");
  out->wall_s = Number(*run, "wall_s");
  out->median_step_ns = Number(*run, "median_step_ns");
  out->stopped = Text(*run, "stopped");
  out->shim_state = Text(*run, "shim_state");
  out->shim_reason = Text(*run, "shim_reason");
}

}  // namespace

JobReport ReadJob(const Json& job) {
  JobReport out;
  out.role = Text(job, "role");
  out.outcome = Text(job, "outcome");
  out.settlement = Text(job, "settlement");
  const Json* served = Find(job, "served");
  out.served = served != nullptr && served->is_boolean() && served->get<bool>();
  out.reason = Text(job, "reason");
  out.plan = PlanEntries(Find(job, "plan"));
  out.default_step_ns = Number(job, "default_step_ns");
  out.settled_step_ns = Number(job, "settled_step_ns");
  out.gain = ReadGain(Find(job, "gain"));
  out.equivalence = Text(job, "equivalence");
  out.boundaries = Integer(job, "boundaries");
  out.decisions = Integer(job, "decisions");
  if (const Json* value = Find(job, "break_even_steps"); value != nullptr && value->is_number()) {
    out.break_even_steps = value->get<double>();
  }
  out.plans = ReadCandidates(Find(job, "plans"));
  ReadCosts(job, &out);
  ReadRun(job, &out);
  return out;
}

std::string PlanLine(const Json& plan) { return PlanLineOf(PlanEntries(&plan)); }

absl::StatusOr<Json> LoadReport(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read the report ", path));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Json report = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (report.is_discarded()) {
    return absl::InvalidArgumentError(absl::StrCat("the report ", path, " is not JSON"));
  }
  if (absl::Status status = CheckReport(report); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("the report ", path, ": ", status.message()));
  }
  return report;
}

}  // namespace blazed::trainer
