// A recorded log decides again, byte for byte; a damaged one says where it is damaged.
#include "daemon/planner/replay.h"

#include <gtest/gtest.h>

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
  ASSERT_LE(result.actions.size(), recording.host->actions().size());
  for (size_t i = 0; i < result.actions.size(); ++i) {
    ASSERT_EQ(result.actions[i], recording.host->actions()[i]);
  }
}

TEST(Replay, RefusesALogOfAnotherVersionOrWithoutAnOpening) {
  Recording recording(4);
  recording.log[0] = '9';
  EXPECT_NE(Replay(recording.log).error.find("another version"), std::string::npos);
  EXPECT_EQ(Replay("").error, "the log opens no tuning");
  EXPECT_FALSE(Replay("3 tick at=5\n").complete);
}

TEST(Replay, SettlesNothingFromAReorderedLog) {
  const Recording recording(5);
  std::vector<std::string> lines;
  for (size_t at = 0; at < recording.log.size();) {
    const size_t end = recording.log.find('\n', at);
    lines.push_back(recording.log.substr(at, end - at));
    at = end + 1;
  }
  std::string backwards = lines[0] + "\n";
  for (size_t i = lines.size() - 1; i > 0; --i) backwards += lines[i] + "\n";
  const ReplayResult result = Replay(backwards);
  EXPECT_TRUE(result.complete) << result.error;
  for (const Action& action : result.actions) EXPECT_FALSE(std::holds_alternative<Settle>(action));
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
