#include "daemon/base/log.h"

#include <gtest/gtest.h>

namespace blazed::log {
namespace {

TEST(Log, WritesOneLogfmtLine) {
  EXPECT_EQ(
      FormatLine(Level::kInfo, "session opened", {{field::kSession, 4}, {field::kJob, "a b"}}),
      "level=info msg=\"session opened\" session=4 job=\"a b\"");
}

TEST(Log, NoValueForgesALine) {
  const std::string line = FormatLine(Level::kInfo, "x", {{field::kJob, "a\nlevel=error \"b\\"}});
  EXPECT_EQ(line, "level=info msg=x job=\"a\\x0alevel=error \\\"b\\\\\"");
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(Log, LeavesOutLinesBelowItsLevel) {
  Capture capture;
  SetLevel(Level::kWarning);
  Info("quiet");
  Warning("loud", {{field::kCount, 2}});
  SetLevel(Level::kInfo);
  EXPECT_FALSE(capture.Has({"quiet"}));
  EXPECT_TRUE(capture.Has({"level=warning", "msg=loud", "count=2"}));
}

TEST(Log, KnowsItsLevelsByName) {
  Level level = Level::kInfo;
  EXPECT_TRUE(ParseLevel("error", &level));
  EXPECT_EQ(level, Level::kError);
  EXPECT_FALSE(ParseLevel("loud", &level));
}

}  // namespace
}  // namespace blazed::log
