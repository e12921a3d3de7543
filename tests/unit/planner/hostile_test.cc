// Clients that lie, repeat themselves, go silent or make no sense. A verdict or silence, never a
// wrong settlement.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "client/sim/host.h"
#include "daemon/planner/random.h"
#include "daemon/planner/samples.h"
#include "daemon/planner/space.h"

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

// It is right alone, and the fastest; with any other change it is wrong.
TEST(Hostile, ClosesAnOptionThatIsWrongWithEveryOther) {
  std::vector<double> costs(40, 0.004);
  costs[1] = -0.08;
  for (int i = 20; i < 30; ++i) costs[static_cast<size_t>(i)] = -0.01;
  const sim::CostTable table(costs);
  sim::Host host(&table, {}, {}, {}, 6);
  std::map<VariantId, Plan> plans;
  int rejected = 0;
  host.bend = [&](EventBody& body) {
    for (const Action& action : host.actions()) {
      if (const auto* build = std::get_if<BuildVariant>(&action))
        plans[build->variant] = build->plan;
    }
    if (auto* done = std::get_if<ProbeDone>(&body)) {
      const Plan& plan = plans[done->variant];
      const bool with_it = std::find(plan.begin(), plan.end(), Choice{1, 1}) != plan.end();
      if (with_it && plan.size() > 1) {
        done->summary.equivalence = Equivalence::kRejectedDifferent;
        done->passed_batches = 0;
        ++rejected;
      }
    }
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 200000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled);
  EXPECT_GE(rejected, 1);
  EXPECT_LE(rejected, 60);
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
  for (const bool host_says_so : {true, false}) {
    sim::HostSettings settings;
    settings.peak_bytes = 100;
    sim::Host host(&table, settings, {}, {}, 8);
    host.bend = [&](EventBody& body) {
      auto* built = std::get_if<VariantBuilt>(&body);
      if (built == nullptr) return true;
      built->peak_bytes = 1000;
      if (host_says_so) built->status = BuildStatus::kMemory;
      return true;
    };
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 50000));
    EXPECT_EQ(host.plans().at(kGood).verdict, Verdict::kRejectedMemory);
    EXPECT_FALSE(host.settlement().has_value());
    EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  }
}

TEST(Hostile, SaysInTheHostsWordsThatThereWasNoMemoryForABuild) {
  const sim::CostTable table = Table();
  sim::Host host(&table, {}, {}, {}, 8);
  host.bend = [&](EventBody& body) {
    auto* built = std::get_if<VariantBuilt>(&body);
    if (built == nullptr) return true;
    built->status = BuildStatus::kMemory;
    built->peak_bytes = 0;
    built->reason = "its first run failed for want of memory";
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.plans().at(kGood).verdict, Verdict::kRejectedMemory);
  EXPECT_EQ(host.plans().at(kGood).reason, "its first run failed for want of memory");
}

TEST(Hostile, SettlesNothingWhereEveryProbeIsRejected) {
  const sim::CostTable table = Table();
  for (const Equivalence answer : {Equivalence::kRejectedDifferent, Equivalence::kRejectedBroken,
                                   Equivalence::kInconclusive}) {
    sim::Host host(&table, {}, {}, {}, 13);
    host.bend = [&](EventBody& body) {
      if (auto* done = std::get_if<ProbeDone>(&body)) done->summary.equivalence = answer;
      return true;
    };
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 50000));
    EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
    EXPECT_FALSE(host.settlement().has_value());
    EXPECT_EQ(host.outcome(s)->cost.search_pairs, host.outcome(s)->cost.noise_pairs);
  }
}

// One other kernel, whatever is asked for: the first plan that asks for it stands for all.
TEST(Hostile, JudgesOnePlanWhereAllOthersRunTheSame) {
  for (const double cost : {-0.08, 0.02}) {
    const sim::CostTable table(std::vector<double>(4, 0.0));
    sim::CostTable live = table;
    sim::Host host(&table, {}, {}, {}, 14);
    host.live_table = &live;
    std::optional<Plan> first;
    host.bend = [&](EventBody& body) {
      auto* built = std::get_if<VariantBuilt>(&body);
      if (built == nullptr) return true;
      for (const Action& action : host.actions()) {
        const auto* build = std::get_if<BuildVariant>(&action);
        if (build != nullptr && build->build == built->build && !first) first = build->plan;
      }
      live.SetCost(first->front().decision, 1, cost);
      built->signature = Digest{7};
      return true;
    };
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 50000));
    EXPECT_EQ(host.outcome(s)->outcome, cost < 0 ? Outcome::kSettled : Outcome::kNoWinner);
    uint64_t duplicates = 0;
    for (const auto& [plan, record] : host.plans()) {
      if (plan.empty()) continue;
      const bool one = plan == *first;
      duplicates += record.verdict == Verdict::kDuplicate ? 1 : 0;
      EXPECT_EQ(record.pairs > 0, one) << record.reason;
      if (!one) {
        EXPECT_EQ(record.verdict, Verdict::kDuplicate) << record.reason;
      }
    }
    EXPECT_GE(duplicates, 3u);
    EXPECT_EQ(host.in_use(s), cost < 0 ? *first : Plan{});
  }
}

// More decisions than a search takes: those of the most sites are searched, the others stay as the
// host has them.
TEST(Hostile, SearchesTheDecisionsOfMostSitesWhereThereAreFourThousand) {
  sim::CostTable table(std::vector<double>(4096, 0.01));
  WorkloadSpec spec = table.spec();
  for (uint32_t d = 0; d < 100; ++d) spec.decisions[40 * d].sites = 9;
  TuningConfig config;
  config.max_window = std::chrono::seconds(2);
  Tuning tuning(spec, Contract::kRounding, config, {});
  const Space space(spec, Contract::kRounding);
  EXPECT_EQ(space.size(), Space::kMaxToggles);
  std::set<uint32_t> searched;
  for (size_t t = 0; t < space.size(); ++t) searched.insert(space.toggle(t).decision);
  for (uint32_t d = 0; d < 100; ++d) EXPECT_TRUE(searched.contains(40 * d)) << d;
  // A whole tuning as far as its window reaches.
  sim::Host host(&table, {}, config, {}, 15);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 2000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  EXPECT_GT(host.builds(), 0u);
  for (const auto& [plan, record] : host.plans()) EXPECT_LE(plan.size(), Space::kMaxToggles);
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

// Whoever is ahead in line may take longer than a host may for a build.
TEST(Hostile, IsWaitedForFromWhenADirectiveWentOut) {
  const sim::CostTable table = Table();
  const sim::HostSettings settings;
  sim::Host host(&table, settings, {}, {}, 9);
  host.bend = [](EventBody& body) { return !std::holds_alternative<VariantBuilt>(body); };
  const SessionId s = host.Attach("silent");
  host.RunUntilEnd(s, 1000);
  const auto asked = std::find_if(host.actions().begin(), host.actions().end(), [](const auto& a) {
    return std::holds_alternative<BuildVariant>(a);
  });
  ASSERT_NE(asked, host.actions().end());
  const DirectiveId build = std::get<BuildVariant>(*asked).build;
  const double minute = 60e9 / settings.step_ns;
  host.Send(DirectiveHeld{s, build});
  host.Pass(11 * minute);
  EXPECT_TRUE(host.tuning().IsOpen(s, build)) << "it was never asked";
  host.Send(DirectiveSent{s, build});
  host.Pass(6 * minute);
  host.Send(DirectiveSent{s, build});
  host.Pass(3 * minute);
  EXPECT_TRUE(host.tuning().IsOpen(s, build));
  host.Pass(2 * minute);
  EXPECT_FALSE(host.tuning().IsOpen(s, build)) << "a repeat changes nothing";
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
  const Moment first = Nanos(at);
  Tuning standing(table.spec(), Contract::kRounding, {}, {});
  uint64_t decided = 0;
  for (Event event : host.events()) {
    event.at = first;
    const std::vector<Action> expected = standing.Apply(event);
    event.at = Nanos(at -= 1000);
    if (decided == 0) event.at = first;
    EXPECT_EQ(tuning.Apply(event), expected) << "event " << decided;
    ++decided;
  }
  EXPECT_GT(decided, 20u);
}

// Time jumps back and forth between answers: what is settled was replicated, and no duration is
// less than nothing.
TEST(Hostile, StandsClocksThatJump) {
  const sim::CostTable table = Table();
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    sim::Host host(&table, {}, {}, {}, seed + 60);
    host.RunUntilEnd(host.Attach("job"), 20000);
    Tuning tuning(table.spec(), Contract::kRounding, {}, {});
    uint64_t ends = 0;
    for (Event event : host.events()) {
      event.at += Nanos(static_cast<int64_t>(random.Below(200'000'000'000)) - 100'000'000'000);
      for (const Action& action : tuning.Apply(event)) {
        const auto* race = std::get_if<KeepRace>(&action);
        if (race != nullptr) {
          EXPECT_LE(race->record.started, race->record.ended);
        }
        const auto* end = std::get_if<KeepOutcome>(&action);
        if (end == nullptr) continue;
        ++ends;
        EXPECT_GE(end->cost.window, Nanos(0));
        EXPECT_GE(end->cost.budget_allowed, Nanos(0));
      }
    }
    EXPECT_EQ(ends, 1u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace blazed::planner
