// A whole tuning against a simulated host: from the first step to a settlement.
#include "daemon/planner/tuning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "client/sim/host.h"
#include "daemon/planner/tail_guard.h"

namespace blazed::planner {
namespace {

sim::CostTable OneGoodOption() { return sim::CostTable({0.02, -0.08, 0.02, 0.01, 0.02, 0.01}); }

uint64_t RacesOf(const sim::Host& host, RaceKind kind) {
  return static_cast<uint64_t>(std::count_if(host.races().begin(), host.races().end(),
                                             [&](const RaceRecord& r) { return r.kind == kind; }));
}

TEST(Tuning, SettlesAWinnerAfterVerificationAndReplication) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 1);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled);
  ASSERT_TRUE(host.settlement().has_value());
  const SettlementRecord settled = *host.settlement();
  EXPECT_EQ(settled.kind, SettlementKind::kInJob);
  EXPECT_EQ(settled.plan, (Plan{{1, 1}}));
  EXPECT_EQ(host.in_use(s), settled.plan);
  EXPECT_TRUE(host.settled(s));
  EXPECT_NEAR(settled.gain.estimate, 1 - std::exp(-0.08), 0.02);
  EXPECT_GT(settled.gain.low, 0.0);
  EXPECT_NE(settled.champion_signature, settled.default_signature);
  EXPECT_GT(settled.break_even_steps, 0);
  EXPECT_GE(RacesOf(host, RaceKind::kVerification), 1u);
  EXPECT_GE(RacesOf(host, RaceKind::kReplication), 1u);
  EXPECT_GT(settled.cost.search_pairs, 0u);
  EXPECT_GT(settled.cost.replication_pairs, 0u);
  EXPECT_GT(settled.cost.window, Nanos(0));
}

// A log ratio of 0.223 is a saving of 20 %, not of 22.3 %.
TEST(Tuning, ShowsTheSavingOfAStepWhileItSearches) {
  const sim::CostTable table({0.02, std::log(0.8), 0.02, 0.01, 0.02, 0.01});
  sim::Host host(&table, {}, {}, {}, 1);
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), 20000));
  const RaceRecord* tells = nullptr;  // the latest race, where it says what the gain is
  int shown = 0;
  for (const Action& action : host.actions()) {
    if (std::holds_alternative<Settle>(action)) break;
    if (const auto* race = std::get_if<KeepRace>(&action)) {
      const RaceRecord& record = race->record;
      if (record.kind == RaceKind::kDwell) continue;  // it vetoes and tells no gain
      const bool confirms = record.kind != RaceKind::kSearch && record.outcome == RaceOutcome::kWon;
      tells = confirms ? &record : nullptr;
    }
    const auto* report = std::get_if<ReportProgress>(&action);
    if (report == nullptr || tells == nullptr) continue;
    EXPECT_GT(tells->effect.estimate, 0.15) << "too small to tell the two apart";
    EXPECT_DOUBLE_EQ(report->gain, -std::expm1(-tells->effect.estimate));
    ++shown;
  }
  EXPECT_GT(shown, 0);
}

TEST(Tuning, TellsNoiseEvidenceAndWhatRanBehindAVerdictApart) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 1);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  uint64_t noise = 0, lent_to_races = 0, raced = 0, blocks = 0;
  for (const Action& action : host.actions()) {
    if (const auto* lease = std::get_if<RunPairs>(&action)) {
      const uint64_t pairs = lease->challenger_first.size();
      if (lease->champion == lease->challenger) noise += pairs;
      // Leases of proposals are shorter than any of a race here.
      if (lease->champion != lease->challenger && pairs >= 8) lent_to_races += pairs;
    }
    if (const auto* race = std::get_if<KeepRace>(&action)) {
      const bool dwell = race->record.kind == RaceKind::kDwell;
      (dwell ? blocks : raced) += race->record.pairs.size();
    }
  }
  const CostRecord cost = host.outcome(s)->cost;
  EXPECT_EQ(cost.noise_pairs, noise);
  EXPECT_GT(blocks, 0u);
  EXPECT_EQ(cost.noise_pairs, 32 + 64 * blocks) << "long dwells are pairs of one plan, too";
  EXPECT_GT(cost.late_pairs, 0u);
  EXPECT_EQ(cost.late_pairs, lent_to_races - raced);
  EXPECT_LT(noise + lent_to_races, cost.search_pairs + cost.replication_pairs);
}

TEST(Tuning, GivesAReasonWithEveryVerdict) {
  const sim::CostTable table = OneGoodOption();
  std::set<Verdict> seen;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    sim::Host host(&table, {}, {}, {}, 300 + seed);
    host.RunUntilEnd(host.Attach("job"), 20000);
    for (const Action& action : host.actions()) {
      const auto* keep = std::get_if<KeepPlan>(&action);
      if (keep == nullptr) continue;
      seen.insert(keep->record.verdict);
      EXPECT_NE(keep->record.reason, "") << "seed " << 300 + seed;
    }
  }
  for (Verdict wanted : {Verdict::kProposed, Verdict::kProven, Verdict::kWon, Verdict::kChampion}) {
    EXPECT_TRUE(seen.contains(wanted)) << static_cast<int>(wanted);
  }
}

TEST(Tuning, SaysHowFarAPlanCame) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 1);
  host.RunUntilEnd(host.Attach("job"), 20000);
  for (const auto& [plan, record] : host.plans()) {
    if (record.verdict != Verdict::kProven) continue;
    const std::string pairs = "after " + std::to_string(record.pairs) + " pair";
    EXPECT_EQ(record.reason.find(pairs) != std::string::npos, record.pairs > 0) << record.reason;
  }
}

TEST(Tuning, ProbesThePlanInUseAgainWhereItsNeighboursAreRejectedOneAfterAnother) {
  // Option 1 of decision 1 wins, and from then on fails every probe, alone or with others.
  sim::CostTable table(std::vector<double>(40, 0.002));
  table.SetCost(1, 1, -0.08);
  sim::Host host(&table, {}, {}, {}, 7);
  const SessionId s = host.Attach("job");
  std::map<VariantId, Plan> plans;
  int rejected = 0, rejected_before_demotion = 0;
  host.bend = [&](EventBody& body) {
    auto* done = std::get_if<ProbeDone>(&body);
    if (done == nullptr || host.in_use(s).empty()) return true;
    for (const Action& action : host.actions()) {
      if (const auto* build = std::get_if<BuildVariant>(&action))
        plans[build->variant] = build->plan;
    }
    const Plan& plan = plans[done->variant];
    if (std::find(plan.begin(), plan.end(), Choice{1, 1}) == plan.end()) return true;
    done->summary.equivalence = Equivalence::kRejectedDifferent;
    ++rejected;
    if (plan == host.in_use(s)) rejected_before_demotion = rejected;
    return true;
  };
  host.RunUntilEnd(s, 20000);
  EXPECT_GT(rejected_before_demotion, 0) << "the plan in use was never probed again";
  EXPECT_LE(rejected_before_demotion, 40);
}

TEST(Tuning, ForecastsBeforeItsFirstTrial) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 2);
  host.RunUntilEnd(host.Attach("job"), 20000);
  size_t forecast = 0, build = 0;
  for (size_t i = 0; i < host.actions().size(); ++i) {
    if (forecast == 0 && std::holds_alternative<KeepForecast>(host.actions()[i])) forecast = i;
    if (build == 0 && std::holds_alternative<BuildVariant>(host.actions()[i])) build = i;
  }
  ASSERT_GT(forecast, 0u);
  EXPECT_LT(forecast, build);
  EXPECT_GT(host.forecast()->window, Nanos(0));
  EXPECT_GE(host.forecast()->resolvable, 0.004);
}

TEST(Tuning, AnswersNoWinnerWhereNothingIsFaster) {
  const sim::CostTable table(std::vector<double>(8, 0.01));
  sim::Host host(&table, {}, {}, {}, 3);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kNoWinner);
  EXPECT_EQ(host.settlement()->kind, SettlementKind::kNoWinner);
  EXPECT_EQ(host.settlement()->gain, Interval{});
  EXPECT_TRUE(host.in_use(s).empty());
  EXPECT_TRUE(host.settled(s));
}

TEST(Tuning, SettlesNothingOnNullTables) {
  int settled = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    sim::TableSettings settings;
    settings.boundaries = 12;
    settings.winners = false;
    const sim::CostTable table(settings, seed);
    sim::Host host(&table, {}, {}, {}, seed + 500);
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 50000)) << "seed " << seed;
    settled += host.outcome(s)->outcome == Outcome::kNoWinner ? 0 : 1;
  }
  EXPECT_EQ(settled, 0) << "seeds 0 to 39";
}

TEST(Tuning, CapturesMostOfTheGainOfADrawnTable) {
  double got = 0, best = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    sim::TableSettings settings;
    settings.boundaries = 34;
    settings.choices = 4;
    const sim::CostTable table(settings, 1000 + seed);
    sim::Host host(&table, {}, {}, {}, seed);
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 50000)) << "seed " << seed;
    EXPECT_LT(table.LogCost(host.in_use(s)), 1e-9) << "slower than the default, seed " << seed;
    got += 1 - std::exp(table.LogCost(host.in_use(s)));
    best += 1 - std::exp(table.OracleLogCost(5));
  }
  EXPECT_GE(got / best, 0.8) << "seeds 0 to 7";
}

TEST(Tuning, CatchesAWinThatIsOnlyCarryOver) {
  int settled = 0;
  bool caught = false;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    sim::TableSettings settings;
    settings.boundaries = 12;
    settings.winners = false;
    settings.flat = true;
    const sim::CostTable table(settings, seed);
    sim::HostSettings slow_switch;
    slow_switch.noise.carry_default = 0.02;
    sim::Host host(&table, slow_switch, {}, {}, seed + 40);
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 100000)) << "seed " << seed;
    settled += host.outcome(s)->outcome == Outcome::kSettled ? 1 : 0;
    for (const RaceRecord& race : host.races()) {
      caught =
          caught || (race.kind == RaceKind::kVerification && race.outcome != RaceOutcome::kWon);
    }
  }
  EXPECT_EQ(settled, 0) << "seeds 0 to 9";
  EXPECT_TRUE(caught) << "no provisional win was there to be caught";
}

// What its pairs carried is in no plan: from then on no first step after a switch counts.
TEST(Tuning, TurnsToDiscardModeWhereAWinWasOnlyCarryOver) {
  int turned = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    sim::TableSettings settings;
    settings.winners = false;
    settings.flat = true;
    const sim::CostTable table(settings, seed);
    sim::HostSettings slow_switch;
    slow_switch.noise.carry_default = 0.04;
    sim::Host host(&table, slow_switch, {}, {}, seed + 40);
    ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), 100000)) << "seed " << seed;
    bool carry = false;
    uint64_t after = 0;
    for (const Action& action : host.actions()) {
      const auto* race = std::get_if<KeepRace>(&action);
      const bool check = race != nullptr && race->record.kind == RaceKind::kVerification;
      carry = carry || (check && race->record.outcome != RaceOutcome::kWon);
      const auto* run = std::get_if<RunPairs>(&action);
      if (!carry || run == nullptr || run->champion == run->challenger) continue;
      ++after;
      EXPECT_EQ(run->warm_steps, 1u) << "seed " << seed;
    }
    turned += after > 0 ? 1 : 0;
  }
  EXPECT_GE(turned, 8) << "seeds 0 to 9";
}

TEST(Tuning, EndsUndecidedWhereItsWindowEnds) {
  const sim::CostTable table(std::vector<double>(60, 0.005));
  TuningConfig config;
  config.max_window = std::chrono::seconds(2);
  sim::Host host(&table, {}, config, {}, 5);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 2000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  EXPECT_EQ(host.outcome(s)->reason, "the budget ended before the search did");
  EXPECT_GE(host.outcome(s)->cost.window, std::chrono::seconds(2));
  EXPECT_LT(host.outcome(s)->cost.window, std::chrono::seconds(4)) << "a tick and a lease behind";
  EXPECT_FALSE(host.settlement().has_value());
}

// The win is there in the build that raced and gone after the rebuild.
TEST(Tuning, RacesNoPlanAgainBehindARestartWhoseSlowStepsLostItARace) {
  const sim::CostTable table = OneGoodOption();
  sim::HostSettings settings;
  settings.tail_share = 0.1;
  int restarts = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    sim::Host host(&table, settings, {}, {}, seed);
    const auto lost = [&] {
      return !host.races().empty() &&
             host.races().back().reason.find(kTailReason) != std::string::npos;
    };
    const SessionId first = host.Attach("first");
    while (!lost() && !host.RunUntilEnd(first, 1)) {
    }
    if (host.outcome(first)) continue;
    const Plan plan = host.races().back().challenger;
    const size_t before = host.races().size();
    host.Detach(first);
    host.RestartDaemon(sim::Restart::kStopped);
    ++restarts;
    ASSERT_TRUE(host.RunUntilEnd(host.Attach("second"), 50000));
    for (size_t i = before; i < host.races().size(); ++i) {
      EXPECT_NE(host.races()[i].challenger, plan) << host.races()[i].reason;
    }
  }
  EXPECT_GT(restarts, 3);
}

// The win is proven by a replication's first pairs and gone in those behind them.
TEST(Tuning, KeepsNoPlanInUseThatItsReplicationShowsAsTheSlowerOne) {
  int undecided = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const sim::CostTable table = OneGoodOption();
    sim::CostTable live = OneGoodOption();
    sim::Host host(&table, {}, {}, {}, seed);
    host.live_table = &live;
    const SessionId s = host.Attach("job");
    int steps = 0;
    host.on_live = [&](SessionId, VariantId, const Plan& plan) {
      const bool replicates = !plan.empty() && host.tuning().phase(s) == Phase::kReplicate;
      if (replicates && ++steps == 28) {
        for (uint32_t decision = 0; decision < 6; ++decision) live.SetCost(decision, 1, 0.02);
      }
    };
    ASSERT_TRUE(host.RunUntilEnd(s, 50000));
    const auto gone = [](const RaceRecord& race) {
      return race.kind == RaceKind::kReplication && race.outcome == RaceOutcome::kUndecided &&
             race.effect.estimate < 0;
    };
    if (std::none_of(host.races().begin(), host.races().end(), gone)) continue;
    ++undecided;
    EXPECT_TRUE(host.in_use(s).empty()) << host.races().back().reason;
  }
  EXPECT_GT(undecided, 0);
}

TEST(Tuning, DemotesAWinThatARebuildTakesAway) {
  const sim::CostTable with = OneGoodOption();
  sim::CostTable live = OneGoodOption();
  sim::Host host(&with, {}, {}, {}, 4);
  host.live_table = &live;
  host.bend = [&](EventBody& body) {
    const auto* built = std::get_if<VariantBuilt>(&body);
    if (built == nullptr) return true;
    const auto& last = host.actions();
    for (auto it = last.rbegin(); it != last.rend(); ++it) {
      const auto* build = std::get_if<BuildVariant>(&*it);
      if (build == nullptr || build->build != built->build) continue;
      if (build->rebuild_of != 0) live.SetCost(1, 1, 0.0);
      break;
    }
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kNoWinner);
  EXPECT_TRUE(host.in_use(s).empty());
  const PlanRecord& record = host.plans().at({{1, 1}});
  EXPECT_EQ(record.verdict, Verdict::kLost);
  EXPECT_NE(record.reason.find("not there after a rebuild"), std::string::npos) << record.reason;
}

TEST(Tuning, TimesNeitherDuplicatesNorPlansThatWereNotHonoured) {
  sim::TableSettings settings;
  settings.boundaries = 12;
  settings.idle_share = 0.5;
  const sim::CostTable table(settings, 17);
  TuningConfig config;
  config.sham_share = 0;
  sim::Host host(&table, {}, config, {}, 17);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  int not_honoured = 0;
  for (const auto& [plan, record] : host.plans()) {
    if (record.verdict != Verdict::kNotHonoured && record.verdict != Verdict::kDuplicate) continue;
    EXPECT_EQ(record.pairs, 0u);
    EXPECT_FALSE(record.reason.empty());
    not_honoured += record.verdict == Verdict::kNotHonoured ? 1 : 0;
  }
  EXPECT_GT(not_honoured, 0);
}

TEST(Tuning, LetsOneSessionExploreAndServesTheOthersAfterwards) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 6);
  const SessionId first = host.Attach("a"), second = host.Attach("b");
  EXPECT_EQ(host.tuning().phase(first), Phase::kForecast);
  EXPECT_EQ(host.tuning().phase(second), Phase::kWaiting);
  ASSERT_TRUE(host.RunUntilEnd(first, 50000));
  ASSERT_TRUE(host.RunUntilEnd(second, 1000));
  EXPECT_EQ(host.outcome(second)->outcome, Outcome::kServed);
  EXPECT_EQ(host.outcome(second)->cost.search_pairs, 0u);
  EXPECT_EQ(host.in_use(second), host.in_use(first));
}

TEST(Tuning, TellsNobodyBeforeTheStoreHasIt) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 7);
  host.store_fails = true;
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  EXPECT_EQ(host.outcome(s)->reason.rfind("the settlement could not be kept: ", 0), 0u)
      << host.outcome(s)->reason;
  EXPECT_TRUE(host.in_use(s).empty());
  bool stood = false;
  for (const Action& action : host.actions()) {
    const auto* adopt = std::get_if<Adopt>(&action);
    EXPECT_TRUE(adopt == nullptr || adopt->settlement == 0);
    const auto* stand = std::get_if<Stand>(&action);
    if (stand == nullptr || stand->reason != StandReason::kStoreFailed) continue;
    stood = true;
    EXPECT_EQ(stand->detail, host.outcome(s)->reason) << "what is said at once is what is kept";
  }
  EXPECT_TRUE(stood);
}

TEST(Tuning, EndsUndecidedWhenTheHostsStepsEndAndGoesOnInTheNextProcess) {
  sim::TableSettings settings;
  settings.boundaries = 34;
  const sim::CostTable table(settings, 1003);
  sim::HostSettings short_job;
  short_job.tune_until_steps = 600;
  sim::Host host(&table, short_job, {}, {}, 8);
  const SessionId first = host.Attach("a");
  ASSERT_TRUE(host.RunUntilEnd(first, 5000));
  EXPECT_EQ(host.outcome(first)->outcome, Outcome::kUndecided);
  EXPECT_TRUE(host.settled(first)) << "the session is not frozen";
  EXPECT_FALSE(host.settlement().has_value());
  host.Detach(first);
  int processes = 1;
  while (!host.settlement() && processes < 60) {
    const SessionId next = host.Attach(std::string("p").append(std::to_string(processes++)));
    host.RunUntilEnd(next, 5000);
    host.Detach(next);
  }
  EXPECT_TRUE(host.settlement().has_value()) << "no settlement after " << processes << " processes";
}

TEST(Tuning, ObservesAndForecastsWithoutADirective) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 9);
  const SessionId s = host.Attach("job", Mode::kObserve);
  EXPECT_FALSE(host.RunUntilEnd(s, 500));
  host.Serve(s, 3000);
  int forecasts = 0;
  for (const Action& action : host.actions()) {
    const bool forecast = std::holds_alternative<KeepForecast>(action);
    EXPECT_TRUE(forecast || std::holds_alternative<ReportProgress>(action)) << action.index();
    forecasts += forecast ? 1 : 0;
  }
  EXPECT_EQ(forecasts, 1);
  ASSERT_TRUE(host.forecast().has_value());
  EXPECT_NE(host.forecast()->based_on.find("without pairs"), std::string::npos);
  EXPECT_EQ(std::get<ReportProgress>(host.actions().back()).forecast, *host.forecast());
  // No finer than what pairs would tell, and the same space. Where noise looks louder each plan
  // gets more pairs, and plans are fewer by a seventh.
  sim::Host tuned(&table, {}, {}, {}, 9);
  tuned.RunUntilEnd(tuned.Attach("job"), 20000);
  EXPECT_GE(6 * host.forecast()->builds, 5 * tuned.forecast()->builds);
  EXPECT_GE(host.forecast()->resolvable, tuned.forecast()->resolvable);
  EXPECT_LT(host.forecast()->window, 20 * tuned.forecast()->window);
}

// The forecast is of a search that this job does not run, so no limit of the job cuts it.
TEST(Tuning, AnObservingJobsOwnLimitCutsNothingOfItsForecast) {
  const sim::CostTable table = OneGoodOption();
  TuningConfig config;
  config.max_window = std::chrono::seconds(2);  // less than the search would take
  std::vector<ForecastRecord> forecasts;
  for (const uint64_t limit : {0u, 4000u}) {
    sim::HostSettings settings;
    settings.tune_until_steps = limit;
    sim::Host host(&table, settings, config, {}, 9);
    host.Serve(host.Attach("job", Mode::kObserve), 3000);
    ASSERT_TRUE(host.forecast().has_value());
    forecasts.push_back(*host.forecast());
  }
  EXPECT_EQ(forecasts[0].window, Nanos(config.max_window));
  EXPECT_EQ(forecasts[0], forecasts[1]);
}

TEST(Tuning, AnswersAtOnceWhereThereIsNothingToChoose) {
  const sim::CostTable table(std::vector<double>{});
  sim::Host host(&table, {}, {}, {}, 10);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 100));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kNoWinner);
}

// Nothing found under such noise is no answer that a quieter job should inherit.
TEST(Tuning, EndsUndecidedWhereTheNoiseHidesEverything) {
  const sim::CostTable table(std::vector<double>(20, 0.002));
  sim::HostSettings wild;
  wild.noise.sd = 0.4;
  sim::Host host(&table, wild, {}, {}, 13);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  EXPECT_NE(host.outcome(s)->reason.find("too noisy"), std::string::npos);
  EXPECT_GT(host.outcome(s)->cost.search_pairs, 100u) << "it gave up before it tried";
  EXPECT_FALSE(host.settlement().has_value());
}

// What the noise of the first pairs hides in a small space is measured once all the same.
TEST(Tuning, TriesTheFewPlansThatThereAreBeforeItBlamesTheNoise) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const sim::CostTable table({-0.3, 0.01, 0.01});
    sim::HostSettings wild;
    wild.noise.sd = 1;
    sim::Host host(&table, wild, {}, {}, seed);
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 100000));
    const auto measured = [](const auto& plan) { return plan.second.pairs > 0; };
    const auto& plans = host.plans();
    EXPECT_TRUE(std::any_of(plans.begin(), plans.end(), measured))
        << seed << ": " << host.outcome(s)->reason;
  }
}

TEST(Tuning, BlamesNoNoiseWhereEveryBuildFails) {
  const sim::CostTable table({-0.3, 0.01, 0.01});
  sim::HostSettings wild;
  wild.noise.sd = 0.5;
  sim::Host host(&table, wild, {}, {}, 3);
  host.bend = [](EventBody& body) {
    if (auto* built = std::get_if<VariantBuilt>(&body)) built->status = BuildStatus::kFailed;
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  EXPECT_EQ(host.outcome(s)->reason, "no plan could be built, proven and measured here");
}

TEST(Tuning, FindsALargeWinUnderWildNoise) {
  const sim::CostTable table({0.02, -0.3, 0.02, 0.01, 0.01, 0.01, 0.01, 0.01});
  sim::HostSettings wild;
  wild.noise.sd = 0.25;
  sim::Host host(&table, wild, {}, {}, 14);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled) << host.outcome(s)->reason;
  EXPECT_LT(table.LogCost(host.in_use(s)), -0.2);
}

TEST(Tuning, LeavesTheHostNoVariantButTheOneInUse) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, {}, {}, 12);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  std::set<VariantId> live;
  VariantId in_use = 0;
  for (const Action& action : host.actions()) {
    if (const auto* build = std::get_if<BuildVariant>(&action)) {
      live.insert(build->variant);
      live.erase(build->rebuild_of);
    }
    if (const auto* drop = std::get_if<DropVariant>(&action)) live.erase(drop->variant);
    if (const auto* adopt = std::get_if<Adopt>(&action)) in_use = adopt->variant;
  }
  EXPECT_EQ(live, std::set<VariantId>{in_use});
}

TEST(Tuning, RunsNoPlanLiveBeforeItsProbes) {
  sim::TableSettings settings;
  settings.boundaries = 20;
  const sim::CostTable table(settings, 4);
  sim::Host host(&table, {}, {}, {}, 4);
  std::set<VariantId> proven = {kDefaultVariant};
  host.bend = [&](EventBody& body) {
    if (const auto* done = std::get_if<ProbeDone>(&body)) proven.insert(done->variant);
    return true;
  };
  host.on_live = [&](SessionId, VariantId variant, const Plan&) {
    EXPECT_TRUE(proven.contains(variant)) << "variant " << variant;
  };
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), 50000));
  EXPECT_GT(proven.size(), 3u);
}

}  // namespace
}  // namespace blazed::planner
