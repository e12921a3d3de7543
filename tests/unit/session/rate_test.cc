#include "daemon/session/rate.h"

#include <gtest/gtest.h>

namespace blazed::session {
namespace {

using std::chrono::seconds;

TEST(Rate, GivesSoManyAtOnceAndThenEvenly) {
  Rate rate(seconds(60));
  const planner::Moment start = seconds(1000);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(rate.Take(7, 6, start));
  EXPECT_FALSE(rate.Take(7, 6, start));
  EXPECT_FALSE(rate.Take(7, 6, start + seconds(9)));
  EXPECT_TRUE(rate.Take(7, 6, start + seconds(11)));
  EXPECT_FALSE(rate.Take(7, 6, start + seconds(11)));
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(rate.Take(7, 6, start + seconds(500)));
  EXPECT_FALSE(rate.Take(7, 6, start + seconds(500)));
}

TEST(Rate, CountsEachUserByItself) {
  Rate rate(seconds(1));
  EXPECT_TRUE(rate.Take(7, 1, seconds(5)));
  EXPECT_FALSE(rate.Take(7, 1, seconds(5)));
  EXPECT_TRUE(rate.Take(8, 1, seconds(5)));
}

TEST(Rate, ForgetsUsersThatRested) {
  Rate rate(seconds(1));
  for (uint32_t uid = 0; uid < 100; ++uid) rate.Take(uid, 1, seconds(5 + 2 * uid));
  EXPECT_EQ(rate.users(), 1u);
}

}  // namespace
}  // namespace blazed::session
