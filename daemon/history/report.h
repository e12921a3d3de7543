// A session's story as one element of a report's `jobs` (docs/report.md names every field).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "storage/store.h"

namespace blazed::history {

using Json = nlohmann::ordered_json;  // keeps the order of fields, so that a report reads top down

// Pure. `role` is left empty: only the program that ran the jobs knows which was first. A session
// whose tuning has no outcome yet is `undecided`, with the costs `so_far`: those of its latest
// progress, or, where they are empty, what its finished races show.
Json JobReport(const storage::Reader::SessionStory& story, const planner::CostRecord& so_far = {});

// The same as text; bytes that are no UTF-8 are replaced.
std::string JobReportText(const storage::Reader::SessionStory& story,
                          const planner::CostRecord& so_far = {});

}  // namespace blazed::history
