#include "client/blazectl/text.h"

#include <gtest/gtest.h>

#include <limits>

#include "blazed/v1/reason.pb.h"
#include "client/blazectl/enum_text.h"

namespace blazed::blazectl {
namespace {

TEST(Text, WritesDurationsWithThreeDigitsInTheUnitOfTheirSize) {
  EXPECT_EQ(DurationText(0), "0 ns");
  EXPECT_EQ(DurationText(850), "850 ns");
  EXPECT_EQ(DurationText(999.6), "1.00 us");
  EXPECT_EQ(DurationText(21.44e6), "21.4 ms");
  EXPECT_EQ(DurationText(3.2e9), "3.20 s");
  EXPECT_EQ(DurationText(250e9), "4 min 10 s");
  EXPECT_EQ(DurationText(7500e9), "2 h 5 min");
  EXPECT_EQ(DurationText(1e30), "ages");
  EXPECT_EQ(DurationText(std::numeric_limits<double>::infinity()), "-");
}

TEST(Text, WritesBytesInBinaryUnits) {
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1024), "1.00 KiB");
  EXPECT_EQ(BytesText(33030144), "31.5 MiB");
  EXPECT_EQ(BytesText(std::numeric_limits<uint64_t>::max()), "16.0 EiB");
}

TEST(Text, WritesSmallSharesWithTwoDigits) {
  EXPECT_EQ(PercentText(0.1234), "12.3 %");
  EXPECT_EQ(PercentText(0.0004), "0.04 %");
  EXPECT_EQ(PercentText(-0.031), "-3.1 %");
  EXPECT_EQ(PercentText(std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(Text, SaysHowLongAgo) {
  const absl::Time now = absl::FromUnixSeconds(1'000'000);
  EXPECT_EQ(AgoText(0, now), "");
  EXPECT_EQ(AgoText(absl::ToUnixNanos(now), now), "just now");
  EXPECT_EQ(AgoText(absl::ToUnixNanos(now - absl::Seconds(14)), now), "14 s ago");
  EXPECT_EQ(AgoText(absl::ToUnixNanos(now - absl::Hours(72)), now), "3 d ago");
  EXPECT_EQ(AgoText(absl::ToUnixNanos(now + absl::Hours(1)), now), "just now");
}

TEST(Text, KeepsTerminalCommandsOutOfClientTexts) {
  EXPECT_EQ(Clean("job\x1b[2J\n\x7f"), "job?[2J??");
  EXPECT_EQ(Clean("a\xC2\x9B"
                  "b"),
            "a??b");
  EXPECT_EQ(Clean("größe, 数, 😀"), "größe, 数, 😀");
}

TEST(Text, WhatTurnsOrHidesTextIsMadeVisible) {
  EXPECT_EQ(Clean("a\u202Egnp.exe"), "a???gnp.exe");
  for (const char* hidden :
       {"\u200B", "\u200F", "\u2028", "\u2066", "\u2069", "\uFEFF", "\u061C"}) {
    EXPECT_EQ(Clean(hidden).find_first_not_of('?'), std::string::npos) << hidden;
  }
  EXPECT_EQ(Clean("\U000E0041"), "????");
}

TEST(Text, BytesThatAreNoUtf8AreMadeVisible) {
  EXPECT_EQ(Clean("caf\xE9"), "caf?");
  EXPECT_EQ(Clean("\xC0\xAF"), "??") << "longer than it need be";
  EXPECT_EQ(Clean("\xED\xA0\x80"), "???") << "half of a pair";
  EXPECT_EQ(Clean("\xE2\x80"), "??") << "cut off";
  EXPECT_EQ(Clean("\x80z\xFF"), "?z?");
}

TEST(Text, ShortensByColumnsAndNotInsideACharacter) {
  EXPECT_EQ(Shortened("größenwahn", 10), "größenwahn");
  EXPECT_EQ(Shortened("größenwahn", 7), "größ...");
  EXPECT_EQ(Shortened("abcdef", 2), "..");
}

TEST(EnumText, DropsTheTypesPrefix) {
  EXPECT_EQ(Word(v1::VERDICT_REJECTED_BROKEN), "rejected broken");
  EXPECT_EQ(Word(v1::SETTLEMENT_KIND_IN_JOB), "in job");
  EXPECT_EQ(Word(v1::VERDICT_UNSPECIFIED), "-");
  EXPECT_EQ(EnumWord(v1::Verdict_descriptor(), v1::VERDICT_NOT_HONOURED, Joint::kUnderscore),
            "not_honoured");
}

TEST(EnumText, WritesAValueOfALaterVersionAsItsNumber) {
  EXPECT_EQ(EnumWord(v1::Verdict_descriptor(), 999, Joint::kBlank), "999");
}

}  // namespace
}  // namespace blazed::blazectl
