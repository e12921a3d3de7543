#include "daemon/history/pair_uses.h"

#include <algorithm>

namespace blazed::history {
namespace {

using planner::RaceKind;
using storage::Reader;

// Clocks step; a race that ended so long before the session came has none of its pairs.
constexpr storage::WallNs kClockStep = 3'600'000'000'000;

bool MayHoldPairsOf(const storage::StoredRace& race, const storage::SessionRow& session) {
  if (!IsOfSearch(race.record.kind)) return false;
  return race.record.session == session.id || race.ended_ns + kClockStep >= session.attached_ns;
}

// A pair of the race's own session bears no number.
uint64_t GivenTo(const storage::StoredRace& race, const std::vector<planner::PairSample>& pairs,
                 planner::SessionId session) {
  const planner::SessionId mark = race.record.session == session ? 0 : session;
  return static_cast<uint64_t>(std::count_if(
      pairs.begin(), pairs.end(), [mark](const auto& pair) { return pair.session == mark; }));
}

}  // namespace

bool IsOfSearch(RaceKind kind) { return kind != RaceKind::kDrift && kind != RaceKind::kDwell; }

RacePairs OwnRaces(const Reader::SessionStory& story) {
  RacePairs given;
  for (const storage::StoredRace& race : story.races) {
    const bool own = race.record.session == story.session.id;
    if (own && IsOfSearch(race.record.kind)) given[race.record.kind] += race.pair_count;
  }
  return given;
}

RacePairs GivenPairs(Reader& reader, const Reader::SessionStory& story) {
  RacePairs given;
  for (const storage::StoredRace& race : story.races) {
    if (!MayHoldPairsOf(race, story.session)) continue;
    const auto pairs = reader.LoadPairs(race.id);
    if (pairs.ok()) {
      given[race.record.kind] += GivenTo(race, *pairs, story.session.id);
    } else if (race.record.session == story.session.id) {
      given[race.record.kind] += race.pair_count;
    }
  }
  return given;
}

Json PairsByUse(const Reader::SessionStory& story, const planner::CostRecord& cost,
                const RacePairs& given) {
  if (!story.outcome.has_value()) return Json();
  const auto races = static_cast<uint64_t>(
      std::count_if(story.races.begin(), story.races.end(), [&](const storage::StoredRace& race) {
        return race.record.session == story.session.id && IsOfSearch(race.record.kind);
      }));
  const auto in = [&given](RaceKind kind) {
    const auto found = given.find(kind);
    return found == given.end() ? uint64_t{0} : found->second;
  };
  const uint64_t total = cost.search_pairs + cost.replication_pairs;
  const uint64_t named = in(RaceKind::kSearch) + in(RaceKind::kVerification) +
                         in(RaceKind::kReplication) + in(RaceKind::kSham) + cost.noise_pairs +
                         cost.late_pairs;
  const bool first_schema = total > 0 && cost.noise_pairs == 0;
  if (races != cost.races || first_schema || named > total) return Json();
  return {{"noise", cost.noise_pairs},
          {"proposals", total - named},
          {"search_races", in(RaceKind::kSearch)},
          {"verification_races", in(RaceKind::kVerification)},
          {"replication_races", in(RaceKind::kReplication)},
          {"sham_races", in(RaceKind::kSham)},
          {"late", cost.late_pairs}};
}

}  // namespace blazed::history
