// The story of a session that settled: where the tests of reports and of `explain` begin.
#pragma once

#include "storage/store.h"
#include "tests/contract/storage/samples.h"

namespace blazed::history {

namespace samples = storage::samples;

// A job that settled a streamed attention, with a loser, a duplicate and the champion.
inline storage::Reader::SessionStory Settled() {
  storage::Reader::SessionStory story;
  story.session = samples::Session(1, 1);
  story.key = samples::Key();
  story.workload = samples::Workload();
  story.graphs = {samples::Graph()};
  story.environment = samples::Environment();
  story.forecast = samples::Forecast();
  story.outcome = storage::StoredOutcome{1, samples::Outcome(1, 1), 0};
  storage::StoredSettlement settlement;
  settlement.tuning = 1;
  settlement.record = samples::Settlement();
  settlement.record.id = 1;
  story.settlement = settlement;
  planner::PlanRecord champion = samples::Plan();
  champion.plan = {{1, 1}};
  champion.verdict = planner::Verdict::kChampion;
  champion.reason = "won and won again after a rebuild";
  planner::PlanRecord duplicate = samples::Plan(2);
  duplicate.verdict = planner::Verdict::kDuplicate;
  duplicate.reason = "ran the same as plan 1";
  duplicate.has_comparison = false;
  story.plans = {{1, 1, champion, 0}, {2, 1, samples::Plan(), 0}, {3, 1, duplicate, 0}};
  storage::StoredRace race;
  race.id = 1;
  race.tuning = 1;
  race.record = samples::Race();
  race.pair_count = 20;
  story.races = {race};
  return story;
}

}  // namespace blazed::history
