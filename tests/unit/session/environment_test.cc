#include "daemon/session/environment.h"

#include <gtest/gtest.h>

#include "daemon/base/ids.h"

namespace blazed::session {
namespace {

TEST(Environment, HasTheShimsAndTheMachinesFields) {
  const auto row = MakeEnvironment({{"host", "x 1"}}, {{"cpu_cores", "2"}});
  EXPECT_EQ(row.fields,
            (std::map<std::string, std::string>{{"host", "x 1"}, {"machine.cpu_cores", "2"}}));
}

TEST(Environment, AShimCannotSpeakForTheMachine) {
  const auto row =
      MakeEnvironment({{"machine.cpu_cores", "64"}, {"machine.x", "y"}}, {{"cpu_cores", "2"}});
  EXPECT_EQ(row.fields, (std::map<std::string, std::string>{{"machine.cpu_cores", "2"}}));
}

TEST(Environment, EveryFieldCounts) {
  const auto base = MakeEnvironment({{"a", "b"}}, {});
  EXPECT_EQ(base.fingerprint, MakeEnvironment({{"a", "b"}}, {}).fingerprint);
  EXPECT_NE(base.fingerprint, MakeEnvironment({{"a", "c"}}, {}).fingerprint);
  EXPECT_NE(base.fingerprint, MakeEnvironment({{"ab", ""}}, {}).fingerprint);
  EXPECT_NE(base.fingerprint, MakeEnvironment({{"a", "b"}}, {{"x", "y"}}).fingerprint);
}

// Stores of every machine and version hold these.
TEST(Environment, ItsFingerprintNeverChanges) {
  EXPECT_EQ(ToHex(MakeEnvironment({{"a", "b"}}, {{"c", "d"}}).fingerprint),
            "5a872bb64d01097e0c4e2c6d3f58efeb");
}

}  // namespace
}  // namespace blazed::session
