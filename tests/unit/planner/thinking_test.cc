// Searches whose thoughts are thought elsewhere: late, twice, for somebody who is gone, bent, or
// never.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "client/sim/host.h"
#include "daemon/planner/replay.h"
#include "daemon/planner/thought.h"

namespace blazed::planner {
namespace {

constexpr uint32_t kLarge = 40;  // boundaries: 79 dimensions

sim::CostTable Large() {
  std::vector<double> costs(kLarge, 0.01);
  costs[3] = -0.08;
  return sim::CostTable(costs);
}

template <class T>
std::vector<T> Of(const std::vector<Action>& actions) {
  std::vector<T> found;
  for (const Action& action : actions) {
    if (const T* one = std::get_if<T>(&action)) found.push_back(*one);
  }
  return found;
}

bool IsThought(const Event& event) { return std::holds_alternative<ThoughtDone>(event.body); }
auto ThoughtsOf(const sim::Host& host) {
  return std::count_if(host.events().begin(), host.events().end(), IsThought);
}

// A tuning that has just asked for a thought.
struct Asking {
  explicit Asking(uint64_t seed = 1) : table(Large()), host(&table, Late(), {}, {}, seed) {
    session = host.Attach("job");
    host.RunUntilEnd(session, 300);
    const auto all = Of<Think>(host.actions());
    if (!all.empty()) asked = all.back();
  }
  static sim::HostSettings Late() {
    sim::HostSettings settings;
    settings.thought_steps = 1u << 30;
    return settings;
  }
  // What of it brings more than a word of progress.
  std::vector<Action> Tell(EventBody body) {
    std::vector<Action> actions = host.tuning().Apply({host.now(), std::move(body)});
    std::erase_if(actions,
                  [](const Action& a) { return std::holds_alternative<ReportProgress>(a); });
    return actions;
  }
  Conclusion Answer() { return Conclude(*host.tuning().FindThought(session, asked.request)); }

  sim::CostTable table;
  sim::Host host;
  SessionId session = 0;
  Think asked;
};

size_t BuildsIn(const std::vector<Action>& actions) { return Of<BuildVariant>(actions).size(); }

TEST(Thinking, OfASmallSpaceHappensAtOnce) {
  const sim::CostTable table(std::vector<double>(32, 0.01));  // 63 dimensions
  sim::Host host(&table, {}, {}, {}, 1);
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), 50000));
  EXPECT_GT(BuildsIn(host.actions()), 0u);
  EXPECT_TRUE(Of<Think>(host.actions()).empty());
}

TEST(Thinking, OfALargeSpaceIsAskedForAndTheJobTrainsOnMeanwhile) {
  Asking a;
  ASSERT_NE(a.asked.request, 0u);
  EXPECT_EQ(Of<Think>(a.host.actions()).size(), 1u);
  EXPECT_EQ(a.host.tuning().phase(a.session), Phase::kSearch);
  const size_t before = a.host.actions().size();
  a.host.RunUntilEnd(a.session, 5000);
  for (size_t i = before; i < a.host.actions().size(); ++i) {
    EXPECT_TRUE(std::holds_alternative<ReportProgress>(a.host.actions()[i]))
        << ActionKind(a.host.actions()[i]);
  }
  const Conclusion answer = a.Answer();
  ASSERT_FALSE(answer.plans.empty());
  EXPECT_EQ(BuildsIn(a.Tell(ThoughtDone{a.session, a.asked.request, answer})), answer.plans.size());
}

TEST(Thinking, ThatTakesLongSettlesTheSame) {
  const sim::CostTable table = Large();
  for (const uint64_t steps : {uint64_t{0}, uint64_t{1}, uint64_t{70}}) {
    sim::HostSettings settings;
    settings.thought_steps = steps;
    sim::Host host(&table, settings, {}, {}, 3);
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 100000)) << steps;
    EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled) << steps;
    EXPECT_LT(table.LogCost(host.in_use(s)), -0.06) << steps;
    EXPECT_GT(ThoughtsOf(host), 3) << steps;
  }
}

TEST(Thinking, CountsARepeatedThoughtOnce) {
  Asking a;
  const ThoughtDone done{a.session, a.asked.request, a.Answer()};
  EXPECT_FALSE(a.Tell(done).empty());
  EXPECT_TRUE(a.Tell(done).empty());
}

TEST(Thinking, KnowsNothingOfAThoughtThatNobodyAskedFor) {
  Asking a;
  const Conclusion answer = a.Answer();
  EXPECT_EQ(a.host.tuning().FindThought(a.session, a.asked.request + 1), nullptr);
  EXPECT_EQ(a.host.tuning().FindThought(a.session + 1, a.asked.request), nullptr);
  EXPECT_TRUE(a.Tell(ThoughtDone{a.session, a.asked.request + 1, answer}).empty());
  EXPECT_TRUE(a.Tell(ThoughtDone{a.session + 1, a.asked.request, answer}).empty());
  EXPECT_TRUE(a.Tell(ThoughtDone{0, 0, answer}).empty());
  EXPECT_FALSE(a.Tell(ThoughtDone{a.session, a.asked.request, answer}).empty()) << "it still waits";
}

TEST(Thinking, GivesUpAThoughtWithTheSessionThatItWasFor) {
  Asking a;
  const Conclusion answer = a.Answer();
  a.host.Detach(a.session);
  EXPECT_EQ(a.host.tuning().FindThought(a.session, a.asked.request), nullptr);
  EXPECT_TRUE(a.Tell(ThoughtDone{a.session, a.asked.request, answer}).empty());
  const SessionId next = a.host.Attach("next");
  a.host.RunUntilEnd(next, 300);
  EXPECT_TRUE(a.Tell(ThoughtDone{a.session, a.asked.request, answer}).empty());
  const Think again = Of<Think>(a.host.actions()).back();
  EXPECT_EQ(again.session, next);
  EXPECT_GT(again.request, a.asked.request) << "an answer of then is none of now";
}

TEST(Thinking, GivesUpAThoughtWithTheSearchThatItWasFor) {
  const sim::CostTable table = Large();
  TuningConfig config;
  config.max_window = std::chrono::seconds(20);
  sim::Host host(&table, Asking::Late(), config, {}, 1);
  const SessionId s = host.Attach("job");
  host.RunUntilEnd(s, 300);
  const Think asked = Of<Think>(host.actions()).back();
  const auto thought = host.tuning().FindThought(s, asked.request);
  ASSERT_NE(thought, nullptr);
  ASSERT_TRUE(host.RunUntilEnd(s, 100000)) << "the window ends though the thought never comes";
  EXPECT_EQ(host.tuning().FindThought(s, asked.request), nullptr);
  EXPECT_TRUE(
      host.tuning().Apply({host.now(), ThoughtDone{s, asked.request, Conclude(*thought)}}).empty());
}

// The champion of the thought is not the champion any more: the host refuses to adopt it.
TEST(Thinking, GivesUpAThoughtWithTheChampionThatItWasAbout) {
  const sim::CostTable table = Large();
  sim::Host host(&table, {}, {}, {}, 3);
  const SessionId s = host.Attach("job");
  std::optional<ThoughtDone> held;
  host.bend = [&](EventBody& body) {
    if (std::holds_alternative<VariantAdopted>(body)) return false;
    auto* done = std::get_if<ThoughtDone>(&body);
    if (done == nullptr || host.in_use(s).empty() || held) return true;
    held = *done;
    return false;
  };
  for (int i = 0; i < 1000 && !held; ++i) host.RunUntilEnd(s, 20);
  ASSERT_TRUE(held.has_value());
  ASSERT_NE(host.tuning().FindThought(s, held->request), nullptr);
  const Adopt adopt = Of<Adopt>(host.actions()).back();
  host.Send(DirectiveRefused{s, adopt.adopt, adopt.variant, Refusal::kNotProven, "not any more"});
  EXPECT_EQ(host.tuning().FindThought(s, held->request), nullptr);
  EXPECT_GT(Of<Think>(host.actions()).back().request, held->request) << "about the default, now";
}

TEST(Thinking, LeavesOutPlansThatCannotBe) {
  Asking a;
  Conclusion bent;
  bent.contender = Plan{{kLarge + 3, 1}};
  bent.left = std::numeric_limits<double>::quiet_NaN();
  const Plan good = {{5, 1}};
  bent.plans = {{}, {{0, 7}}, {{4, 1}, {2, 1}}, {{9, 0}}, good};
  bent.samples = bent.quiet = std::numeric_limits<uint32_t>::max();
  const auto builds = Of<BuildVariant>(a.Tell(ThoughtDone{a.session, a.asked.request, bent}));
  ASSERT_EQ(builds.size(), 1u);
  EXPECT_EQ(builds[0].plan, good);
}

TEST(Thinking, NeverBuildsMoreThanItAskedFor) {
  Asking a;
  Conclusion bent;
  for (uint32_t i = 0; i < kLarge; ++i) bent.plans.push_back({{i, 1}});
  EXPECT_LE(BuildsIn(a.Tell(ThoughtDone{a.session, a.asked.request, bent})), 16u);
}

TEST(Thinking, AsksAgainWhereAThoughtNamedNothing) {
  Asking a;
  Conclusion nothing;
  nothing.left = 1;
  const auto again = Of<Think>(a.Tell(ThoughtDone{a.session, a.asked.request, nothing}));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].request, a.asked.request + 1);
}

TEST(Thinking, AsksAgainAfterFiveMinutesWithoutAnAnswer) {
  Asking a;
  const auto ask = [&a](Nanos after) {
    return Of<Think>(a.host.tuning().Apply({a.host.now() + after, Tick{}}));
  };
  EXPECT_TRUE(ask(std::chrono::seconds(290)).empty());
  const auto again = ask(std::chrono::seconds(301));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_NE(again[0].request, a.asked.request);
  EXPECT_EQ(a.host.tuning().FindThought(a.session, a.asked.request), nullptr);
  EXPECT_NE(a.host.tuning().FindThought(a.session, again[0].request), nullptr);
  EXPECT_TRUE(ask(std::chrono::seconds(302)).empty()) << "once";
}

// Nothing in a replay thinks: the events say what was concluded, whatever a model would say.
TEST(Thinking, IsNotDoneAgainInAReplay) {
  const sim::CostTable table = Large();
  sim::Host host(&table, {}, {}, {}, 9);
  const Plan told = {{7, 1}, {11, 1}};
  host.bend = [&](EventBody& body) {
    auto* done = std::get_if<ThoughtDone>(&body);
    if (done == nullptr) return true;
    done->conclusion = Conclusion{};
    done->conclusion.left = 1;
    done->conclusion.plans = {told};
    return true;
  };
  host.RunUntilEnd(host.Attach("job"), 2000);
  std::string log = EncodeOpening({table.spec(), Contract::kRounding, {}, {}}) + "\n";
  for (const Event& event : host.events()) log += EncodeEvent(event) + "\n";
  const ReplayResult again = Replay(log);
  ASSERT_TRUE(again.complete) << again.error;
  EXPECT_EQ(again.actions, host.actions());
  const auto builds = Of<BuildVariant>(again.actions);
  EXPECT_TRUE(std::any_of(builds.begin(), builds.end(),
                          [&](const BuildVariant& build) { return build.plan == told; }));
}

TEST(Thinking, OfALogThatWasCutBeforeItsAnswerIsStillAskedFor) {
  const sim::CostTable table = Large();
  sim::Host host(&table, {}, {}, {}, 9);
  host.RunUntilEnd(host.Attach("job"), 2000);
  const auto first = std::find_if(host.events().begin(), host.events().end(), IsThought);
  ASSERT_NE(first, host.events().end());
  Tuning tuning(table.spec(), Contract::kRounding, {}, {});
  std::vector<Action> last;
  for (auto event = host.events().begin(); event != first; ++event) last = tuning.Apply(*event);
  const auto asked = Of<Think>(last);
  ASSERT_EQ(asked.size(), 1u);
  const auto thought = tuning.FindThought(asked[0].session, asked[0].request);
  ASSERT_NE(thought, nullptr);
  EXPECT_EQ(Conclude(*thought), std::get<ThoughtDone>(first->body).conclusion)
      << "and comes to what it came to";
}

TEST(Thinking, IsDoneOnceWhileNoDearBuildPays) {
  const sim::CostTable table(std::vector<double>(134, 0.003));
  sim::HostSettings dear;
  dear.step_ns = 50e6;
  dear.build_steps = 200;
  sim::Host host(&table, dear, {}, {}, 1);
  host.RunUntilEnd(host.Attach("job"), 2000);  // a hundred ticks
  EXPECT_EQ(BuildsIn(host.actions()), 0u);
  EXPECT_EQ(Of<Think>(host.actions()).size(), 1u);
}

// The less of the job is left, the less can be told from noise, and the sooner a search ends.
TEST(Thinking, IsDoneAgainWhereTheEndOfTheJobComesNear) {
  const sim::CostTable table(std::vector<double>(134, 0.003));
  sim::HostSettings dear;
  dear.step_ns = 50e6;
  dear.build_steps = 200;
  sim::Host host(&table, dear, {}, {}, 1);
  host.RunUntilEnd(host.Attach("job"), 500);
  Tuning tuning(table.spec(), Contract::kRounding, {}, {});
  Moment now{};
  int thoughts = 0;
  const auto apply = [&](EventBody body) {
    for (const Think& asked : Of<Think>(tuning.Apply({now, std::move(body)}))) {
      ++thoughts;
      const auto thought = tuning.FindThought(asked.session, asked.request);
      tuning.Apply({now, ThoughtDone{asked.session, asked.request, Conclude(*thought)}});
    }
  };
  for (Event event : host.events()) {
    now = event.at;
    auto* ready = std::get_if<SessionReady>(&event.body);
    if (ready != nullptr) ready->tune_until = std::chrono::seconds(600);
    if (!IsThought(event)) apply(event.body);
  }
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now += std::chrono::seconds(1);
      apply(Tick{});
    }
  };
  pass(400);
  EXPECT_EQ(thoughts, 1) << "four hundred ticks with nothing else to look for";
  pass(150);
  EXPECT_GT(thoughts, 10);
}

// What a thought brings stands in the log of events, so it has to stay small.
TEST(Thinking, ComesBackInAFewThousandBytes) {
  sim::TableSettings settings;
  settings.boundaries = 134;
  settings.choices = 4;
  const sim::CostTable table(settings, 2);
  sim::Host host(&table, {}, {}, {}, 2);
  host.RunUntilEnd(host.Attach("job"), 5000);
  ASSERT_GT(ThoughtsOf(host), 10);
  for (const Event& event : host.events()) {
    if (!IsThought(event)) continue;
    EXPECT_LT(EncodeEvent(event).size(), 4096u);
  }
}

}  // namespace
}  // namespace blazed::planner
