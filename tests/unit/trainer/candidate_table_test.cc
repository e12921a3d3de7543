#include "client/trainer/report/candidate_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/trainer/format.h"

namespace blazed::trainer {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<Candidate> Many(int count) {
  std::vector<Candidate> out = {{"winner=cut", "s", "champion", "beat the default", 900}};
  for (int i = 0; i < count; ++i) {
    out.push_back({absl::StrCat("decision ", i, "=cut"), "s", i % 3 == 0 ? "lost" : "duplicate",
                   absl::StrCat("reason ", i, " with some words that go on and on for a while"),
                   i});
  }
  return out;
}

TEST(CandidateTable, CountsComeFirstInTheOrderOfWhatTheyTell) {
  EXPECT_EQ(CandidateCounts(Many(6)), "7 candidates: 1 champion, 2 lost, 4 duplicate");
  EXPECT_EQ(CandidateCounts({{"a=cut", "", "not_honoured", "", 0}}), "1 candidate: 1 not honoured");
}

TEST(CandidateTable, EveryCandidateHasARowWithVerdictAndReasonWhenTheyAreFew) {
  const std::string table = CandidateTable(Many(30), 120);
  for (int i = 0; i < 30; ++i) EXPECT_THAT(table, HasSubstr(absl::StrCat("reason ", i, " ")));
  EXPECT_LT(table.find("beat the default"), table.find("lost"));
}

TEST(CandidateTable, HundredsAreFoldedByVerdictAndTheRestIsCounted) {
  const std::string table = CandidateTable(Many(300), 100);
  EXPECT_THAT(table, HasSubstr("and 88 more"));   // 100 lost
  EXPECT_THAT(table, HasSubstr("and 188 more"));  // 200 duplicates
  EXPECT_THAT(table, HasSubstr("beat the default"));
  EXPECT_THAT(table, HasSubstr("decision 297=cut"));  // the longest measured loser
  EXPECT_THAT(table, Not(HasSubstr("decision 3=cut")));
  EXPECT_LT(std::count(table.begin(), table.end(), '\n'), 70);
}

TEST(CandidateTable, NoLineIsWiderThanTheTerminal) {
  for (int columns = 60; columns <= 160; columns += 20) {
    for (absl::string_view line : absl::StrSplit(CandidateTable(Many(60), columns), '\n')) {
      EXPECT_LE(TextColumns(line), columns) << line;
    }
  }
}

TEST(CandidateTable, AVerdictFromALaterVersionIsShownLast) {
  std::vector<Candidate> candidates = Many(2);
  candidates.push_back({"x=cut", "", "from_the_future", "why", 0});
  const std::string counts = CandidateCounts(candidates);
  EXPECT_THAT(counts, testing::EndsWith("1 from the future"));
}

}  // namespace
}  // namespace blazed::trainer
