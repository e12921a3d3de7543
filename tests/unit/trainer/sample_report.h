#pragma once

#include "client/trainer/report/job_report.h"

namespace blazed::trainer {

// A settled first job with one candidate of each common verdict.
inline Json SampleJob() {
  return Json::parse(R"({
    "role": "first", "outcome": "settled", "settlement": "in_job",
    "plan": ["attention=streamed", "bwd multiply|row_sum=cut"],
    "default_step_ns": 8412345, "settled_step_ns": 7921000,
    "gain": {"estimate": 0.0584, "low": 0.049, "high": 0.067},
    "equivalence": "identical", "boundaries": 34, "search_pairs": 1212, "replication_pairs": 96,
    "pairs_by_use": {"noise": 32, "proposals": 928, "search_races": 240, "verification_races": 0,
                     "replication_races": 95, "late": 13},
    "builds": 14, "probes": 42, "races": 5,
    "window_s": 28.1, "regret_s": 0.93, "build_s": 1.21, "probe_s": 0.88, "drain_s": 0,
    "forecast": {"window_s": 32, "builds": 12, "regret_s": 0.3, "resolvable": 0.011,
                 "based_on": "this job's first 32 pairs"},
    "break_even_steps": 6132.4,
    "plans": [
      {"plan": ["ln|gemm=cut"], "signature": "aa", "verdict": "lost", "pairs": 64,
       "reason": "slower by 2.1 %"},
      {"plan": ["gelu=inside"], "signature": "bb", "verdict": "duplicate", "pairs": 0,
       "reason": "runs the same as default"},
      {"plan": ["attention=streamed", "bwd multiply|row_sum=cut"], "signature": "cc",
       "verdict": "champion", "pairs": 512, "reason": "beat the default"},
      {"plan": ["gemm=split_k"], "signature": "dd", "verdict": "rejected_different", "pairs": 0,
       "reason": "differs by more than re-ordered sums explain"}
    ],
    "run": {"steps": 2911, "first_loss": 4.56, "last_loss": 2.41, "wall_s": 31.2,
            "median_step_ns": 7933000, "stopped": "settled", "shim_state": "attached",
            "shim_reason": ""}
  })");
}

inline Json SampleNoWinner() {
  Json job = SampleJob();
  job["outcome"] = "no_winner";
  job["settlement"] = "no_winner";
  job["plan"] = Json::array();
  job["settled_step_ns"] = job["default_step_ns"];
  job["gain"] = {{"estimate", 0}, {"low", 0}, {"high", 0}};
  job["break_even_steps"] = nullptr;
  job["plans"].erase(2);
  return job;
}

inline Json SampleReport(std::vector<Json> jobs) {
  Json report = {{"schema", 1},          {"device", "cpu"},        {"workload", "attention"},
                 {"regime", "training"}, {"contract", "rounding"}, {"jobs", Json::array()}};
  for (Json& job : jobs) report["jobs"].push_back(std::move(job));
  return report;
}

}  // namespace blazed::trainer
