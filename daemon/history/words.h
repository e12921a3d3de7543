// The planner's values as the words that reports, tables and sentences use.
#pragma once

#include "daemon/planner/action.h"
#include "daemon/planner/types.h"
#include "storage/open_report.h"
#include "storage/records.h"

namespace blazed::history {

const char* Word(planner::Verdict verdict);
const char* Word(planner::Equivalence equivalence);
const char* Word(planner::SettlementKind kind);
const char* Word(planner::RaceKind kind);
// As Word(kind), but "return" for a look at a demoted plan: it is stored as a drift check whose
// champion is the default, and there `won` speaks for the plan, not against it.
const char* KindWord(const planner::RaceRecord& race);
const char* Word(planner::RaceOutcome outcome);
const char* Word(planner::Contract contract);
const char* Word(storage::SettlementState state);
const char* Word(storage::OpenReport::State state);

}  // namespace blazed::history
