#pragma once

#include <string>
#include <vector>

#include "client/trainer/report/job_report.h"

namespace blazed::trainer {

// Rows of one verdict that are shown in full once there are many candidates; the rest is counted.
inline constexpr size_t kRowsPerVerdict = 12;
// Up to here every candidate is shown.
inline constexpr size_t kRowsUnfolded = 40;

// "41 candidates: 1 champion, 12 duplicate, ...".
std::string CandidateCounts(const std::vector<Candidate>& candidates);

// One row a candidate, the most telling verdicts first and within a verdict the longest measured
// first. Cells are broken over two lines where needed; no line is wider than `columns`.
std::string CandidateTable(std::vector<Candidate> candidates, int columns);

}  // namespace blazed::trainer
