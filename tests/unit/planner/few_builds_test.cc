// Where a build takes longer than a hundred steps: which one comes next, and whether it pays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "client/sim/host.h"
#include "daemon/planner/prospect.h"

namespace blazed::planner {
namespace {

constexpr double kLongJob = 1e6;  // steps

sim::HostSettings Dear() {
  sim::HostSettings settings;
  settings.step_ns = 50e6;
  settings.build_steps = 200;
  return settings;
}

size_t BuildsOf(const sim::Host& host) {
  return static_cast<size_t>(
      std::count_if(host.actions().begin(), host.actions().end(),
                    [](const Action& a) { return std::holds_alternative<BuildVariant>(a); }));
}

// What was last said of the session.
ReportProgress LastWord(const std::vector<Action>& actions, SessionId session) {
  ReportProgress last;
  for (const Action& action : actions) {
    const auto* report = std::get_if<ReportProgress>(&action);
    if (report != nullptr && report->session == session) last = *report;
  }
  return last;
}

// The steps that a note names; 0: none.
uint64_t StepsIn(const std::string& note) {
  static const std::string before = "in about ";
  const size_t at = note.find(before);
  return at == std::string::npos ? 0 : std::stoull(note.substr(at + before.size()));
}

// The host did not say what a build takes: one tells, and the others are not built for their
// signatures alone.
TEST(FewBuilds, ScoutsNoFurtherWhereTheFirstBuildTurnsOutDear) {
  const sim::CostTable table(std::vector<double>(40, 0.01));
  sim::Host host(&table, Dear(), {}, {}, 5);
  host.bend_ready = [](SessionReady& ready) { ready.default_build_ns = 0; };
  const SessionId session = host.Attach("job");
  host.RunUntilEnd(session, 3000);
  EXPECT_GE(BuildsOf(host), 1u);
  EXPECT_LE(BuildsOf(host), 3u);
}

// The first build waits until the job has run for long enough, and the sooner ends that wait the
// cheaper the host guesses the build to be.
TEST(FewBuilds, WaitsNoLongerThanTheGuessedBuildAsks) {
  const sim::CostTable table({-0.3, 0.01, 0.02});
  const auto steps_to_the_first = [&](const std::vector<uint64_t>& guesses) {
    sim::HostSettings settings = Dear();
    settings.build_guesses = guesses;
    sim::Host host(&table, settings, {}, {}, 5);
    const SessionId session = host.Attach("job");
    for (uint64_t steps = 100; steps < 200000; steps += 100) {
      host.RunUntilEnd(session, 100);
      if (BuildsOf(host) > 0) return steps;
    }
    return uint64_t{200000};
  };
  constexpr size_t kAll = 3 * kMostOptions;
  const uint64_t as_usual = steps_to_the_first({});
  EXPECT_LT(steps_to_the_first(std::vector<uint64_t>(kAll, 1'000'000)), as_usual / 2);
  EXPECT_GT(steps_to_the_first(std::vector<uint64_t>(kAll, 60'000'000'000)), 2 * as_usual);
  EXPECT_EQ(steps_to_the_first(std::vector<uint64_t>(kAll, 0)), as_usual);
}

TEST(Prospect, PutsAsManyChangesIntoABuildAsPayTogether) {
  const sim::CostTable table(std::vector<double>(40, 0));
  const Space space(table.spec(), Contract::kRounding);
  const auto closed = [](size_t i) { return i == 0; };
  const auto taken = [](const Toggles&) { return false; };
  const Surrogate even(&space, {0, 0.01, 0}), dear(&space, {0.02, 0.01, 0});
  const Toggles none(space.size(), 0);
  const auto changes = [](const Prospect& p) {
    return std::count(p.plan.begin(), p.plan.end(), uint8_t{1});
  };
  const Prospect all = BestProspect(space, even, none, closed, taken, 24);
  EXPECT_EQ(changes(all), 24) << "changes that cost nothing on average all go in";
  EXPECT_EQ(all.plan[0], 0) << "but none that is closed";
  const Prospect one = BestProspect(space, dear, none, closed, taken, 24);
  EXPECT_EQ(changes(one), 1);
  EXPECT_GT(all.gain, one.gain);
}

TEST(Prospect, NamesNoPlanThatIsTaken) {
  const sim::CostTable table(std::vector<double>(3, 0));
  const Space space(table.spec(), Contract::kRounding);
  const Surrogate surrogate(&space, {0.02, 0.01, 0});
  std::set<Plan> taken;
  for (int i = 0; i < 7; ++i) {
    const Prospect next = BestProspect(
        space, surrogate, Toggles(3, 0), [](size_t) { return false; },
        [&](const Toggles& on) { return taken.contains(space.Decode(on)); }, 3);
    if (next.gain <= 0) break;
    EXPECT_TRUE(taken.insert(space.Decode(next.plan)).second);
  }
  EXPECT_GE(taken.size(), 3u);
}

TEST(Prospect, BeginsWithTheWholeStepThenWithDecisionsOfManySites) {
  WorkloadSpec spec;
  for (uint32_t i = 0; i < 12; ++i) {
    DecisionSpec d;
    d.name = std::string("d").append(std::to_string(i));
    d.options = {"first", "second"};
    d.kind = i == 7 ? DecisionKind::kChoice : DecisionKind::kBoundary;
    d.graph = i == 7 ? 0 : 1;
    d.sites = i == 3 ? 24 : 1;
    spec.decisions.push_back(d);
  }
  const Space space(spec, Contract::kRounding);
  const SurrogatePrior prior = {0.01, 0.02, 0};
  const Surrogate surrogate(&space, prior, PriorWeights(space, prior.sd));
  std::set<size_t> closed;
  for (size_t expected : {7u, 3u}) {
    const Prospect next = BestProspect(
        space, surrogate, Toggles(12, 0), [&](size_t i) { return closed.contains(i); },
        [](const Toggles&) { return false; }, 1);
    EXPECT_EQ(next.plan[expected], 1);
    closed.insert(expected);
  }
}

TEST(Prospect, LetsEveryChangeHaveItsTurnWithTheBuildsThatAreLeft) {
  const sim::CostTable table(std::vector<double>(142, 0));
  const Space space(table.spec(), Contract::kRounding);
  const Surrogate surrogate(&space, {0.003, 0.007, 0});
  std::vector<size_t> untried(142);
  for (size_t i = 0; i < untried.size(); ++i) untried[i] = i;
  const auto changes = [&](size_t count, uint32_t left) {
    untried.resize(count);
    const Prospect next = NextGroup(space, surrogate, Toggles(142, 0), untried, {}, left);
    return std::count(next.plan.begin(), next.plan.end(), uint8_t{1});
  };
  EXPECT_EQ(changes(142, 11), 5) << "more than five together lose";
  EXPECT_EQ(changes(33, 11), 3);
  EXPECT_EQ(changes(5, 11), 1);
  EXPECT_EQ(changes(0, 11), 0);
}

TEST(Prospect, BeginsWithWhatIsCheapToBuild) {
  const sim::CostTable table(std::vector<double>(40, 0));
  const Space space(table.spec(), Contract::kRounding);
  const Surrogate surrogate(&space, {0.003, 0.007, 0});
  std::vector<size_t> untried(40);
  for (size_t i = 0; i < untried.size(); ++i) untried[i] = i;
  Toggles cheap(40, 0), wanted(40, 0);
  cheap[17] = cheap[31] = wanted[17] = wanted[31] = 1;
  EXPECT_EQ(NextGroup(space, surrogate, Toggles(40, 0), untried, cheap, 8).plan, wanted)
      << "and none beside them that is not";
  EXPECT_EQ(NextGroup(space, surrogate, Toggles(40, 0), untried, {}, 8).plan[0], 1);
}

// What takes long to build and is named first must not end a search that has cheap plans left.
TEST(FewBuilds, TryWhatIsCheapBeforeTheSearchEndsForWhatIsNot) {
  const sim::CostTable table({-0.3, 0.01, 0.02, 0.01, -0.1});
  sim::HostSettings settings = Dear();
  settings.build_guesses.assign(5 * kMostOptions, 0);
  for (uint32_t decision : {0u, 4u}) {
    settings.build_guesses[decision * kMostOptions + 1] = 1'000'000;
  }
  sim::Host host(&table, settings, {}, {}, 5);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.in_use(s), (Plan{{0, 1}, {4, 1}}));
}

TEST(FewBuilds, WaitUntilTheJobHasRunLongEnoughForOneToPay) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01, 0.02, 0.01});
  sim::Host host(&table, Dear(), {}, {}, 1);
  const SessionId s = host.Attach("job");
  EXPECT_FALSE(host.RunUntilEnd(s, 2000));
  EXPECT_EQ(BuildsOf(host), 0u);
  host.Pass(kLongJob);
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_GT(BuildsOf(host), 0u);
  EXPECT_EQ(host.in_use(s), (Plan{{1, 1}}));
}

// The session's phase is how the shell sees that the device is free for other workloads.
TEST(FewBuilds, SayWhenTheNextOneComesAndWaitMeanwhile) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01, 0.02, 0.01});
  sim::Host host(&table, Dear(), {}, {}, 1);
  const SessionId s = host.Attach("job");
  host.RunUntilEnd(s, 500);
  ASSERT_EQ(BuildsOf(host), 0u);
  EXPECT_EQ(host.tuning().phase(s), Phase::kWaiting);
  const ReportProgress said = LastWord(host.actions(), s);
  EXPECT_EQ(said.phase, Phase::kWaiting);
  EXPECT_EQ(said.note.find("waits until a build pays, in about "), 0u) << said.note;
  const uint64_t left = StepsIn(said.note);
  ASSERT_GT(left, 1000u) << said.note;
  host.RunUntilEnd(s, left / 2);
  const std::string later = LastWord(host.actions(), s).note;
  EXPECT_NEAR(static_cast<double>(StepsIn(later)), left / 2.0, left / 20.0) << later;
  host.RunUntilEnd(s, left / 3);
  EXPECT_EQ(BuildsOf(host), 0u);
  // The build itself ends the wait.
  for (uint64_t i = 0; i < left / 3 && BuildsOf(host) == 0; ++i) {
    EXPECT_EQ(host.tuning().phase(s), Phase::kWaiting);
    host.RunUntilEnd(s, 1);
  }
  EXPECT_EQ(BuildsOf(host), 1u);
  EXPECT_EQ(host.tuning().phase(s), Phase::kSearch);
  EXPECT_EQ(LastWord(host.actions(), s).note, "");
}

TEST(FewBuilds, SayBesideWhatNoiseHides) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01, 0.02, 0.01});
  sim::HostSettings loud = Dear();
  loud.noise.sd = 0.4;
  sim::Host host(&table, loud, {}, {}, 5);
  const SessionId s = host.Attach("job");
  host.RunUntilEnd(s, 500);
  ASSERT_EQ(BuildsOf(host), 0u);
  const std::string note = LastWord(host.actions(), s).note;
  EXPECT_GT(StepsIn(note), 0u) << note;
  EXPECT_NE(note.find("; too noisy here to resolve less than "), std::string::npos) << note;
  EXPECT_EQ(note.back(), '%') << "whole: " << note;
}

TEST(FewBuilds, SayWhereNoneWillPayBeforeTheJobEnds) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01, 0.02, 0.01});
  sim::HostSettings settings = Dear();
  settings.tune_until_steps = 1500;
  sim::Host host(&table, settings, {}, {}, 1);
  const SessionId s = host.Attach("job");
  host.RunUntilEnd(s, 500);
  EXPECT_EQ(LastWord(host.actions(), s).note,
            "waits until a build pays; none will before this search ends");
}

// A search that waits, and a second job of its workload.
struct TwoJobs {
  explicit TwoJobs(const std::string& device)
      : table({0.02, -0.08, 0.02, 0.01, 0.02, 0.01}), host(&table, Dear(), {}, {}, 1) {
    first = host.Attach("job 1", Mode::kTune, device);
    host.RunUntilEnd(first, 500);
    EXPECT_EQ(host.tuning().phase(first), Phase::kWaiting);
    second = SessionReady();
    second.session = first + 1;
    second.process = second.job = "job 2";
    second.device = device;
    second.seed = 7;
    second.default_signature = table.Signature({}, 0);
    second.default_step_ns = 50'000'000;
    second.default_build_ns = 10'000'000'000;
  }
  std::vector<Action> Pass(int seconds) {
    std::vector<Action> all;
    for (int i = 0; i < seconds; ++i) {
      now += std::chrono::seconds(1);
      for (Action& action : host.tuning().Apply({host.now() + now, Tick{}})) all.push_back(action);
    }
    return all;
  }
  size_t AskedOf(const std::vector<Action>& actions, SessionId session) {
    return static_cast<size_t>(std::count_if(actions.begin(), actions.end(), [&](const Action& a) {
      const auto* run = std::get_if<RunPairs>(&a);
      const auto* build = std::get_if<BuildVariant>(&a);
      return (run != nullptr && run->session == session) ||
             (build != nullptr && build->session == session);
    }));
  }

  sim::CostTable table;
  sim::Host host;
  SessionId first = 0;
  SessionReady second;
  Nanos now{};
};

TEST(FewBuilds, GoOnInAnotherJobWhereTheyPayAlready) {
  for (const char* device : {"GPU-0", ""}) {
    TwoJobs jobs(device);
    jobs.second.build_ns.assign(6 * kMostOptions, 1'000'000);  // what it waits with is cheap there
    jobs.host.tuning().Apply({jobs.host.now(), jobs.second});
    const std::vector<Action> before = jobs.Pass(300);
    EXPECT_EQ(jobs.AskedOf(before, jobs.second.session), 0u);
    EXPECT_GT(StepsIn(LastWord(before, jobs.first).note), 10000u) << "in the first it takes long";
    const std::vector<Action> then = jobs.Pass(100);
    EXPECT_GT(jobs.AskedOf(then, jobs.second.session), 0u) << "it has the search";
    EXPECT_EQ(jobs.AskedOf(then, jobs.first), 0u);
    EXPECT_EQ(LastWord(then, jobs.first).note,
              "a build pays in another job already, which goes on with the search");
    // It comes back to the first where the second leaves.
    const auto back = jobs.host.tuning().Apply(
        {jobs.host.now() + jobs.now, SessionGone{jobs.second.session, "bye"}});
    EXPECT_EQ(LastWord(back, jobs.first).note.find("waits until a build pays, in about "), 0u)
        << LastWord(back, jobs.first).note;
  }
}

TEST(FewBuilds, StayWithTheJobThatWaitsWhereTheyPayNowhere) {
  TwoJobs jobs("GPU-0");
  jobs.host.tuning().Apply({jobs.host.now(), jobs.second});
  const std::vector<Action> then = jobs.Pass(100);
  EXPECT_EQ(jobs.AskedOf(then, jobs.second.session), 0u);
  EXPECT_GT(StepsIn(LastWord(then, jobs.first).note), 0u) << "its wait goes on";
}

// Recorded launch modes moved steps by up to three quarters, so the first build of a job is that
// one and comes within minutes, where a boundary's would not pay within hours.
TEST(FewBuilds, TryHowTheStepIsLaunchedLongBeforeABoundaryPays) {
  std::map<Plan, sim::ListedPlan> listed;
  uint64_t signature = 0;
  for (uint32_t launch : {0u, 1u}) {
    for (uint32_t cut = 0; cut < 12; ++cut) {
      Plan plan;
      if (launch > 0) plan.push_back({0, launch});
      if (cut > 0) plan.push_back({1, cut});
      listed[plan] = {launch > 0 ? -0.7 : 0.0, ++signature};
    }
  }
  const sim::CostTable table({2, 12}, std::move(listed));
  sim::Host host(&table, Dear(), {}, {}, 1);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.in_use(s), (Plan{{0, 1}}));
  EXPECT_LE(BuildsOf(host), 3u) << "it, its rebuild before it settles, and nothing else";
}

// The group that failed has had its turn: the next one comes.
TEST(FewBuilds, GoOnWhereAGroupCannotBeProvenOrIsNeverBuilt) {
  for (const bool built : {true, false}) {
    const sim::CostTable table(std::vector<double>(40, 0.003));
    sim::Host host(&table, Dear(), {}, {}, 1);
    std::optional<VariantId> first;
    host.bend = [&](EventBody& body) {
      const auto* variant = std::get_if<VariantBuilt>(&body);
      if (variant != nullptr && !first) first = variant->variant;
      if (variant != nullptr && !built) return variant->variant != *first;
      auto* done = std::get_if<ProbeDone>(&body);
      if (done != nullptr && done->variant == *first) {
        done->summary.equivalence = Equivalence::kInconclusive;
      }
      return true;
    };
    const SessionId s = host.Attach("job");
    host.Pass(kLongJob);
    ASSERT_TRUE(host.RunUntilEnd(s, 200000));
    EXPECT_EQ(host.outcome(s)->reason, "this process has spent its builds") << built;
    EXPECT_GE(BuildsOf(host), 8u) << built;
  }
}

// Behind more builds than few-builds would allow.
TEST(FewBuilds, AreNotChosenOverOneBuildThatWasHeldUp) {
  const sim::CostTable table(std::vector<double>(30, 0.003));
  for (const uint64_t held_up : {1, 32, 33, 34, 35, 36, 37, 38}) {
    sim::Host host(&table, {}, {}, {}, 1);
    uint64_t builds = 0;
    host.bend = [&](EventBody& body) {
      auto* built = std::get_if<VariantBuilt>(&body);
      if (built != nullptr && ++builds == held_up) built->build_ns = uint64_t{20'000'000'000};
      return true;
    };
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 50000));
    EXPECT_GT(builds, held_up + 4) << held_up;
    EXPECT_EQ(host.outcome(s)->outcome, Outcome::kNoWinner) << host.outcome(s)->reason;
  }
}

TEST(FewBuilds, AreAtMostTwelveInAProcessAndTheNextOneGoesOn) {
  const sim::CostTable table(std::vector<double>(134, 0.003));
  sim::Host host(&table, Dear(), {}, {}, 1);
  SessionId s = host.Attach("job 1");
  host.Pass(kLongJob);
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_LE(BuildsOf(host), 12u);
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
  std::set<Plan> tried;
  for (const auto& [plan, record] : host.plans()) tried.insert(plan);
  const size_t first = BuildsOf(host);
  host.Detach(s);
  s = host.Attach("job 2");
  host.Pass(kLongJob);
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_GT(BuildsOf(host), first);
  EXPECT_LE(BuildsOf(host), first + 12);
  // What was slow there is not built again here.
  size_t again = 0, seen = 0;
  for (const Action& action : host.actions()) {
    const auto* build = std::get_if<BuildVariant>(&action);
    if (build != nullptr && ++seen > first) again += tried.contains(build->plan);
  }
  EXPECT_EQ(again, 0u);
}

}  // namespace
}  // namespace blazed::planner
