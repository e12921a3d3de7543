#pragma once

#include <string>

#include "client/trainer/report/job_report.h"

namespace blazed::trainer {

// Width for output that is no terminal.
inline constexpr int kPlainColumns = 100;

// The whole report for people, every job in turn, no line wider than `columns` (at least 60).
std::string RenderReport(const Json& report, int columns);

// One job of it. `title` heads the text.
std::string RenderJob(const JobReport& job, const std::string& title, int columns);

// First and second job side by side: what was found, what it cost, what was reused.
std::string RenderComparison(const JobReport& first, const JobReport& second, int columns);

}  // namespace blazed::trainer
