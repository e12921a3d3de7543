// What people who watch are told of an action.
#include "daemon/session/tuning_log.h"

#include <gtest/gtest.h>

namespace blazed::session {
namespace {

std::string Said(const planner::Action& action) {
  const auto row = NoticeOf(1, 0, planner::WorkloadSpec(), action);
  return row ? std::string(row->payload.begin(), row->payload.end()) : "";
}

TEST(TuningLog, CallsNothingAWinnerWhereNoRaceWasWon) {
  planner::Adopt adopt;
  adopt.reason = planner::AdoptReason::kWonRace;
  EXPECT_EQ(Said(adopt), "default: no other plan won");
  adopt.plan = {{0, 1}};
  EXPECT_NE(Said(adopt).find("it won its race"), std::string::npos) << Said(adopt);
}

TEST(TuningLog, GivesAWildEstimateNoPercentage) {
  planner::KeepRace race;
  race.record.challenger = {{0, 1}};
  race.record.pairs.resize(3);
  const auto said = [&race](double log_ratio) {
    race.record.effect.estimate = log_ratio;
    const std::string sentence = Said(race);
    return sentence.substr(sentence.rfind(": ") + 2);
  };
  EXPECT_EQ(said(0.05), "+4.88 % of a step over 3 pairs");
  EXPECT_EQ(said(-64), "more than seven times slower over 3 pairs");
  EXPECT_EQ(said(64), "more than seven times faster over 3 pairs");
}

}  // namespace
}  // namespace blazed::session
