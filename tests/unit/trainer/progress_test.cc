#include "client/trainer/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "client/trainer/format.h"

namespace blazed::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ProgressSnapshot Searching() {
  ProgressSnapshot snapshot;
  snapshot.steps = 1240;
  snapshot.most_steps = 6000;
  snapshot.step_ns = 8.31e6;
  snapshot.loss = 2.9134;
  snapshot.phase = "search";
  snapshot.tuning = true;
  snapshot.candidates = 14;
  snapshot.dropped = 9;
  snapshot.races = 4;
  snapshot.pairs = 1212;
  snapshot.builds = 6;
  snapshot.gain = 0.031;
  snapshot.provisional = true;
  snapshot.window = absl::Seconds(12);
  snapshot.spent_building = absl::Milliseconds(1200);
  snapshot.forecast_window = absl::Seconds(35);
  snapshot.forecast_builds = 12;
  snapshot.forecast_resolvable = 0.011;
  snapshot.forecast_based_on = "32 pairs, cut to the job's own limit";
  return snapshot;
}

struct Screen {
  std::vector<std::string> writes;
  Progress Make(Display display, int columns = 80) {
    return Progress(
        display, [this](absl::string_view text) { writes.emplace_back(text); },
        [columns] { return columns; });
  }
};

TEST(Progress, SaysStepsLossPhaseCandidatesDroppedRacesTimeForecastAndGain) {
  EXPECT_EQ(
      ProgressLine(absl::Seconds(12), Searching()),
      "       12 s  step 1,240 of at most 6,000, 8.310 ms a step, loss 2.913 | search: 14 "
      "candidates, "
      "9 dropped, 4 races, 1,212 pairs, saves 3.1 % (provisional), spent 12 s of 35 s forecast");
  EXPECT_THAT(
      ProgressLines(absl::Seconds(12), Searching()),
      ElementsAre("training  12 s  step 1,240 of at most 6,000, 8.310 ms a step, loss 2.913",
                  "tuning    search: 14 candidates, 9 dropped, 4 races, 1,212 pairs, saves 3.1 % "
                  "(provisional)",
                  "spent     12 s (6 builds 1.2 s, probes 0 ms, regret 0 ms), forecast 35 s and 12 "
                  "builds, resolves 1.1 %, from 32 pairs, cut to the job's own limit",
                  "          "));
}

TEST(Progress, ASavingThatIsSettledIsNotProvisional) {
  ProgressSnapshot snapshot = Searching();
  snapshot.phase = "settled";
  snapshot.provisional = false;
  EXPECT_THAT(ProgressLine(absl::Seconds(12), snapshot), HasSubstr("pairs, saves 3.1 %, spent"));
}

TEST(Progress, OneIsNoPlural) {
  ProgressSnapshot snapshot = Searching();
  snapshot.races = 1;
  snapshot.pairs = 1;
  snapshot.builds = 1;
  snapshot.forecast_builds = 1;
  const auto lines = ProgressLines(absl::Seconds(12), snapshot);
  EXPECT_THAT(lines[1], HasSubstr("1 race, 1 pair,"));
  EXPECT_THAT(lines[2], HasSubstr("(1 build 1.2 s"));
  EXPECT_THAT(lines[2], HasSubstr("and 1 build, resolves"));
}

TEST(Progress, SaysWhyNothingIsExploredAtOnce) {
  Screen screen;
  Progress progress = screen.Make(Display::kPlain);
  ProgressSnapshot snapshot = Searching();
  snapshot.note = "not of interest while it searches";
  progress.Update(absl::ZeroDuration(), snapshot);
  EXPECT_THAT(screen.writes.back(), Not(HasSubstr("not of interest")));
  snapshot.phase = "waiting";
  snapshot.idle = true;
  snapshot.note = "another workload explores";
  progress.Update(absl::Milliseconds(100), snapshot);
  EXPECT_THAT(screen.writes.back(), HasSubstr("; another workload explores\n"));
  snapshot.note = "an operator has paused blazed";
  progress.Update(absl::Milliseconds(200), snapshot);
  EXPECT_THAT(screen.writes.back(), HasSubstr("; an operator has paused blazed\n"));
}

TEST(Progress, PlainOutputIsOneLineEveryTwoSecondsAndAtEveryChangeOfPhase) {
  Screen screen;
  Progress progress = screen.Make(Display::kPlain);
  ProgressSnapshot snapshot = Searching();
  for (int ms = 0; ms < 4000; ms += 50) {
    if (ms == 3000) snapshot.phase = "verify";
    const absl::Duration now = absl::Milliseconds(ms);
    if (progress.Due(now)) progress.Update(now, snapshot);
  }
  ASSERT_EQ(screen.writes.size(), 3u);  // at 0 s, 2 s and 3 s
  EXPECT_THAT(screen.writes[2], HasSubstr("verify"));
  for (const std::string& line : screen.writes) {
    EXPECT_THAT(line, Not(HasSubstr("\x1b")));
    EXPECT_EQ(line.back(), '\n');
  }
}

TEST(Progress, LiveOutputIsRedrawnAtMostTenTimesASecondInOneWriteEach) {
  Screen screen;
  Progress progress = screen.Make(Display::kLive);
  for (int ms = 0; ms < 1000; ++ms) {
    const absl::Duration now = absl::Milliseconds(ms);
    if (progress.Due(now)) progress.Update(now, Searching());
  }
  EXPECT_EQ(screen.writes.size(), 10u);
  EXPECT_THAT(screen.writes[0], Not(StartsWith("\x1b[4A")));
  EXPECT_THAT(screen.writes[1], StartsWith("\x1b[4A\r"));
}

TEST(Progress, NoLiveLineReachesTheTerminalsEdge) {
  Screen screen;
  Progress progress = screen.Make(Display::kLive, 40);
  ProgressSnapshot snapshot = Searching();
  snapshot.note = std::string(300, 'n');
  progress.Update(absl::ZeroDuration(), snapshot);
  for (absl::string_view line : absl::StrSplit(screen.writes[0], '\n')) {
    EXPECT_LE(TextColumns(line.substr(0, line.find('\x1b'))), 39) << line;
  }
}

TEST(Progress, WhatIsSaidStaysAboveTheLiveLines) {
  Screen screen;
  Progress progress = screen.Make(Display::kLive);
  progress.Update(absl::ZeroDuration(), Searching());
  progress.Say("the daemon went away");
  EXPECT_THAT(screen.writes[1], StartsWith("\x1b[4A\rthe daemon went away\x1b[K\ntraining"));
}

TEST(Progress, NothingIsDrawnAfterTheEnd) {
  Screen screen;
  Progress progress = screen.Make(Display::kPlain);
  progress.Finish(absl::Seconds(1), Searching());
  progress.Update(absl::Seconds(9), Searching());
  progress.Finish(absl::Seconds(9), Searching());
  EXPECT_EQ(screen.writes.size(), 1u);
}

TEST(Progress, AJobThatTunesNothingShowsTrainingAlone) {
  ProgressSnapshot snapshot = Searching();
  snapshot.tuning = false;
  EXPECT_EQ(ProgressLines(absl::ZeroDuration(), snapshot).size(), 1u);
  EXPECT_THAT(ProgressLine(absl::ZeroDuration(), snapshot), Not(HasSubstr("|")));
}

}  // namespace
}  // namespace blazed::trainer
