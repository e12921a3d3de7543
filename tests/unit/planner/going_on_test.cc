// A job that goes on for long behind a settlement pays for builds that did not pay before.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/unit/planner/settled_job.h"

namespace blazed::planner {
namespace {

const std::vector<double> kOthers = {0.06, -0.08, 0.05, -0.06, 0.04};

struct Job {
  explicit Job(uint64_t seed, const std::vector<double>& others = kOthers, TuningConfig config = {})
      : table(LaunchAndChoices(others)), host(&table, Dear(), config, {}, seed) {
    session = host.Attach("job", Mode::kTune, "cpu0");
    host.RunUntilEnd(session, 200000);
  }
  static sim::HostSettings Dear() {
    sim::HostSettings settings;
    settings.step_ns = 10e6;
    settings.build_steps = 1000;
    return settings;
  }
  size_t Settlements() const {
    return static_cast<size_t>(
        std::count_if(host.actions().begin(), host.actions().end(),
                      [](const Action& a) { return std::holds_alternative<Settle>(a); }));
  }
  // Serves until the search goes on, and keeps it waiting for a build. A host that answers does all
  // of it within one step of service.
  bool StopsWhereItGoesOn() {
    host.bend = [](EventBody& body) { return !std::holds_alternative<VariantBuilt>(body); };
    for (int i = 0; i < 4000 && !GoesOn(); ++i) host.Serve(session, 256);
    host.bend = nullptr;
    return GoesOn();
  }
  bool GoesOn() { return host.tuning().phase(session) == Phase::kSearch; }
  double Saves() const { return host.settlement() ? host.settlement()->gain.estimate : 0; }

  sim::CostTable table;
  sim::Host host;
  SessionId session = 0;
};

bool Is(const std::optional<SettlementRecord>& settlement, SettlementKind kind) {
  return settlement && settlement->kind == kind;
}

TEST(GoingOn, ALongJobSettlesWhatAShortOneCouldNotPayFor) {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    Job job(seed);
    ASSERT_TRUE(Is(job.host.settlement(), SettlementKind::kInJob)) << "seed " << seed;
    const Plan first = job.host.settlement()->plan;
    const double saved = job.Saves();
    job.host.Serve(job.session, 400000);
    EXPECT_GT(job.Settlements(), 1u) << "seed " << seed;
    EXPECT_GT(job.Saves(), saved + 0.02) << "seed " << seed;
    EXPECT_NE(job.host.settlement()->plan, first) << "seed " << seed;
    EXPECT_EQ(job.host.in_use(job.session), job.host.settlement()->plan) << "seed " << seed;
    EXPECT_EQ(job.host.demotions(), 0u) << "seed " << seed;
  }
}

// The window is of one search and not of the job's life; what all of them cost is one account.
TEST(GoingOn, EachSearchHasAWindowOfItsOwnAndTheAccountGoesOn) {
  TuningConfig config;
  config.max_window = std::chrono::seconds(120);
  Job job(1, kOthers, config);
  ASSERT_TRUE(Is(job.host.settlement(), SettlementKind::kInJob));
  const CostRecord first = job.host.outcome(job.session)->cost;
  job.host.Serve(job.session, 600000);
  ASSERT_GT(job.Settlements(), 1u);
  const CostRecord last = job.host.outcome(job.session)->cost;
  EXPECT_EQ(last.builds, job.host.builds());
  EXPECT_GT(last.builds, first.builds + 1);
  EXPECT_GT(last.search_pairs, first.search_pairs);
  EXPECT_GT(last.window, first.window);
}

// Nothing but pairs of the plan in use with itself, as long as no build pays; and ever more seldom.
TEST(GoingOn, LooksAreFewAndCostNoStepWhereNoBuildPays) {
  Job job(5, {0.02, 0.03});
  ASSERT_TRUE(Is(job.host.settlement(), SettlementKind::kInJob));
  const uint64_t builds = job.host.builds();
  const size_t actions = job.host.actions().size();
  job.host.Serve(job.session, 12000);
  EXPECT_EQ(job.host.builds(), builds);
  size_t noise = 0;
  for (size_t i = actions; i < job.host.actions().size(); ++i) {
    const auto* run = std::get_if<RunPairs>(&job.host.actions()[i]);
    if (run != nullptr && run->champion == run->challenger) noise += run->challenger_first.size();
  }
  EXPECT_LE(noise, 100u);
}

TEST(GoingOn, WhatIsSettledStaysInForceForOthersMeanwhile) {
  Job job(2);
  ASSERT_TRUE(Is(job.host.settlement(), SettlementKind::kInJob));
  ASSERT_TRUE(job.StopsWhereItGoesOn());
  const SessionId other = job.host.Attach("other", Mode::kTune, "cpu1");
  job.host.RunUntilEnd(other, 20000);
  EXPECT_TRUE(job.host.settled(other)) << "it is served, and does not wait for the search";
  EXPECT_FALSE(job.host.in_use(other).empty());
}

TEST(GoingOn, ALaterJobGoesOnFromWhatAnEarlierOneSettled) {
  Job job(1);
  ASSERT_TRUE(Is(job.host.settlement(), SettlementKind::kInJob));
  const double saved = job.Saves();
  job.host.Detach(job.session);
  job.host.RestartDaemon(sim::Restart::kStopped);
  const SessionId later = job.host.Attach("later");
  job.host.RunUntilEnd(later, 20000);
  ASSERT_EQ(job.host.in_use(later), job.host.settlement()->plan);
  job.host.Serve(later, 400000);
  EXPECT_GT(job.Saves(), saved + 0.02);
  EXPECT_EQ(job.host.in_use(later), job.host.settlement()->plan);
}

TEST(GoingOn, AJobThatIsKilledMeanwhileLosesNothing) {
  Job job(3);
  ASSERT_TRUE(Is(job.host.settlement(), SettlementKind::kInJob));
  const Plan plan = job.host.settlement()->plan;
  const size_t settled = job.Settlements();
  ASSERT_TRUE(job.StopsWhereItGoesOn());
  ASSERT_EQ(job.Settlements(), settled);
  const auto outcome = job.host.outcome(job.session);
  job.host.Detach(job.session);
  EXPECT_EQ(job.host.outcome(job.session)->outcome, outcome->outcome);
  const SessionId next = job.host.Attach("next");
  job.host.RunUntilEnd(next, 20000);
  EXPECT_EQ(job.host.in_use(next), plan);
}

TEST(GoingOn, WrongNumbersOfWhatIsSettledDemoteItMeanwhile) {
  Job job(4);
  ASSERT_TRUE(Is(job.host.settlement(), SettlementKind::kInJob));
  const Plan plan = job.host.settlement()->plan;
  job.host.bend = [&](EventBody& body) {
    auto* probe = std::get_if<ProbeDone>(&body);
    if (probe == nullptr || !job.GoesOn()) return true;
    probe->summary.equivalence = Equivalence::kRejectedDifferent;
    probe->summary.mismatches = probe->summary.elements = 100;
    return true;
  };
  job.host.Serve(job.session, 200000);
  EXPECT_NE(job.host.in_use(job.session), plan);
  EXPECT_GE(job.host.demotions(), 1u);
}

// The noise of a first minute is no reason to leave a job of days alone.
TEST(GoingOn, ASearchThatEndedForNoiseLooksAgainInTheQuiet) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01});
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    sim::Host host(&table, {}, {}, {}, seed);
    Random noise(seed);
    bool loud = true;
    host.bend = [&](EventBody& body) {
      auto* done = std::get_if<LeaseDone>(&body);
      if (done == nullptr || !loud) return true;
      for (UnitTime& unit : done->units) {
        unit.host_ns = static_cast<uint64_t>(static_cast<double>(unit.host_ns) *
                                             std::exp(3 * noise.Uniform()));
      }
      return true;
    };
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 50000));
    ASSERT_TRUE(host.outcome(s)->reason.starts_with("too noisy")) << host.outcome(s)->reason;
    const size_t leases = host.events().size();
    host.Serve(s, 3000);
    EXPECT_LT(host.events().size(), leases + 100) << "it looks again as soon as that";
    loud = false;
    host.Serve(s, 100000);
    EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled) << host.outcome(s)->reason;
    EXPECT_TRUE(HasGood(host.in_use(s))) << "seed " << seed;
  }
}

// Nor is one in which it was starved: its leases come back with nothing in them.
TEST(GoingOn, ASearchThatEndedInAStarvedJobLooksAgain) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01});
  sim::Host host(&table, {}, {}, {}, 3);
  bool starved = true;
  host.bend = [&](EventBody& body) {
    auto* done = std::get_if<LeaseDone>(&body);
    if (done == nullptr || !starved) return true;
    done->units.clear();
    done->complete = false;
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  ASSERT_EQ(host.outcome(s)->reason, "a lease brought no pair");
  starved = false;
  host.Serve(s, 100000);
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled) << host.outcome(s)->reason;
  EXPECT_TRUE(HasGood(host.in_use(s)));
}

// Only what passes is waited for: a search whose builds all fail stays ended, also in a job that
// had settled before and was demoted.
TEST(GoingOn, ASearchThatEndedForAnythingElseStaysEnded) {
  Job job(4);
  ASSERT_TRUE(Is(job.host.settlement(), SettlementKind::kInJob));
  job.host.bend = [](EventBody& body) {
    if (auto* probe = std::get_if<ProbeDone>(&body)) {
      probe->summary.equivalence = Equivalence::kRejectedDifferent;
      probe->summary.mismatches = probe->summary.elements = 100;
    }
    if (auto* built = std::get_if<VariantBuilt>(&body)) built->status = BuildStatus::kFailed;
    return true;
  };
  job.host.Serve(job.session, 200000);
  ASSERT_GE(job.host.demotions(), 1u);
  job.host.RunUntilEnd(job.session, 200000);
  ASSERT_EQ(job.host.outcome(job.session)->outcome, Outcome::kUndecided);
  job.host.Serve(job.session, 2000000);
  for (const Action& action : job.host.actions()) {
    const auto* report = std::get_if<ReportProgress>(&action);
    EXPECT_FALSE(report != nullptr && report->note.starts_with("looks again"));
  }
}

TEST(GoingOn, NothingIsAskedOfAJobThatIsPinned) {
  Job job(2);
  const SessionId pinned = job.host.Attach("pinned", Mode::kPinned, "cpu1");
  job.host.RunUntilEnd(pinned, 20000);
  const Plan in_use = job.host.in_use(pinned);
  job.host.Detach(job.session);
  const uint64_t builds = job.host.builds();
  job.host.Serve(pinned, 400000);
  EXPECT_EQ(job.host.builds(), builds);
  EXPECT_EQ(job.host.in_use(pinned), in_use);
}

}  // namespace
}  // namespace blazed::planner
