// Champions that fail, and those that they had beaten.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "client/sim/host.h"

namespace blazed::planner {
namespace {

// What a failed champion had beaten is the next best thing that is known.
TEST(Champions, RacesTheChampionBeforeWhereOneFails) {
  const sim::CostTable table({0.02, -0.08, 0.02, -0.06, 0.01, -0.05});
  int looked = 0;
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    sim::Host host(&table, {}, {}, {}, seed);
    std::optional<Plan> failed;
    size_t races = 0;
    host.bend = [&](EventBody& body) {
      auto* built = std::get_if<VariantBuilt>(&body);
      if (built == nullptr || failed) return true;
      for (const Action& action : host.actions()) {
        const auto* build = std::get_if<BuildVariant>(&action);
        if (build == nullptr || build->variant != built->variant || build->rebuild_of == 0)
          continue;
        built->status = BuildStatus::kFailed;
        failed = build->plan;
        races = host.races().size();
      }
      return true;
    };
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 50000));
    std::vector<Plan> champions;
    for (size_t i = 0; i < races; ++i) {
      const RaceRecord& race = host.races()[i];
      const bool accepted = race.kind == RaceKind::kSearch && race.outcome == RaceOutcome::kWon;
      if (accepted) champions.push_back(race.challenger);
    }
    if (champions.size() < 2 || host.races().size() == races) continue;
    ++looked;
    EXPECT_EQ(champions.back(), *failed) << "seed " << seed;
    EXPECT_EQ(host.races()[races].challenger, champions[champions.size() - 2]) << "seed " << seed;
    EXPECT_TRUE(host.races()[races].champion.empty()) << "seed " << seed;
  }
  EXPECT_GT(looked, 2);
}

}  // namespace
}  // namespace blazed::planner
