// A session's story as one element of a report's `jobs` (docs/report.md names every field).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "storage/store.h"

namespace blazed::history {

using Json = nlohmann::ordered_json;  // keeps the order of fields, so that a report reads top down

// Pure. `role` is left empty: only the program that ran the jobs knows which was first. A session
// whose tuning has no outcome yet is `undecided`, with the costs `so_far`: those of its latest
// progress, or, where they are empty, what its finished races show. `founder` is the session that
// made the settlement: one job has several where the daemon was restarted under it.
Json JobReport(const storage::Reader::SessionStory& story, const planner::CostRecord& so_far = {},
               const std::optional<storage::SessionRow>& founder = std::nullopt);

// The same as text, with the founder from the store; bytes that are no UTF-8 are replaced.
std::string JobReportText(storage::Reader& reader, const storage::Reader::SessionStory& story,
                          const planner::CostRecord& so_far = {});

}  // namespace blazed::history
