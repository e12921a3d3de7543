#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "client/trainer/report/job_report.h"

namespace blazed::trainer {

// The default's and the champion's saving on one axis, in plain characters:
//
//     default   |
//     champion  |         [-----*----]
//               +---------+---------+----
//               0 %       2 %       4 %
//
// At most `columns` wide, every line starts with `indent`. An end far beyond the estimate, or an
// open one, runs off as "<" or ">" so that it does not squeeze the rest. Empty when the gain spans
// nothing.
std::string IntervalPlot(const Gain& gain, int columns, absl::string_view indent);

}  // namespace blazed::trainer
