// What the pairs of a job were for.
#pragma once

#include <map>
#include <nlohmann/json.hpp>

#include "storage/store.h"

namespace blazed::history {

using Json = nlohmann::ordered_json;  // keeps the order of fields, so that a report reads top down

// Races that a search opens to decide: what serves is checked apart, and long dwells have no pairs.
bool IsOfSearch(planner::RaceKind kind);

// Pairs up to the verdict by the kind of race that one job gave them to.
using RacePairs = std::map<planner::RaceKind, uint64_t>;

// Where no other job gave any to the session's races, and it gave none to others'.
RacePairs OwnRaces(const storage::Reader::SessionStory& story);

// From the raw pairs of all races of the tuning that the session may have had a part in. A race
// whose raw pairs are gone counts as its own session's.
RacePairs GivenPairs(storage::Reader& reader, const storage::Reader::SessionStory& story);

// Every pair of the totals by what it was for. Null where the rows are not those of the costs: of a
// search that goes on they are as old as the latest progress, they begin again where a settlement
// was demoted under the session, and outcomes that the store's first schema kept have no noise.
Json PairsByUse(const storage::Reader::SessionStory& story, const planner::CostRecord& cost,
                const RacePairs& given);

}  // namespace blazed::history
