#pragma once

#include <vector>

#include "client/trainer/report/job_report.h"

namespace blazed::trainer {

// Several reports of one workload as one: the first's head, everyone's jobs in order.
Json MergeReports(const std::vector<Json>& reports);

}  // namespace blazed::trainer
