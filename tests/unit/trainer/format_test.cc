#include "client/trainer/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace blazed::trainer {
namespace {

TEST(Format, AnOpenEndOfAnIntervalHasNoNumber) {
  EXPECT_EQ(RangeText(0.039, 0.089), "between 3.9 % and 8.9 %");
  EXPECT_EQ(RangeText(-6.4, 0.089), "at most 8.9 %");
  EXPECT_EQ(RangeText(0.039, 0.8651), "at least 3.9 %");
  EXPECT_EQ(RangeText(0.039, std::numeric_limits<double>::infinity()), "at least 3.9 %");
  EXPECT_EQ(RangeText(std::nan(""), 0.9), "not bounded on either side");
}

TEST(Format, OneIsNoPlural) {
  EXPECT_EQ(Counted(0, "build"), "0 builds");
  EXPECT_EQ(Counted(1, "build"), "1 build");
  EXPECT_EQ(Counted(1234, "pair"), "1,234 pairs");
  EXPECT_EQ(Counted(1, "boundary"), "1 boundary");
  EXPECT_EQ(Counted(2, "boundary"), "2 boundaries");
}

TEST(Format, StepTimesKeepTheDigitsThatMatter) {
  EXPECT_EQ(StepTimeText(412), "412 ns");
  EXPECT_EQ(StepTimeText(9'134), "9.13 us");
  EXPECT_EQ(StepTimeText(913'400), "913 us");
  EXPECT_EQ(StepTimeText(8'412'345), "8.412 ms");
  EXPECT_EQ(StepTimeText(2.1e9), "2.100 s");
  EXPECT_EQ(StepTimeText(0), "-");
  EXPECT_EQ(StepTimeText(std::nan("")), "-");
}

TEST(Format, DurationsReadAsPeopleSayThem) {
  EXPECT_EQ(SecondsText(0), "0 ms");
  EXPECT_EQ(SecondsText(0.0421), "42 ms");
  EXPECT_EQ(SecondsText(0.42), "0.4 s");
  EXPECT_EQ(SecondsText(9.96), "10 s");
  EXPECT_EQ(SecondsText(119.6), "2 min 0 s");
  EXPECT_EQ(SecondsText(252), "4 min 12 s");
  EXPECT_EQ(SecondsText(7500), "2 h 5 min");
  EXPECT_EQ(SecondsText(-3), "0 ms");
  EXPECT_EQ(SecondsText(std::numeric_limits<double>::infinity()), "-");
}

TEST(Format, CountsCarryCommas) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1000), "1,000");
  EXPECT_EQ(CountText(-1234567), "-1,234,567");
  EXPECT_EQ(CountText(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Format, PercentsNeverHideASmallDifferenceBehindZero) {
  EXPECT_EQ(PercentText(0.0582), "5.8 %");
  EXPECT_EQ(PercentText(0.0004), "0.04 %");
  EXPECT_EQ(PercentText(-0.031, Sign::kSigned), "-3.1 %");
  EXPECT_EQ(PercentText(0.031, Sign::kSigned), "+3.1 %");
  EXPECT_EQ(PercentText(-0.0000001), "0.00 %");
}

TEST(Format, FittedTextNeverExceedsItsColumnsNorSteersATerminal) {
  EXPECT_EQ(Fit("abc", 3), "abc");
  EXPECT_EQ(Fit("abcd", 3), "ab~");
  EXPECT_EQ(Fit("a\x1b[2J", 10), "a?[2J");
  EXPECT_EQ(Fit("\xC3\xA4\xC3\xB6\xC3\xBC", 3), "\xC3\xA4\xC3\xB6\xC3\xBC");
  EXPECT_EQ(Fit("\xC3\xA4\xC3\xB6\xC3\xBC", 2), "\xC3\xA4~");
  EXPECT_EQ(Fit("abc", 0), "");
}

TEST(Format, PaddingCountsCharactersNotBytes) {
  EXPECT_EQ(Pad("\xC3\xA4", 3), "\xC3\xA4  ");
  EXPECT_EQ(Pad("7", 3, Align::kRight), "  7");
}

TEST(Format, WrapsBetweenWordsAndBreaksWhatIsLongerThanALine) {
  EXPECT_EQ(Wrap("one two three", 8, "> "), "> one two\n> three\n");
  EXPECT_EQ(Wrap("abcdefghijkl", 8, ""), "abcdefgh\nijkl\n");
  EXPECT_EQ(Wrap("", 8, ">"), ">\n");
}

}  // namespace
}  // namespace blazed::trainer
