// A recorded log decides again, byte for byte; a damaged one says where it is damaged.
#include "daemon/planner/replay.h"

#include <gtest/gtest.h>

#include <set>

#include "client/sim/host.h"

namespace blazed::planner {
namespace {

struct Recording {
  explicit Recording(uint64_t seed) {
    sim::TableSettings settings;
    settings.boundaries = 16;
    settings.choices = 2;
    table.emplace(settings, seed);
    host.emplace(&*table, sim::HostSettings{}, TuningConfig{}, TuningMemory{}, seed + 1);
    const SessionId first = host->Attach("first");
    host->RunUntilEnd(first, 50000);
    host->Serve(first, 3000);
    host->RunUntilEnd(host->Attach("second"), 3000);
    log = EncodeOpening({table->spec(), Contract::kRounding, {}, {}}) + "\n";
    for (const Event& event : host->events()) log += EncodeEvent(event) + "\n";
  }
  std::optional<sim::CostTable> table;
  std::optional<sim::Host> host;
  std::string log;
};

TEST(Replay, DecidesTheSameByteForByte) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const Recording recording(seed);
    const ReplayResult result = Replay(recording.log);
    ASSERT_TRUE(result.complete) << result.error << " seed " << seed;
    EXPECT_EQ(result.events, recording.host->events().size());
    EXPECT_EQ(result.digest, DigestActions(recording.host->actions())) << "seed " << seed;
    EXPECT_EQ(result.actions, recording.host->actions()) << "seed " << seed;
  }
}

TEST(Replay, GivesTheActionsUpToACut) {
  const Recording recording(3);
  const std::string half = recording.log.substr(0, recording.log.size() / 2);
  const ReplayResult result = Replay(half);
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.error.rfind("line ", 0), 0u) << result.error;
  EXPECT_NE(result.error.find("it has no end, so it was cut short"), std::string::npos);
  ASSERT_LE(result.actions.size(), recording.host->actions().size());
  for (size_t i = 0; i < result.actions.size(); ++i) {
    ASSERT_EQ(result.actions[i], recording.host->actions()[i]);
  }
}

// Every byte of its last line: what is left may read as an event that never was.
TEST(Replay, NoticesACutAnywhereButBehindALinesEnd) {
  const Recording recording(3);
  const size_t last = recording.log.rfind('\n', recording.log.size() - 2) + 1;
  for (size_t size = last + 1; size < recording.log.size(); ++size) {
    const ReplayResult result = Replay(recording.log.substr(0, size));
    EXPECT_FALSE(result.complete) << recording.log.substr(last, size - last);
    EXPECT_EQ(result.events + 1, recording.host->events().size());
  }
  const ReplayResult shorter = Replay(recording.log.substr(0, last));
  EXPECT_TRUE(shorter.complete) << "a shorter log";
  EXPECT_EQ(shorter.events + 1, recording.host->events().size());
}

TEST(Replay, RefusesALogOfAnotherVersionOrWithoutAnOpening) {
  Recording recording(4);
  recording.log[0] = '9';
  EXPECT_NE(Replay(recording.log).error.find("another version"), std::string::npos);
  EXPECT_EQ(Replay("").error, "the log opens no tuning");
  EXPECT_FALSE(Replay("3 tick at=5\n").complete);
}

std::vector<std::string> LinesOf(const std::string& log) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < log.size();) {
    const size_t end = log.find('\n', at);
    lines.push_back(log.substr(at, end + 1 - at));
    at = end + 1;
  }
  return lines;
}

// From some line on backwards, always behind the opening and the first session: what was under way
// there is answered late or never. What is settled all the same was replicated in this order.
TEST(Replay, SettlesNothingFromAReorderedLogThatItDidNotReplicate) {
  const Recording recording(5);
  const std::vector<std::string> lines = LinesOf(recording.log);
  uint64_t raced = 0, unsettled = 0;
  for (size_t from = 2; from + 2 < lines.size(); from += 5) {
    std::string log;
    for (size_t i = 0; i < from; ++i) log += lines[i];
    for (size_t i = lines.size(); i > from; --i) log += lines[i - 1];
    const ReplayResult result = Replay(log);
    EXPECT_TRUE(result.complete) << result.error;
    EXPECT_EQ(Replay(log).digest, result.digest);
    std::set<Plan> replicated;
    bool settles = false;
    for (const Action& action : result.actions) {
      const auto* race = std::get_if<KeepRace>(&action);
      raced += race != nullptr ? 1 : 0;
      if (race != nullptr && race->record.kind == RaceKind::kReplication &&
          race->record.outcome == RaceOutcome::kWon) {
        replicated.insert(race->record.challenger);
      }
      const auto* settle = std::get_if<Settle>(&action);
      if (settle == nullptr) continue;
      settles = true;
      EXPECT_TRUE(settle->record.plan.empty() || replicated.contains(settle->record.plan)) << from;
    }
    unsettled += settles ? 0 : 1;
  }
  EXPECT_GT(raced, 0u) << "none of these logs came to a race";
  EXPECT_GT(unsettled, 0u);
}

TEST(Replay, StopsAtAGapAndNamesIt) {
  const Recording recording(7);
  const size_t second_event = recording.log.find('\n', recording.log.find('\n') + 1) + 1;
  const Gap gap{12, "the disk was slow"};
  EXPECT_EQ(DecodeGap(EncodeGap(gap), nullptr), gap);
  const ReplayResult result = Replay(recording.log.substr(0, second_event) + EncodeGap(gap) + "\n" +
                                     recording.log.substr(second_event));
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.error,
            "line 3: up to 12 lines are missing here (the disk was slow): what was decided behind "
            "the gap cannot be decided again");
  EXPECT_EQ(result.events, 1u);
}

TEST(Replay, PassesOverCommentsAndEmptyLines) {
  const Recording recording(6);
  EXPECT_EQ(Replay("# a log\n\n" + recording.log).digest, Replay(recording.log).digest);
}

}  // namespace
}  // namespace blazed::planner
