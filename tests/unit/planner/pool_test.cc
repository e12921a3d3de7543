// Several jobs of one workload: who gives pairs to whose races, and what becomes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "client/sim/host.h"
#include "daemon/planner/space.h"
#include "daemon/planner/surrogate.h"

namespace blazed::planner {
namespace {

constexpr uint64_t kLong = 60000;

const Plan kWinner = {{1, 1}};

sim::CostTable OneGoodOption() { return sim::CostTable({0.02, -0.02, 0.02, 0.01}); }

// Jobs of one workload, each on a device of its own.
struct Jobs {
  explicit Jobs(size_t count, uint64_t seed = 1, TuningConfig config = {}, bool one_device = false)
      : table(OneGoodOption()), host(&table, {}, config, {}, seed) {
    for (size_t j = 0; j < count; ++j) {
      const std::string number = std::to_string(j);
      ids.push_back(
          host.Attach("job " + number, Mode::kTune, "GPU-" + (one_device ? "0" : number)));
    }
  }
  bool Run() { return host.RunUntilEnd(ids[0], kLong); }

  sim::CostTable table;
  sim::Host host;
  std::vector<SessionId> ids;
};

template <class A>
std::vector<A> ActionsOf(const sim::Host& host) {
  std::vector<A> found;
  for (const Action& action : host.actions()) {
    if (const auto* a = std::get_if<A>(&action)) found.push_back(*a);
  }
  return found;
}

// Pairs lent to a session for races: a noise lease has one plan in it.
// Up to the settlement: behind it a job may replicate for itself.
uint64_t LentTo(const sim::Host& host, SessionId session) {
  uint64_t pairs = 0;
  for (const Action& action : host.actions()) {
    if (std::holds_alternative<Settle>(action)) break;
    const auto* run = std::get_if<RunPairs>(&action);
    if (run == nullptr || run->session != session || run->champion == run->challenger) continue;
    pairs += run->challenger_first.size();
  }
  return pairs;
}

std::map<SessionId, uint64_t> GiversOf(const RaceRecord& race) {
  std::map<SessionId, uint64_t> givers;
  for (const PairSample& pair : race.pairs) {
    ++givers[pair.session == 0 ? race.session : pair.session];
  }
  return givers;
}

// Whether every one of them was lent pairs of the race that is open.
bool AllRace(const sim::Host& host, const std::vector<SessionId>& sessions) {
  std::set<SessionId> lent;
  for (const Action& action : host.actions()) {
    if (std::holds_alternative<KeepRace>(action)) lent.clear();
    const auto* run = std::get_if<RunPairs>(&action);
    if (run != nullptr && run->champion != run->challenger) lent.insert(run->session);
  }
  return std::all_of(sessions.begin(), sessions.end(),
                     [&](SessionId id) { return lent.contains(id); });
}

bool RunUntilAllRace(Jobs& jobs, const std::vector<SessionId>& sessions) {
  for (uint64_t i = 0; i < kLong; ++i) {
    if (AllRace(jobs.host, sessions)) return true;
    if (jobs.host.RunUntilEnd(jobs.ids[0], 1)) return false;
  }
  return false;
}

TEST(Pool, JobsOnOtherDevicesGivePairsToTheRacesOfTheOneThatExplores) {
  std::set<RaceKind> shared;
  for (uint64_t seed = 1; seed <= 12; ++seed) {  // a short race may end before all were asked
    Jobs jobs(3, seed);
    ASSERT_TRUE(jobs.Run());
    EXPECT_LT(jobs.table.LogCost(jobs.host.in_use(jobs.ids[0])), -0.005) << seed;
    for (const RaceRecord& race : jobs.host.races()) {
      EXPECT_EQ(race.session, jobs.ids[0]) << "one session explores; seed " << seed;
      if (GiversOf(race).size() == 3) shared.insert(race.kind);
    }
  }
  EXPECT_TRUE(shared.contains(RaceKind::kSearch));
  EXPECT_TRUE(shared.contains(RaceKind::kVerification));
  EXPECT_TRUE(shared.contains(RaceKind::kReplication));
}

TEST(Pool, OneDeviceMeasuresOneJobAtATime) {
  Jobs jobs(3, 1, {}, true);
  ASSERT_TRUE(jobs.Run());
  EXPECT_EQ(LentTo(jobs.host, jobs.ids[1]) + LentTo(jobs.host, jobs.ids[2]), 0u);
}

TEST(Pool, OneDeviceMeasuresSeveralWhereTheConfigurationSaysSo) {
  TuningConfig config;
  config.share_device = true;
  Jobs jobs(2, 1, config, true);
  ASSERT_TRUE(jobs.Run());
  EXPECT_GT(LentTo(jobs.host, jobs.ids[1]), 0u);
}

TEST(Pool, AnUnknownDeviceMayBeAnyDevice) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 1);
  const SessionId first = host.Attach("a"), second = host.Attach("b", Mode::kTune, "GPU-1");
  ASSERT_TRUE(host.RunUntilEnd(first, kLong));
  EXPECT_EQ(LentTo(host, second), 0u);
}

TEST(Pool, SessionsOfOneProcessAreOneJob) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 1);
  const SessionId first = host.Attach("a", Mode::kTune, "GPU-0");
  const SessionId second = host.Attach("a", Mode::kTune, "GPU-1");
  ASSERT_TRUE(host.RunUntilEnd(first, kLong));
  EXPECT_EQ(LentTo(host, second), 0u);
}

TEST(Pool, WhoDoesNotTuneGivesNothing) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 1);
  const SessionId first = host.Attach("a", Mode::kTune, "GPU-0");
  const SessionId pinned = host.Attach("b", Mode::kPinned, "GPU-1");
  const SessionId observer = host.Attach("c", Mode::kObserve, "GPU-2");
  ASSERT_TRUE(host.RunUntilEnd(first, kLong));
  EXPECT_EQ(LentTo(host, pinned) + LentTo(host, observer), 0u);
}

TEST(Pool, EveryPairIsOfOneJobAndCountsOnceOrIsLate) {
  Jobs jobs(4);
  std::map<SessionId, uint64_t> answered;
  jobs.host.bend = [&](EventBody& body) {
    if (const auto* done = std::get_if<LeaseDone>(&body)) {
      for (const RunPairs& run : ActionsOf<RunPairs>(jobs.host)) {
        const bool same = run.session == done->session && run.lease == done->lease;
        if (same && run.champion != run.challenger) {
          answered[done->session] += done->units.size() / 2;
        }
      }
    }
    return true;
  };
  for (SessionId id : jobs.ids) ASSERT_TRUE(jobs.host.RunUntilEnd(id, kLong));
  std::map<SessionId, uint64_t> raced;
  for (const RaceRecord& race : jobs.host.races()) {
    for (const auto& [session, pairs] : GiversOf(race)) raced[session] += pairs;
  }
  for (size_t j = 1; j < jobs.ids.size(); ++j) {
    const CostRecord cost = jobs.host.outcome(jobs.ids[j])->cost;
    EXPECT_GT(raced[jobs.ids[j]], 0u);
    EXPECT_EQ(raced[jobs.ids[j]] + cost.late_pairs, answered[jobs.ids[j]]) << "job " << j;
  }
}

TEST(Pool, NoneOfThreeJobsGivesMoreThanHalfOfAWin) {
  uint64_t seen = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Jobs jobs(3, seed);
    ASSERT_TRUE(jobs.Run());
    for (const RaceRecord& race : jobs.host.races()) {
      const auto givers = GiversOf(race);
      if (race.outcome != RaceOutcome::kWon || givers.size() < 3) continue;
      ++seen;
      for (const auto& [session, pairs] : givers) {
        EXPECT_LE(2 * pairs, race.pairs.size()) << "seed " << seed << ", session " << session;
      }
    }
  }
  EXPECT_GE(seen, 6u);
}

TEST(Pool, EachJobBuildsAndProbesForItselfAndAgainForTheRaceThatSettles) {
  Jobs jobs(2);
  ASSERT_TRUE(jobs.Run());
  uint64_t rebuilds = 0;
  for (const BuildVariant& build : ActionsOf<BuildVariant>(jobs.host)) {
    rebuilds += build.session == jobs.ids[1] && build.rebuild_of != 0 ? 1 : 0;
  }
  EXPECT_GE(rebuilds, 1u);
}

TEST(Pool, TheCostOfHelpingIsInTheJobsLedgerAndInTheCampaigns) {
  // Where the second job replicates for itself behind it, the settlement is another one.
  uint64_t seed = 1;
  std::optional<Jobs> first;
  for (; seed <= 12; ++seed) {
    first.emplace(2, seed);
    for (SessionId id : first->ids) ASSERT_TRUE(first->host.RunUntilEnd(id, kLong));
    if (first->host.settlement()->session == first->ids[0]) break;
  }
  ASSERT_LE(seed, 12u);
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  const Jobs& jobs = *first;
  const CostRecord helped = jobs.host.outcome(jobs.ids[1])->cost;
  const CostRecord explored = jobs.host.outcome(jobs.ids[0])->cost;
  const CostRecord campaign = jobs.host.settlement()->cost;
  EXPECT_GT(helped.search_pairs, 0u);
  EXPECT_GT(helped.replication_pairs, 0u);
  EXPECT_GE(helped.builds, 2u);
  const uint64_t all = helped.replication_pairs + helped.search_pairs + explored.replication_pairs +
                       explored.search_pairs;
  // What was under way when it settled came behind the campaign's record.
  EXPECT_LE(campaign.replication_pairs + campaign.search_pairs, all);
  EXPECT_GE(campaign.replication_pairs + campaign.search_pairs + 16, all);
  EXPECT_EQ(campaign.builds, helped.builds + explored.builds);
}

TEST(Pool, SaysWhomAJobHelps) {
  Jobs jobs(2);
  ASSERT_TRUE(jobs.Run());
  std::set<Phase> phases;
  for (const ReportProgress& report : ActionsOf<ReportProgress>(jobs.host)) {
    if (report.session != jobs.ids[1] || report.note != "helps a race of job job 0") continue;
    phases.insert(report.phase);
  }
  EXPECT_TRUE(phases.contains(Phase::kSearch));
  EXPECT_TRUE(phases.contains(Phase::kReplicate));
}

// The shell builds for one that waits without a turn on its device.
TEST(Pool, WhoBuildsForOneThatIsOutOfBudgetIsNotCalledWaiting) {
  int meanwhile = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    TuningConfig config;
    config.budget_allowance = std::chrono::seconds(2);
    Jobs jobs(2, seed, config);
    jobs.host.bend = [&](EventBody& body) {
      auto* done = std::get_if<ProbeDone>(&body);
      if (done != nullptr && done->session == jobs.ids[0]) done->probe_ns *= 10;
      return true;
    };
    jobs.host.RunUntilEnd(jobs.ids[0], 20000);
    std::map<SessionId, Phase> phases;
    for (const Action& action : jobs.host.actions()) {
      if (std::holds_alternative<Settle>(action)) break;
      const auto* report = std::get_if<ReportProgress>(&action);
      if (report != nullptr) phases[report->session] = report->phase;
      const auto* build = std::get_if<BuildVariant>(&action);
      if (build == nullptr || build->session != jobs.ids[1]) continue;
      EXPECT_NE(phases[jobs.ids[1]], Phase::kWaiting) << "seed " << seed;
      meanwhile += phases[jobs.ids[0]] == Phase::kWaiting;
    }
  }
  EXPECT_GT(meanwhile, 0) << "none was out of budget with a race open";
}

TEST(Pool, WhoGoesOnForOneThatIsOutOfBudgetIsNotCalledWaiting) {
  int went_on = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    TuningConfig config;
    config.budget_allowance = std::chrono::seconds(2);
    Jobs jobs(2, seed, config);
    jobs.host.bend = [&](EventBody& body) {
      auto* done = std::get_if<ProbeDone>(&body);
      if (done != nullptr && done->session == jobs.ids[0]) done->probe_ns *= 10;
      return true;
    };
    const auto helps = [&] {
      const RunPairs lease = ActionsOf<RunPairs>(jobs.host).back();
      return lease.session == jobs.ids[1] && lease.champion != lease.challenger;
    };
    const auto waits = [&] { return jobs.host.tuning().phase(jobs.ids[0]) == Phase::kWaiting; };
    for (int i = 0; i < 2000 && !(waits() && helps()); ++i) {
      jobs.host.RunUntilEnd(jobs.ids[0], 10);
    }
    if (!waits()) continue;
    jobs.host.Detach(jobs.ids[0]);
    for (const ReportProgress& report : ActionsOf<ReportProgress>(jobs.host)) {
      if (!report.note.starts_with("goes on with the search")) continue;
      ++went_on;
      EXPECT_EQ(report.session, jobs.ids[1]);
      EXPECT_NE(report.phase, Phase::kWaiting) << "seed " << seed;
    }
  }
  EXPECT_GT(went_on, 0) << "none was out of budget with a race open";
}

TEST(Pool, AFailedProbeConcernsTheJobAndNotThePlan) {
  Jobs jobs(3);
  jobs.host.bend = [&](EventBody& body) {
    auto* done = std::get_if<ProbeDone>(&body);
    if (done && done->session == jobs.ids[1] && !jobs.host.settlement()) {
      done->summary.equivalence = Equivalence::kRejectedDifferent;
    }
    return true;
  };
  ASSERT_TRUE(jobs.Run());
  EXPECT_EQ(LentTo(jobs.host, jobs.ids[1]), 0u);
  EXPECT_GT(LentTo(jobs.host, jobs.ids[2]), 0u);
  EXPECT_EQ(jobs.host.settlement()->plan, kWinner);
}

TEST(Pool, AFailedBuildConcernsTheJobAndNotThePlan) {
  Jobs jobs(2);
  jobs.host.bend = [&](EventBody& body) {
    auto* built = std::get_if<VariantBuilt>(&body);
    if (built && built->session == jobs.ids[1] && !jobs.host.settlement()) {
      built->status = BuildStatus::kFailed;
    }
    return true;
  };
  ASSERT_TRUE(jobs.Run());
  EXPECT_EQ(LentTo(jobs.host, jobs.ids[1]), 0u);
  EXPECT_EQ(jobs.host.settlement()->plan, kWinner);
  EXPECT_EQ(jobs.host.plans().at(kWinner).verdict, Verdict::kChampion);
}

TEST(Pool, APlanThatRunsAsSomethingElseThereStaysOutOfTheRace) {
  Jobs jobs(2);
  jobs.host.bend = [&](EventBody& body) {
    if (auto* built = std::get_if<VariantBuilt>(&body); built && built->session == jobs.ids[1]) {
      built->signature[0] ^= 1;
    }
    return true;
  };
  ASSERT_TRUE(jobs.Run());
  EXPECT_EQ(LentTo(jobs.host, jobs.ids[1]), 0u);
  EXPECT_TRUE(std::none_of(jobs.host.actions().begin(), jobs.host.actions().end(),
                           [&](const Action& action) {
                             const auto* probe = std::get_if<ProbeVariants>(&action);
                             return probe != nullptr && probe->session == jobs.ids[1] &&
                                    jobs.host.settlement() == std::nullopt;
                           }));
  EXPECT_EQ(jobs.host.settlement()->plan, kWinner);
}

TEST(Pool, AnotherDefaultGivesNoPairs) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 1);
  host.SetSalt("b", 1);
  const SessionId first = host.Attach("a", Mode::kTune, "GPU-0");
  const SessionId second = host.Attach("b", Mode::kTune, "GPU-1");
  ASSERT_TRUE(host.RunUntilEnd(first, kLong));
  for (const RaceRecord& race : host.races()) EXPECT_EQ(GiversOf(race).count(second), 0u);
}

TEST(Pool, AJobThatLeavesMidPairStopsNothing) {
  Jobs jobs(3);
  ASSERT_TRUE(RunUntilAllRace(jobs, {jobs.ids[1]}));
  jobs.host.Detach(jobs.ids[1]);
  ASSERT_TRUE(jobs.Run());
  EXPECT_EQ(jobs.host.settlement()->plan, kWinner);
  for (const RaceRecord& race : jobs.host.races()) {
    EXPECT_NE(race.reason, "the session ended");
  }
}

TEST(Pool, TheRaceGoesOnWhereTheExploringJobLeaves) {
  Jobs jobs(3);
  ASSERT_TRUE(RunUntilAllRace(jobs, jobs.ids));
  const size_t races = jobs.host.races().size();
  jobs.host.Detach(jobs.ids[0]);
  EXPECT_EQ(jobs.host.races().size(), races) << "it was not filed";
  ASSERT_TRUE(jobs.host.RunUntilEnd(jobs.ids[1], kLong));
  ASSERT_GT(jobs.host.races().size(), races);
  const RaceRecord& race = jobs.host.races()[races];
  EXPECT_EQ(race.session, jobs.ids[1]);
  EXPECT_GT(GiversOf(race).count(jobs.ids[0]), 0u) << "its pairs stay";
  EXPECT_NE(race.outcome, RaceOutcome::kUndecided) << race.reason;
  EXPECT_EQ(jobs.host.settlement()->plan, kWinner);
}

// What a process has learned holds in another one within the spread between processes.
TEST(Pool, WhoGoesOnKeepsWhatWasLearned) {
  Jobs jobs(3);
  ASSERT_TRUE(RunUntilAllRace(jobs, jobs.ids));
  const Space space(jobs.table.spec(), Contract::kRounding);
  Surrogate before(&space, {0, 1, 1}), after = before;
  ASSERT_TRUE(before.Restore(jobs.host.tuning().SaveSurrogate()));
  jobs.host.Detach(jobs.ids[0]);
  ASSERT_TRUE(after.Restore(jobs.host.tuning().SaveSurrogate()));
  for (size_t i = 0; i < space.size(); ++i) {
    EXPECT_GT(after.VarianceOf(i), before.VarianceOf(i)) << i;
    EXPECT_NEAR(after.VarianceOf(i), before.VarianceOf(i) + 0.001 * 0.001, 1e-9) << i;
  }
}

// The second job took the search over and settled. Once that is demoted, the third one comes first.
TEST(Pool, WhoTookTheSearchOverHasHadATurn) {
  Jobs jobs(3);
  ASSERT_TRUE(RunUntilAllRace(jobs, jobs.ids));
  jobs.host.Detach(jobs.ids[0]);
  for (SessionId id : {jobs.ids[1], jobs.ids[2]}) {
    ASSERT_TRUE(jobs.host.RunUntilEnd(id, kLong));
    ASSERT_EQ(jobs.host.in_use(id), kWinner);
  }
  Adopt last;
  for (const Adopt& adopt : ActionsOf<Adopt>(jobs.host)) {
    if (adopt.session == jobs.ids[1]) last = adopt;
  }
  const size_t before = ActionsOf<ReportProgress>(jobs.host).size();
  jobs.host.Send(
      DirectiveRefused{last.session, last.adopt, last.variant, Refusal::kRejectedEarlier, "wrong"});
  ASSERT_EQ(jobs.host.demotions(), 1u);
  const auto reports = ActionsOf<ReportProgress>(jobs.host);
  const auto next =
      std::find_if(reports.begin() + static_cast<std::ptrdiff_t>(before), reports.end(),
                   [](const ReportProgress& report) { return report.phase == Phase::kForecast; });
  ASSERT_NE(next, reports.end());
  EXPECT_EQ(next->session, jobs.ids[2]);
}

TEST(Pool, AJobThatDoesNotAnswerIsNotWaitedFor) {
  Jobs jobs(3);
  jobs.host.bend = [&](EventBody& body) {
    const auto* done = std::get_if<LeaseDone>(&body);
    if (done == nullptr || done->session == jobs.ids[0]) return true;
    // Noise is answered, pairs of races are not.
    return done->units.size() == 32;
  };
  ASSERT_TRUE(jobs.Run());
  EXPECT_GT(LentTo(jobs.host, jobs.ids[1]), 0u);
  EXPECT_EQ(jobs.host.settlement()->plan, kWinner);
}

TEST(Pool, RacesOfSeveralJobsTakeLessTimeOnTheWall) {
  std::map<size_t, double> wall;
  for (size_t count : {1u, 4u}) {
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      Jobs jobs(count, seed);
      ASSERT_TRUE(jobs.Run());
      for (const RaceRecord& race : jobs.host.races()) {
        if (race.kind == RaceKind::kDwell) continue;  // by one job alone
        wall[count] += static_cast<double>((race.ended - race.started).count());
      }
    }
  }
  EXPECT_LT(wall[4], 0.6 * wall[1]);
}

}  // namespace
}  // namespace blazed::planner
