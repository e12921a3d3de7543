// What exploring may cost: the account, and what a tuning does when it is empty.
#include "daemon/planner/budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "client/sim/host.h"

namespace blazed::planner {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kSpent[] = "the budget for exploring does not pay for more";

TuningConfig Allowing(Nanos allowance, double share) {
  TuningConfig config;
  config.budget_allowance = allowance;
  config.budget_share = share;
  return config;
}

TEST(Budget, IsTheAllowanceAndAShareOfTheTimeSinceItsBeginning) {
  const Budget budget(Allowing(seconds(10), 0.02), seconds(1000));
  EXPECT_EQ(budget.Allowed(seconds(1000)), seconds(10));
  EXPECT_EQ(budget.Allowed(seconds(1100)), seconds(12));
  EXPECT_EQ(budget.Allowed(seconds(900)), seconds(10))
      << "a clock that goes backwards takes nothing";
}

TEST(Budget, CoversWhatFitsBesideWhatIsSpent) {
  Budget budget(Allowing(seconds(10), 0), seconds(0));
  budget.Spend(4e9);
  EXPECT_TRUE(budget.Covers(6e9, seconds(0)));
  EXPECT_FALSE(budget.Covers(6e9 + 1, seconds(0)));
  budget.Spend(-1e9);
  EXPECT_EQ(budget.spent(), seconds(3));
}

TEST(Budget, PaysWhatWasOverdrawnBeforeAnythingElse) {
  Budget budget(Allowing(seconds(1), 0.02), seconds(0));
  budget.Spend(3e9);
  EXPECT_FALSE(budget.Covers(0, seconds(99)));
  EXPECT_TRUE(budget.Covers(0, seconds(101)));
  ASSERT_TRUE(budget.CoversAt(1e9, seconds(0)).has_value());
  const Moment at = *budget.CoversAt(1e9, seconds(0));
  EXPECT_FALSE(budget.Covers(1e9, at - milliseconds(1)));
  EXPECT_TRUE(budget.Covers(1e9, at + milliseconds(1)));
}

TEST(Budget, SaysNeverWhereNoTimeAddsToIt) {
  Budget budget(Allowing(seconds(1), 0), seconds(0));
  EXPECT_EQ(budget.CoversAt(1e9, seconds(5)), seconds(5));
  EXPECT_EQ(budget.CoversAt(1e9 + 1, seconds(5)), std::nullopt);
  EXPECT_FALSE(Budget().Covers(1, seconds(1'000'000)));
}

// ---- tunings ----

sim::CostTable OneGoodOption() { return sim::CostTable({0.02, -0.08, 0.02, 0.01, 0.02, 0.01}); }

std::vector<std::string> NotesOf(const sim::Host& host) {
  std::vector<std::string> notes;
  for (const Action& action : host.actions()) {
    const auto* report = std::get_if<ReportProgress>(&action);
    if (report != nullptr && report->phase == Phase::kWaiting) notes.push_back(report->note);
  }
  return notes;
}

bool Says(const std::vector<std::string>& notes, const std::string& part) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

TEST(SpentBudget, PausesTheSearchSaysSoAndGoesOn) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, Allowing(milliseconds(300), 0.02), {}, 1);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 200000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled);
  EXPECT_EQ(host.in_use(s), (Plan{{1, 1}}));
  EXPECT_TRUE(Says(NotesOf(host), kSpent));
  EXPECT_TRUE(Says(NotesOf(host), "; it goes on in about "));
  const CostRecord cost = host.outcome(s)->cost;
  EXPECT_GT(cost.budget_spent, milliseconds(300));
  EXPECT_LE(cost.budget_spent, cost.budget_allowed);
  // It cost what the accounts say: no pause is a cost.
  const Nanos accounts = cost.regret + cost.build + cost.probe + cost.drain;
  EXPECT_NEAR(static_cast<double>(cost.budget_spent.count()), static_cast<double>(accounts.count()),
              1e3);
}

TEST(SpentBudget, IsKnownToTheForecast) {
  const sim::CostTable table(std::vector<double>(12, 0.01));
  const auto forecast = [&](const TuningConfig& config) {
    sim::HostSettings settings;
    settings.build_steps = 200;
    sim::Host host(&table, settings, config, {}, 9);
    host.RunUntilEnd(host.Attach("job"), 200);
    return *host.forecast();
  };
  const ForecastRecord whole = forecast(Allowing(std::chrono::hours(1), 0.02));
  const ForecastRecord cut = forecast(Allowing(seconds(10), 0.02));
  EXPECT_EQ(whole.based_on.find("cut to its budget"), std::string::npos);
  EXPECT_NE(cut.based_on.find("cut to its budget"), std::string::npos) << cut.based_on;
  EXPECT_LE(cut.builds, 5u) << "of two seconds each";
  EXPECT_GT(cut.builds, 0u);
  EXPECT_LT(cut.window, whole.window);
}

TEST(SpentBudget, RunsThePlanInUseWhileItWaits) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, Allowing(milliseconds(300), 0.02), {}, 1);
  const SessionId s = host.Attach("job");
  bool paused = false;
  uint64_t steps = 0;
  host.on_live = [&](SessionId, VariantId variant, const Plan&) {
    paused = host.tuning().phase(s) == Phase::kWaiting;
    if (!paused) return;
    ++steps;
    EXPECT_EQ(variant == kDefaultVariant, host.in_use(s).empty());
  };
  ASSERT_TRUE(host.RunUntilEnd(s, 200000));
  EXPECT_GT(steps, 1000u);
}

TEST(SpentBudget, EndsUndecidedWhereNoTimeAddsToIt) {
  const sim::CostTable table(std::vector<double>(12, 0.01));
  sim::Host host(&table, {}, Allowing(milliseconds(300), 0), {}, 2);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  EXPECT_NE(host.outcome(s)->reason.find(kSpent), std::string::npos) << host.outcome(s)->reason;
  EXPECT_GT(host.builds(), 0u);
  EXPECT_TRUE(host.forecast().has_value());
}

TEST(SpentBudget, BuildsNothingWhereNothingIsAllowed) {
  const sim::CostTable table = OneGoodOption();
  sim::HostSettings settings;
  settings.build_steps = 0;  // unknown before the first one
  sim::Host host(&table, settings, Allowing(Nanos(0), 0), {}, 3);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  EXPECT_EQ(host.builds(), 0u);
  EXPECT_TRUE(host.in_use(s).empty());
}

TEST(SpentBudget, EndsUndecidedWhereTheJobEndsBeforeItGoesOn) {
  const sim::CostTable table(std::vector<double>(12, 0.01));
  sim::HostSettings settings;
  settings.tune_until_steps = 1000;
  sim::Host host(&table, settings, Allowing(milliseconds(300), 1e-6), {}, 4);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  EXPECT_NE(host.outcome(s)->reason.find(kSpent), std::string::npos) << host.outcome(s)->reason;
  EXPECT_LT(host.steps_of(s), 900u);
}

TEST(SpentBudget, IsNotAskedAboutWhatIsSettled) {
  const sim::CostTable table = OneGoodOption();
  sim::Host first(&table, {}, {}, {}, 5);
  ASSERT_TRUE(first.RunUntilEnd(first.Attach("job"), 20000));
  TuningMemory memory;
  memory.settlement = first.settlement();
  sim::Host host(&table, {}, Allowing(Nanos(0), 0), memory, 6);
  const SessionId s = host.Attach("other");
  ASSERT_TRUE(host.RunUntilEnd(s, 2000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kServed);
  EXPECT_EQ(host.in_use(s), (Plan{{1, 1}}));
  EXPECT_EQ(host.outcome(s)->cost.budget_spent, Nanos(0));
}

// Whoever has spent waits, the other one goes on, and back.
TEST(SpentBudget, PassesTheTurnToAJobThatCanPay) {
  const sim::CostTable table(std::vector<double>(16, 0.01));
  sim::Host host(&table, {}, Allowing(milliseconds(400), 0.001), {}, 7);
  const SessionId a = host.Attach("a");
  const SessionId b = host.Attach("b");
  ASSERT_TRUE(host.RunUntilEnd(a, 400000));
  std::vector<SessionId> turns;
  for (const Action& action : host.actions()) {
    const auto* build = std::get_if<BuildVariant>(&action);
    if (build == nullptr) continue;
    if (turns.empty() || turns.back() != build->session) turns.push_back(build->session);
  }
  ASSERT_GE(turns.size(), 3u) << "one of them never got another turn";
  EXPECT_EQ(turns[0], a);
  EXPECT_EQ(turns[1], b);
  EXPECT_EQ(turns[2], a);
  EXPECT_TRUE(Says(NotesOf(host), "another job goes on with the search"));
  EXPECT_EQ(host.outcome(a)->outcome, Outcome::kNoWinner);
  host.RunUntilEnd(b, 1000);
  EXPECT_EQ(host.outcome(b)->outcome, Outcome::kNoWinner);
}

// Before the win is found the search may spend all; from then on it leaves what settling costs.
TEST(SpentBudget, IsKeptBackForSettlingWhatWasFound) {
  const sim::CostTable table = OneGoodOption();
  int settled = 0, cut = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    sim::Host host(&table, {}, Allowing(milliseconds(900), 0), {}, 100 + seed);
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 50000)) << "seed " << 100 + seed;
    const bool won = host.outcome(s)->outcome == Outcome::kSettled;
    settled += won;
    cut += won && host.outcome(s)->cost.budget_spent > milliseconds(700);
  }
  EXPECT_GE(settled, 7) << "of 10";
  EXPECT_GE(cut, 3) << "the budget was never short";
}

TEST(SpentBudget, LeavesADueDriftCheckDue) {
  const sim::CostTable table = OneGoodOption();
  sim::Host host(&table, {}, Allowing(seconds(20), 0.02), {}, 8);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  ASSERT_TRUE(host.settled(s));
  const auto checks = [&] {
    return std::count_if(host.races().begin(), host.races().end(),
                         [](const RaceRecord& r) { return r.kind == RaceKind::kDrift; });
  };
  // One probe takes thirty seconds. Ten of them are overdrawn, which takes 50,000 steps to pay
  // back.
  bool dear = true;
  host.bend = [&](EventBody& body) {
    auto* done = std::get_if<ProbeDone>(&body);
    if (done != nullptr && std::exchange(dear, false)) done->probe_ns = uint64_t{30'000'000'000};
    return true;
  };
  host.Serve(s, 2000);
  ASSERT_FALSE(dear);
  const auto before = checks();
  host.Serve(s, 20000);
  EXPECT_EQ(checks(), before);
  host.Serve(s, 90000);
  EXPECT_GT(checks(), before);
  EXPECT_EQ(host.demotions(), 0u);
}

// A host that has the work may be at it, whoever has stopped waiting.
TEST(SpentBudget, IsChargedForWhatIsStillOutAtTheEnd) {
  const sim::CostTable table = OneGoodOption();
  sim::HostSettings settings;
  settings.build_steps = 80;
  TuningConfig config;
  config.max_window = seconds(60);
  sim::Host host(&table, settings, config, {}, 10);
  host.bend = [](EventBody& body) { return !std::holds_alternative<VariantBuilt>(body); };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  ASSERT_GE(host.builds(), 1u);
  const double expected = 80 * settings.step_ns * static_cast<double>(host.builds());
  EXPECT_GE(static_cast<double>(host.outcome(s)->cost.budget_spent.count()), expected);
}

TEST(SpentBudget, IsNotChargedForWhatNeverWentOut) {
  const sim::CostTable table = OneGoodOption();
  sim::HostSettings settings;
  settings.build_steps = 80;
  TuningConfig config;
  config.max_window = seconds(60);
  sim::Host host(&table, settings, config, {}, 10);
  host.bend = [](EventBody& body) { return !std::holds_alternative<VariantBuilt>(body); };
  const SessionId s = host.Attach("job");
  host.RunUntilEnd(s, 1000);
  ASSERT_GE(host.builds(), 1u);
  for (DirectiveId id = 1; id < 100; ++id) host.Send(DirectiveHeld{s, id});
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.outcome(s)->cost.budget_spent, Nanos(0));
}

TEST(SpentBudget, IsChargedForEveryVariantOfAProbeThatIsNeverAnswered) {
  const sim::CostTable table(std::vector<double>(12, 0.01));
  const sim::HostSettings settings;
  sim::Host host(&table, settings, {}, {}, 11);
  host.bend = [](EventBody& body) { return !std::holds_alternative<ProbeDone>(body); };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 400000));
  double variants = 0;
  size_t most = 0;
  for (const Action& action : host.actions()) {
    const auto* probe = std::get_if<ProbeVariants>(&action);
    if (probe == nullptr) continue;
    variants += static_cast<double>(probe->variants.size());
    most = std::max(most, probe->variants.size());
  }
  ASSERT_GT(most, 1u);
  const CostRecord cost = host.outcome(s)->cost;
  // Each is expected to take 1.3 steps a batch, and one batch of the default's.
  const double probes = variants * 1.3 * 4 * settings.step_ns;
  EXPECT_NEAR(static_cast<double>((cost.budget_spent - cost.build).count()), probes, 0.1 * probes);
}

TEST(BuildLimit, HoldsForASearchWithItsRebuild) {
  const sim::CostTable table = OneGoodOption();
  std::set<Outcome> seen;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    TuningConfig config;
    config.max_builds = 4;
    sim::Host host(&table, {}, config, {}, 200 + seed);
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 50000)) << "seed " << 200 + seed;
    EXPECT_LE(host.builds(), 4u) << "seed " << 200 + seed;
    seen.insert(host.outcome(s)->outcome);
    if (host.outcome(s)->outcome == Outcome::kUndecided) {
      EXPECT_EQ(host.outcome(s)->reason, "this process has spent its builds");
    }
  }
  EXPECT_TRUE(seen.contains(Outcome::kUndecided) || seen.contains(Outcome::kSettled));
  EXPECT_FALSE(seen.contains(Outcome::kNoWinner));
}

}  // namespace
}  // namespace blazed::planner
