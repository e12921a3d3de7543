#include "client/trainer/report/interval_plot.h"

#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_split.h"
#include "client/trainer/format.h"

namespace blazed::trainer {
namespace {

TEST(IntervalPlot, ShowsTheDefaultAtZeroAndTheChampionsInterval) {
  EXPECT_EQ(IntervalPlot({0.0584, 0.049, 0.067}, 60, "  "),
            "  default   |\n"
            "  champion  |                             [-----*----]\n"
            "            +-----------+-----------+------------+----------\n"
            "            0 %         2 %         4 %          6 %\n");
}

TEST(IntervalPlot, AnIntervalAcrossZeroShowsBothSides) {
  const std::string plot = IntervalPlot({0.01, -0.01, 0.03}, 60, "");
  const std::vector<std::string> lines = absl::StrSplit(plot, '\n');
  EXPECT_GT(lines[0].find('|'), lines[1].find('['));
  EXPECT_LT(lines[0].find('|'), lines[1].find(']'));
}

TEST(IntervalPlot, AnOpenEndRunsOffAndLeavesTheRestItsRoom) {
  for (const double open : {-6.4, -std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(IntervalPlot({0.02, open, 0.04}, 60, ""),
              "default                                |\n"
              "champion    <---------------------------------*------]\n"
              "          ------------+----------------+----------------+---\n"
              "                      -5 %             0 %              5 %\n")
        << open;
  }
  EXPECT_NE(IntervalPlot({0.02, 0.01, INFINITY}, 60, "").find('>'), std::string::npos);
}

TEST(IntervalPlot, NoLineIsWiderThanAsked) {
  for (const double size : {1e-4, 0.003, 0.07, 0.9}) {
    for (int columns = 60; columns < 120; columns += 7) {
      for (const absl::string_view line :
           absl::StrSplit(IntervalPlot({size, size / 2, size * 1.5}, columns, "  "), '\n')) {
        EXPECT_LE(TextColumns(line), columns) << line;
      }
    }
  }
}

TEST(IntervalPlot, NothingToShowIsNothing) {
  EXPECT_EQ(IntervalPlot({0, 0, 0}, 60, ""), "");
  EXPECT_EQ(IntervalPlot({NAN, NAN, NAN}, 60, ""), "");
}

}  // namespace
}  // namespace blazed::trainer
