// Clients that lie, repeat themselves, go silent or make no sense. A verdict or silence, never a
// wrong settlement.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "client/sim/host.h"
#include "daemon/planner/samples.h"

namespace blazed::planner {
namespace {

const Plan kGood = {{1, 1}};

sim::CostTable Table() { return sim::CostTable({0.02, -0.08, 0.02, 0.01}); }

bool IsAnswer(const EventBody& body) { return !std::holds_alternative<SessionReady>(body); }

TEST(Hostile, CountsARepeatedAnswerOnce) {
  const sim::CostTable table = Table();
  sim::Host plain(&table, {}, {}, {}, 1), repeating(&table, {}, {}, {}, 1);
  repeating.bend = [&](EventBody& body) {
    if (IsAnswer(body)) repeating.tuning().Apply({repeating.now(), body});
    return false;
  };
  // The first copy is applied behind the host's back and its actions are lost, so only the repeat
  // is left to see.
  const SessionId s = repeating.Attach("job");
  repeating.RunUntilEnd(s, 200);
  EXPECT_FALSE(repeating.settlement().has_value());

  const SessionId t = plain.Attach("job");
  ASSERT_TRUE(plain.RunUntilEnd(t, 20000));
  const std::vector<Event> events = plain.events();
  Tuning again(table.spec(), Contract::kRounding, {}, {});
  for (const Event& event : events) {
    again.Apply(event);
    if (std::holds_alternative<Tick>(event.body)) continue;
    const bool window = std::holds_alternative<ServiceWindow>(event.body);
    for (const Action& action : again.Apply(event)) {
      EXPECT_TRUE(window || std::holds_alternative<ReportProgress>(action)) << action.index();
    }
  }
}

TEST(Hostile, IgnoresUnknownSessionsAndIds) {
  const sim::CostTable table = Table();
  Tuning tuning(table.spec(), Contract::kRounding, {}, {});
  SessionReady ready;
  ready.session = 1;
  ready.process = "a";
  tuning.Apply({Nanos(1), ready});
  VariantBuilt unasked_build, other_session;
  unasked_build.session = 1, unasked_build.build = 999, unasked_build.variant = 1;
  other_session.session = 9, other_session.build = 1, other_session.variant = 1;
  ProbeDone probe;
  probe.session = 1, probe.probe = 999, probe.variant = 1;
  LeaseDone lease;
  lease.session = 1, lease.lease = 999;
  DirectiveRefused refused;
  refused.session = 1, refused.directive = 999;
  const std::vector<EventBody> strange = {SessionGone{77, ""},
                                          unasked_build,
                                          other_session,
                                          probe,
                                          lease,
                                          LeaseExpired{1, 999},
                                          refused,
                                          VariantAdopted{1, 999, 0, 0},
                                          ServiceWindow{5, 1, 1, 1, 1},
                                          SettlementStored{999, 1},
                                          SettlementFailed{999, ""},
                                          SettlementStored{0, 1}};
  for (const EventBody& body : strange) {
    EXPECT_TRUE(tuning.Apply({Nanos(2), body}).empty()) << body.index();
  }
}

// Every duration is bent the same way; nothing may settle on it and nothing may crash.
class BentDurations : public ::testing::TestWithParam<uint64_t> {};

TEST_P(BentDurations, SettleNothing) {
  const sim::CostTable table = Table();
  sim::Host host(&table, {}, {}, {}, 3);
  host.bend = [](EventBody& body) {
    if (auto* done = std::get_if<LeaseDone>(&body)) {
      for (UnitTime& unit : done->units) unit.host_ns = GetParam();
      done->drain_ns = GetParam();
    }
    if (auto* built = std::get_if<VariantBuilt>(&body)) built->build_ns = GetParam();
    if (auto* done = std::get_if<ProbeDone>(&body)) done->probe_ns = GetParam();
    return true;
  };
  const SessionId s = host.Attach("job");
  host.RunUntilEnd(s, 5000);
  if (host.settlement()) {
    EXPECT_EQ(host.settlement()->kind, SettlementKind::kNoWinner);
  }
  EXPECT_TRUE(host.in_use(s).empty());
}

INSTANTIATE_TEST_SUITE_P(Durations, BentDurations,
                         ::testing::Values(uint64_t{0}, uint64_t{1}, uint64_t{1} << 63,
                                           std::numeric_limits<uint64_t>::max()));

TEST(Hostile, RefusesLeasesWhoseUnitsDisagreeWithTheirSchedule) {
  const sim::CostTable table = Table();
  sim::Host host(&table, {}, {}, {}, 4);
  host.bend = [](EventBody& body) {
    if (auto* done = std::get_if<LeaseDone>(&body))
      done->units.resize(done->units.size() * 2, {5, 0, 0});
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 5000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  EXPECT_EQ(host.outcome(s)->cost.search_pairs, 0u);
}

TEST(Hostile, ProvesNothingFromUnusableComparisons) {
  const sim::CostTable table = Table();
  sim::Host host(&table, {}, {}, {}, 5);
  host.bend = [](EventBody& body) {
    if (auto* done = std::get_if<ProbeDone>(&body)) {
      done->summary.max_abs = std::numeric_limits<double>::quiet_NaN();
    }
    return true;
  };
  host.on_live = [](SessionId, VariantId variant, const Plan&) { EXPECT_EQ(variant, 0u); };
  const SessionId s = host.Attach("job");
  host.RunUntilEnd(s, 20000);
  for (const auto& [plan, record] : host.plans()) {
    if (record.has_comparison) {
      EXPECT_EQ(record.verdict, Verdict::kInconclusive);
    }
  }
}

TEST(Hostile, RejectsTheOptionThatBreaksAndKeepsTheRest) {
  const sim::CostTable table({0.02, -0.08, 0.02, -0.05, 0.01, 0.02});
  sim::Host host(&table, {}, {}, {}, 6);
  std::map<VariantId, Plan> plans;
  host.bend = [&](EventBody& body) {
    for (const Action& action : host.actions()) {
      if (const auto* build = std::get_if<BuildVariant>(&action))
        plans[build->variant] = build->plan;
    }
    if (auto* done = std::get_if<ProbeDone>(&body)) {
      for (const Choice& c : plans[done->variant]) {
        if (c.decision != 1) continue;
        done->summary.equivalence = Equivalence::kRejectedDifferent;
        done->passed_batches = 0;
      }
    }
    return true;
  };
  host.on_live = [](SessionId, VariantId, const Plan& plan) {
    for (const Choice& c : plan) EXPECT_NE(c.decision, 1u);
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled);
  EXPECT_EQ(host.in_use(s), (Plan{{3, 1}}));
}

// A broken compiler is no answer that a later job should inherit.
TEST(Hostile, SettlesNothingWhereEveryBuildFails) {
  const sim::CostTable table = Table();
  sim::Host host(&table, {}, {}, {}, 7);
  host.bend = [](EventBody& body) {
    if (auto* built = std::get_if<VariantBuilt>(&body)) {
      built->status = BuildStatus::kFailed;
      built->reason = "no compiler";
    }
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  EXPECT_FALSE(host.settlement().has_value());
  EXPECT_EQ(host.plans().at(kGood).verdict, Verdict::kBuildFailed);
  EXPECT_EQ(host.plans().at(kGood).reason, "no compiler");
  TuningMemory memory;
  for (const auto& [plan, record] : host.plans()) memory.plans.push_back(record);
  sim::Host repaired(&table, {}, {}, memory, 7);
  const SessionId next = repaired.Attach("next");
  ASSERT_TRUE(repaired.RunUntilEnd(next, 50000));
  EXPECT_EQ(repaired.outcome(next)->outcome, Outcome::kSettled);
}

TEST(Hostile, RefusesVariantsThatNeedMoreMemoryThanTheJobAllows) {
  const sim::CostTable table = Table();
  sim::Host host(&table, {}, {}, {}, 8);
  host.bend = [](EventBody& body) {
    if (auto* ready = std::get_if<SessionReady>(&body)) ready->default_peak_bytes = 100;
    if (auto* built = std::get_if<VariantBuilt>(&body)) built->status = BuildStatus::kMemory;
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.plans().at(kGood).verdict, Verdict::kRejectedMemory);
  EXPECT_FALSE(host.settlement().has_value());
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
}

TEST(Hostile, FindsNoWinnerWhereEveryPlanRunsAsTheDefault) {
  const sim::CostTable table = Table();
  sim::Host host(&table, {}, {}, {}, 12);
  host.bend = [&](EventBody& body) {
    if (auto* built = std::get_if<VariantBuilt>(&body)) built->signature = table.Signature({}, 0);
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kNoWinner);
  EXPECT_EQ(host.settlement()->kind, SettlementKind::kNoWinner);
}

TEST(Hostile, LeavesASessionAloneThatLetsItsLeasesExpire) {
  const sim::CostTable table = Table();
  Tuning tuning(table.spec(), Contract::kRounding, {}, {});
  std::vector<Action> actions;
  SessionReady ready;
  ready.session = 1;
  ready.process = "a";
  for (const Action& a : tuning.Apply({Nanos(1), ready})) actions.push_back(a);
  bool ended = false;
  for (int i = 0; i < 10 && !ended; ++i) {
    DirectiveId lease = 0;
    for (const Action& a : actions) {
      if (const auto* run = std::get_if<RunPairs>(&a)) lease = run->lease;
      ended = ended || std::holds_alternative<KeepOutcome>(a);
    }
    actions = tuning.Apply({Nanos(2 + i), LeaseExpired{1, lease}});
  }
  EXPECT_TRUE(ended);
}

TEST(Hostile, TakesATurnAwayFromAHostThatNeverAnswersABuild) {
  const sim::CostTable table = Table();
  Tuning tuning(table.spec(), Contract::kRounding, {}, {});
  sim::Host host(&table, {}, {}, {}, 9);
  host.bend = [](EventBody& body) { return !std::holds_alternative<VariantBuilt>(body); };
  const SessionId silent = host.Attach("silent");
  EXPECT_FALSE(host.RunUntilEnd(silent, 1000));
  host.RunUntilEnd(silent, 400000);
  EXPECT_TRUE(host.outcome(silent).has_value()) << "the silent session still holds the turn";
}

TEST(Hostile, FollowsARefusalOfThePlanInUse) {
  const sim::CostTable table = Table();
  sim::Host host(&table, {}, {}, {}, 10);
  host.bend = [&](EventBody& body) {
    const auto* adopted = std::get_if<VariantAdopted>(&body);
    if (adopted == nullptr || adopted->variant == 0) return true;
    body = DirectiveRefused{adopted->session, adopted->adopt, adopted->variant, Refusal::kNotProven,
                            "not proven here"};
    return true;
  };
  const SessionId s = host.Attach("job");
  host.RunUntilEnd(s, 50000);
  if (host.settlement()) {
    EXPECT_NE(host.settlement()->plan, kGood);
  }
}

TEST(Hostile, StandsASessionWhoseDescriptionIsAbsurd) {
  const sim::CostTable table = Table();
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  Tuning tuning(table.spec(), Contract::kRounding, {}, {});
  SessionReady ready;
  ready.session = 1;
  ready.default_step_ns = ready.default_build_ns = ready.default_peak_bytes = kMost;
  ready.extra_memory_bytes = ready.tune_until_steps = ready.seed = kMost;
  ready.tune_until = Nanos::max();
  std::vector<Action> actions = tuning.Apply({Nanos(1), ready});
  for (int round = 0; round < 20; ++round) {
    std::vector<Action> next;
    for (const Action& action : actions) {
      std::vector<Action> more;
      if (const auto* run = std::get_if<RunPairs>(&action)) {
        LeaseDone done;
        done.session = 1;
        done.lease = run->lease;
        done.units.resize(2 * run->challenger_first.size(), {kLongestUnitNs, kMost, 0});
        done.first_step = kMost;
        done.drain_ns = kMost;
        more = tuning.Apply({Nanos(2 + round), done});
      }
      if (const auto* build = std::get_if<BuildVariant>(&action)) {
        VariantBuilt built;
        built.session = 1;
        built.build = build->build;
        built.variant = build->variant;
        built.signature = table.Signature(build->plan, 0);
        built.build_ns = built.peak_bytes = kMost;
        more = tuning.Apply({Nanos(2 + round), built});
      }
      next.insert(next.end(), more.begin(), more.end());
    }
    actions = next;
  }
  for (const Action& action : actions) EXPECT_FALSE(std::holds_alternative<Settle>(action));
}

TEST(Hostile, StandsClocksThatGoBackwards) {
  const sim::CostTable table = Table();
  sim::Host host(&table, {}, {}, {}, 11);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  Tuning tuning(table.spec(), Contract::kRounding, {}, {});
  int64_t at = 1'000'000'000'000;
  for (Event event : host.events()) {
    event.at = Nanos(at -= 1000);
    for (const Action& action : tuning.Apply(event)) {
      if (const auto* end = std::get_if<KeepOutcome>(&action)) {
        EXPECT_GE(end->cost.window, Nanos(0));
      }
    }
  }
}

}  // namespace
}  // namespace blazed::planner
