// The event log of a tuning, as rows of the store. Two kinds share it:
//  - what the planner was told: one row of kind "opening" (workload, contract, configuration,
//    memory), then one per event under the planner's name for it, each with the planner's canonical
//    line as payload, and a row of kind "gap" where rows were dropped. An opening and the rows
//    after it give the same decisions again, byte for byte, up to a gap (daemon/planner/codec.h);
//  - notices for people who watch, under the kinds of NoticeOf, with a sentence as payload. No
//    notice kind is the name of an event.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/planner/action.h"
#include "daemon/planner/codec.h"
#include "daemon/planner/event.h"
#include "daemon/planner/tuning.h"
#include "storage/records.h"
#include "storage/store.h"

namespace blazed::session {

planner::TuningMemory ToPlannerMemory(storage::Store::Memory memory);

storage::EventRow OpeningRow(storage::TuningId tuning, int64_t wall_ns,
                             const planner::Opening& opening);

storage::EventRow EventRowOf(storage::TuningId tuning, planner::SessionId session, int64_t wall_ns,
                             const planner::Event& event);

storage::EventRow GapRow(storage::TuningId tuning, int64_t wall_ns, const planner::Gap& gap);

// Whether a row of this kind belongs to what the planner was told.
bool IsLogKind(const std::string& kind);

// Texts for planner::Replay, one for each opening of the tuning that the store still has, oldest
// first. A place where rows are missing, because they were dropped or are damaged, holds a gap's
// line. Reads the whole event table: for tests and for looking into a decision, not for a query.
absl::StatusOr<std::vector<std::string>> ReadTuningLogs(storage::Reader& reader,
                                                        storage::TuningId tuning);

// Kinds: "race_won", "race_lost", "race_undecided", "plan_ruled_out", "champion", "settled",
// "forecast_made", "stood_down", "search_ended". Nothing for actions that need no notice.
std::optional<storage::EventRow> NoticeOf(storage::TuningId tuning, int64_t wall_ns,
                                          const planner::WorkloadSpec& workload,
                                          const planner::Action& action);

}  // namespace blazed::session
