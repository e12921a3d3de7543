// Whole tunings of hosts that run ahead of their device, that begin to, and that say what is not
// so.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "client/sim/host.h"
#include "daemon/planner/drift.h"
#include "daemon/planner/unit.h"

namespace blazed::planner {
namespace {

constexpr double kHostNs = 5e6, kDeviceNs = 4e6;
constexpr uint64_t kLongest = 200000;  // steps of a tuning

// The first option saves a quarter of the host's time, so the device's is what is left of a step;
// the second costs some, which then shows no more.
const sim::CostTable kDevice({0.0, 0.0});
const sim::CostTable kHost({std::log(0.75), 0.03});
constexpr double kTrueSaving = 1 - kDeviceNs / kHostNs;
constexpr Choice kGood = {0, 1};

sim::HostSettings Queued() {
  sim::HostSettings settings;
  settings.step_ns = kDeviceNs;
  settings.queue = sim::QueueSettings{};
  settings.queue_host_ns = kHostNs;
  settings.queue_host_costs = &kHost;
  // A quiet machine: what is asked is whether an estimate is true, not how far it scatters.
  settings.noise.sd = 0.004;
  settings.noise.outlier_share = settings.noise.regime_rate = 0;
  return settings;
}

std::vector<RunPairs> LeasesOf(const sim::Host& host) {
  std::vector<RunPairs> leases;
  for (const Action& action : host.actions()) {
    if (const auto* lease = std::get_if<RunPairs>(&action)) leases.push_back(*lease);
  }
  return leases;
}

bool IsNoise(const RunPairs& lease) { return lease.champion == lease.challenger; }

// The latest race that settles by; long dwells come after it.
const RaceRecord& LastReplication(const sim::Host& host) {
  const auto& races = host.races();
  return *std::find_if(races.rbegin(), races.rend(),
                       [](const auto& race) { return race.kind == RaceKind::kReplication; });
}

// The good plan is settled and its saving is what it is in the long run.
void ExpectTruth(const sim::Host& host) {
  ASSERT_TRUE(host.settlement().has_value());
  ASSERT_FALSE(host.settlement()->plan.empty());
  EXPECT_EQ(host.settlement()->plan.front(), kGood);
  EXPECT_NEAR(host.settlement()->gain.estimate, kTrueSaving, 0.1 * kTrueSaving);
  const RaceRecord& last = LastReplication(host);
  EXPECT_GE(last.timed_steps, 8u);
  EXPECT_EQ(last.warm_steps, 4u);
}

TEST(Queueing, OrdersSingleStepsWhereTheHostWaitsInEachAnyway) {
  const sim::CostTable table({-0.08, 0.03});
  sim::Host host(&table, {}, {}, {}, 1);
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), kLongest));
  ASSERT_FALSE(LeasesOf(host).empty());
  for (const RunPairs& lease : LeasesOf(host)) {
    EXPECT_EQ(lease.timed_steps, 1u);
    EXPECT_LE(lease.warm_steps, 1u);
  }
}

TEST(Queueing, OrdersUnitsBetweenDrainedPointsWhereTheHostRunsAhead) {
  sim::Host host(&kDevice, Queued(), {}, {}, 1);
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), kLongest));
  ExpectTruth(host);
  for (const RunPairs& lease : LeasesOf(host)) {
    EXPECT_GE(lease.warm_steps, 2u);
    EXPECT_GE(lease.timed_steps, IsNoise(lease) ? 4u : 8u);
  }
}

TEST(Queueing, GoesBackToSingleStepsWhereTheHostNeverRanAhead) {
  sim::HostSettings settings = Queued();
  settings.queues_from_step = ~uint64_t{0};
  sim::Host host(&kDevice, settings, {}, {}, 2);
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), kLongest));
  const auto leases = LeasesOf(host);
  ASSERT_GT(leases.size(), 2u);
  for (size_t i = 0; i < leases.size(); ++i) {
    EXPECT_EQ(leases[i].timed_steps > 1, i == 0) << i;
  }
  ASSERT_TRUE(host.settlement().has_value());
  ASSERT_FALSE(host.settlement()->plan.empty());
  EXPECT_EQ(host.settlement()->plan.front(), kGood);
}

// Wherever in its search: no race counts pairs of units of two kinds, and what settles was measured
// in those that fit.
TEST(Queueing, StartsItsRacesAfreshWhereAHostBeginsToRunAhead) {
  bool again = false;
  for (const uint64_t from : {30, 60, 80, 100, 115, 130, 145, 160}) {
    SCOPED_TRACE(from);
    sim::HostSettings settings = Queued();
    settings.queues_from_step = from;
    sim::Host host(&kDevice, settings, {}, {}, 3);
    ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), kLongest));
    ExpectTruth(host);
    uint32_t longest = 1;
    for (const RaceRecord& race : host.races()) {
      if (race.kind == RaceKind::kDwell) continue;  // by those of the search
      EXPECT_GE(race.timed_steps, longest) << "units became shorter again";
      longest = race.timed_steps;
      const bool short_ones = race.reason.find("units were too short") != std::string::npos;
      if (short_ones) {
        EXPECT_EQ(race.outcome, RaceOutcome::kUndecided);
      }
      again = again || short_ones;
    }
  }
  EXPECT_TRUE(again) << "none of these hosts began in the middle of a race";
}

struct Claim {
  const char* name;
  sim::QueueClaims claims;
};

class WhatAHostSays : public ::testing::TestWithParam<Claim> {};

TEST_P(WhatAHostSays, ChangesNothingOfWhatIsFound) {
  sim::HostSettings settings = Queued();
  settings.queue_claims = GetParam().claims;
  sim::Host host(&kDevice, settings, {}, {}, 4);
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), kLongest));
  ExpectTruth(host);
}

INSTANTIATE_TEST_SUITE_P(
    Each, WhatAHostSays,
    ::testing::Values(Claim{"queued_and_nothing_more", {true, false, {}}},
                      Claim{"only_in_leases", {false, true, {}}},
                      Claim{"nothing", {false, false, {}}}, Claim{"never_ahead", {true, true, 0}},
                      Claim{"four_billion_ahead", {true, true, 4'000'000'000u}}),
    [](const auto& info) { return info.param.name; });

TEST(Queueing, MakesUnitsLongerForADeepQueueAndNoLongerThanTheShimRuns) {
  for (const uint32_t depth : {8u, 20u, 1024u}) {
    sim::HostSettings settings = Queued();
    settings.queue_claims.run_ahead = depth;
    sim::Host host(&kDevice, settings, {}, {}, 5);
    ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), kLongest));
    const RunPairs last = LeasesOf(host).back();
    EXPECT_GE(last.timed_steps, depth == 8 ? 8u : depth == 20 ? 32u : 64u);
    EXPECT_LE(last.timed_steps, 64u);
    EXPECT_LE(last.warm_steps + last.timed_steps, 128u);
  }
}

// Device-bound by so little that a plan which saves a quarter of the device's time saves 2 % of a
// step. It also spares its own queue the refill, which shows in short units as one more per cent.
TEST(Queueing, SettlesByLongerUnitsWhereTheirEndsCouldPassForAGain) {
  sim::HostSettings settings = Queued();
  settings.queue_host_ns = 0.98 * kDeviceNs;
  settings.queue_host_costs = nullptr;
  settings.noise = {};
  settings.noise.sd = 0.001;
  settings.noise.drift_amplitude = settings.noise.walk = 0;
  settings.noise.outlier_share = settings.noise.regime_rate = 0;
  const sim::CostTable device({std::log(0.75), 0.03});
  sim::Host host(&device, settings, {}, {}, 10);
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), kLongest));
  ASSERT_TRUE(host.settlement().has_value());
  EXPECT_EQ(host.settlement()->kind, SettlementKind::kInJob);
  // A tenth of a step in sixteen is left of it, and in eight was twice that.
  EXPECT_NEAR(host.settlement()->gain.estimate, 0.02 + 0.1 / 16, 0.003);
  EXPECT_EQ(LastReplication(host).timed_steps, 16u);
  const auto search = std::find_if(host.races().begin(), host.races().end(), [](const auto& race) {
    return race.kind == RaceKind::kSearch && race.outcome == RaceOutcome::kWon;
  });
  ASSERT_NE(search, host.races().end());
  EXPECT_EQ(search->timed_steps, 8u) << "a search does not pay for it";
}

// What a search on a queued host cost, as it says and as it was.
struct Cost {
  double regret = 0, true_regret = 0, drain = 0, waits = 0;  // in steps of the default
};

Cost CostOf(uint64_t seed) {
  sim::TableSettings drawn;
  drawn.winners = false;
  const sim::CostTable host_costs(drawn, seed);
  drawn.flat = true;
  const sim::CostTable device(drawn, seed);
  sim::HostSettings settings = Queued();
  settings.queue_host_costs = &host_costs;
  settings.noise = {};
  settings.noise.outlier_high = 4;  // never so long that a unit is cut short
  sim::Host host(&device, settings, {}, {}, seed);
  const SessionId s = host.Attach("job");
  EXPECT_TRUE(host.RunUntilEnd(s, kLongest)) << seed;
  const CostRecord cost = host.outcome(s)->cost;
  double waits = 0;
  for (const Event& event : host.events()) {
    const auto* lease = std::get_if<LeaseDone>(&event.body);
    if (lease != nullptr) waits += static_cast<double>(lease->drain_ns);
  }
  return {static_cast<double>(cost.regret.count()) / kHostNs, host.lost_steps(),
          static_cast<double>(cost.drain.count()) / kHostNs, waits / kHostNs};
}

TEST(Queueing, CountsRegretByEveryStepThatAUnitRan) {
  Cost sum;
  for (uint64_t seed = 7300; seed < 7310; ++seed) {
    const Cost cost = CostOf(seed);
    sum.regret += cost.regret;
    sum.true_regret += cost.true_regret;
    EXPECT_LE(cost.drain, cost.waits * 1.001) << seed;
  }
  // Of each plan the noise of its few pairs counts where it makes a loss of it, so it is told too
  // large; a step in ten that was left out would tell a tenth.
  EXPECT_LT(sum.regret, 1.6 * sum.true_regret);
  EXPECT_GT(sum.regret, sum.true_regret / 1.4);
}

// Jobs of one workload on queued hosts, each on a device of its own.
struct QueuedJobs {
  QueuedJobs() : host(&kDevice, Queued(), {}, {}, 11) {
    for (const char* device : {"GPU-0", "GPU-1"}) {
      ids.push_back(host.Attach(std::string("job on ") + device, Mode::kTune, device));
    }
  }
  // Pairs that a session gave to races of another one.
  uint64_t GivenBy(SessionId session) const {
    uint64_t pairs = 0;
    for (const RaceRecord& race : host.races()) {
      pairs += static_cast<uint64_t>(
          std::count_if(race.pairs.begin(), race.pairs.end(),
                        [&](const PairSample& pair) { return pair.session == session; }));
    }
    return pairs;
  }
  sim::Host host;
  std::vector<SessionId> ids;
};

TEST(Queueing, SharesRacesBetweenJobsWhoseUnitsAreTheSame) {
  QueuedJobs jobs;
  ASSERT_TRUE(jobs.host.RunUntilEnd(jobs.ids[0], kLongest));
  ExpectTruth(jobs.host);
  EXPECT_GT(jobs.GivenBy(jobs.ids[1]), 0u);
  for (const RunPairs& lease : LeasesOf(jobs.host)) {
    const bool noise = IsNoise(lease);
    EXPECT_LE(lease.challenger_first.size(), noise ? 32u : 16u);
    if (noise && lease.session == jobs.ids[1]) {
      EXPECT_LE(lease.challenger_first.size(), PairsALease({2, 8}, 16));
    }
  }
}

// The second job's host turns out to run far ahead in the middle of a race.
TEST(Queueing, TakesNoPairsOfAnotherJobWhoseUnitsAreTooShort) {
  QueuedJobs jobs;
  uint64_t told = 0;
  jobs.host.bend = [&](EventBody& body) {
    auto* done = std::get_if<LeaseDone>(&body);
    if (done == nullptr || done->session != jobs.ids[1]) return true;
    const auto leases = LeasesOf(jobs.host);
    const auto lease = std::find_if(leases.rbegin(), leases.rend(), [&](const RunPairs& run) {
      return run.session == done->session && run.lease == done->lease;
    });
    if (IsNoise(*lease)) return true;
    ++told;
    done->run_ahead = 40;
    return true;
  };
  ASSERT_TRUE(jobs.host.RunUntilEnd(jobs.ids[0], kLongest));
  EXPECT_EQ(told, 1u) << "its units have the length of the exploring job's no more";
  EXPECT_EQ(jobs.GivenBy(jobs.ids[1]), 0u);
  ExpectTruth(jobs.host);
}

// Device-bound: nearly all of what the host waits for at a drained point, the device works.
TEST(Queueing, ChargesDrainedPointsWithWhatIsLostAndNotWithEveryWait) {
  sim::HostSettings settings = Queued();
  settings.queue_host_ns = 1e6;
  const sim::CostTable device({-0.05, 0.03});
  sim::Host host(&device, settings, {}, {}, 6);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, kLongest));
  double waits = 0, points = 0;
  for (const Event& event : host.events()) {
    const auto* lease = std::get_if<LeaseDone>(&event.body);
    if (lease == nullptr) continue;
    waits += static_cast<double>(lease->drain_ns);
    points += 2.0 * static_cast<double>(lease->units.size());
  }
  const sim::QueueSettings queue;
  const double lost = points * (queue.launch_ns + queue.refill * kDeviceNs);
  const auto drain = static_cast<double>(host.outcome(s)->cost.drain.count());
  EXPECT_GT(waits, 10 * lost);
  EXPECT_LT(drain, 2 * lost);
  EXPECT_GT(drain, lost / 2);
}

// Whatever short units there were is left out, so nothing tells what a drained point costs, and all
// noise leases are charged for with the first lease of a plan.
TEST(Queueing, AsksForNothingWhereWhatNoiseStillOwesIsNotPaidFor) {
  sim::HostSettings settings = Queued();
  settings.queue_host_ns = 1e6;
  TuningConfig config;
  config.budget_allowance = std::chrono::milliseconds(200);
  sim::Host host(&kDevice, settings, config, {}, 6);
  host.bend = [](EventBody& body) {
    auto* lease = std::get_if<LeaseDone>(&body);
    if (lease == nullptr || lease->lease > 1) return true;
    for (UnitTime& unit : lease->units) unit.flags |= kUnitCheckpoint;
    return true;
  };
  const SessionId s = host.Attach("job");
  host.RunUntilEnd(s, kLongest);
  ASSERT_LT(LeasesOf(host).front().timed_steps, LeasesOf(host)[1].timed_steps);
  double longest = 0, overdrawn = 0;
  bool paused = false;
  for (const RunPairs& lease : LeasesOf(host)) {
    const uint64_t steps =
        2 * lease.challenger_first.size() * (lease.warm_steps + lease.timed_steps);
    longest = std::max(longest, static_cast<double>(steps) * kDeviceNs);
  }
  for (const Action& action : host.actions()) {
    const auto* report = std::get_if<ReportProgress>(&action);
    if (report == nullptr) continue;
    paused |= report->note.starts_with("the budget for exploring does not pay for more (0.3 s of");
    const Nanos over = report->cost.budget_spent - report->cost.budget_allowed;
    overdrawn = std::max(overdrawn, static_cast<double>(over.count()));
  }
  EXPECT_TRUE(paused) << "with what is owed in its note";
  EXPECT_LE(overdrawn, longest) << "by more than one directive";
}

TEST(Queueing, KeepsToTheStepsOfAJobThatAllowsSoMany) {
  sim::HostSettings settings = Queued();
  settings.tune_until_steps = 2000;
  sim::Host host(&kDevice, settings, {}, {}, 7);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, kLongest));
  EXPECT_LT(host.steps_of(s), 2000u + 4 * 2 * 12 + 10) << "by a lease at most";
}

TEST(Queueing, ChecksForDriftAsMuchMoreSeldomAsACheckIsDearer) {
  sim::Host host(&kDevice, Queued(), {}, {}, 8);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, kLongest));
  ASSERT_TRUE(host.drift().has_value());
  // Units of 2 and 8 steps where they would be of one.
  EXPECT_EQ(host.drift()->gap_steps, 10 * kFirstGapSteps);
  const size_t leases = LeasesOf(host).size();
  host.Serve(s, 8 * kFirstGapSteps);
  EXPECT_EQ(LeasesOf(host).size(), leases);
  host.Serve(s, 4 * kFirstGapSteps);
  const auto all = LeasesOf(host);
  ASSERT_GT(all.size(), leases);
  for (size_t i = leases; i < all.size(); ++i) {
    EXPECT_EQ(all[i].timed_steps, 8u);
    EXPECT_EQ(all[i].challenger, kDefaultVariant);
  }
  EXPECT_EQ(host.demotions(), 0u);
  EXPECT_EQ(host.drift()->gap_steps, 20 * kFirstGapSteps);
}

// A settled session of a daemon that started afresh has measured nothing yet: its check is where it
// learns that the host runs ahead, and what it saw before counts for nothing.
TEST(Queueing, StartsACheckAfreshWhereItsUnitsWereTooShort) {
  sim::HostSettings settings = Queued();
  settings.queue_claims = {false, true, {}};
  sim::Host host(&kDevice, settings, {}, {}, 9);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, kLongest));
  host.RestartDaemon(sim::Restart::kStopped);
  ASSERT_TRUE(host.RunUntilEnd(s, kLongest));
  const size_t before = LeasesOf(host).size();
  host.Serve(s, 20 * kFirstGapSteps);
  const auto leases = LeasesOf(host);
  ASSERT_GT(leases.size(), before + 1);
  EXPECT_EQ(leases[before].timed_steps, 1u);
  EXPECT_EQ(leases[before + 1].timed_steps, 8u);
  EXPECT_EQ(host.demotions(), 0u);
  const auto check = std::find_if(host.races().begin(), host.races().end(),
                                  [](const auto& race) { return race.kind == RaceKind::kDrift; });
  ASSERT_NE(check, host.races().end());
  const size_t short_ones = leases[before].challenger_first.size();
  for (size_t i = 0; i < check->pairs.size(); ++i) {
    EXPECT_EQ(check->pairs[i].excluded, i < short_ones) << i;
  }
}

}  // namespace
}  // namespace blazed::planner
