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

}  // namespace
}  // namespace blazed::session
