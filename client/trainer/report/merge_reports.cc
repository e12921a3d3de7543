#include "client/trainer/report/merge_reports.h"

namespace blazed::trainer {

Json MergeReports(const std::vector<Json>& reports) {
  Json merged = reports.empty() ? Json::object() : reports.front();
  merged["jobs"] = Json::array();
  for (const Json& report : reports) {
    for (const Json& job : report["jobs"]) merged["jobs"].push_back(job);
  }
  return merged;
}

}  // namespace blazed::trainer
