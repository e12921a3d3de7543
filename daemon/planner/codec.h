// Canonical text of events, actions and what a tuning is opened with: one line each, the same bytes
// for the same value on every machine, read back exactly. A log of an opening and its events is
// enough to decide again.
//
// Line: "<version> <kind> name=value name=value ...". Fields stand in a fixed order; numbers are
// decimal (doubles in the shortest form that reads back exactly), digests and bytes hexadecimal,
// other bytes in strings percent-encoded. Errors: nullopt with one sentence in `error`; another
// version is refused, never guessed at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/planner/action.h"
#include "daemon/planner/event.h"
#include "daemon/planner/tuning.h"

namespace blazed::planner {

// 2: an opening says how many checks were opened earlier. What a tuning decides from the same
// events differs from version 1 as well. 3: a cost tells noise and late pairs apart. 4: units of
// several steps, pairs of several jobs, budgets, controls and dwells. 5: thoughts are events. 6: a
// session guesses what single options take to build.
// A kind of event that a log may be without needs no other version: logs of releases that did not
// know it read and decide as before, and one that has it is refused by those, as of unknown kind.
// So it is with directives that were held.
inline constexpr int kCodecVersion = 6;

// What a Tuning is constructed from; the first line of a log.
struct Opening {
  WorkloadSpec workload;
  Contract contract = Contract::kRounding;
  TuningConfig config;
  TuningMemory memory;
  bool operator==(const Opening&) const = default;
};

// Stands in a log where lines are missing: what follows cannot be decided again.
struct Gap {
  uint64_t missing = 0;  // lines, at most
  std::string reason;
  bool operator==(const Gap&) const = default;
};

std::string EncodeEvent(const Event& event);
std::string EncodeAction(const Action& action);
std::string EncodeOpening(const Opening& opening);
std::string EncodeGap(const Gap& gap);

std::optional<Event> DecodeEvent(std::string_view line, std::string* error);
std::optional<Action> DecodeAction(std::string_view line, std::string* error);
std::optional<Opening> DecodeOpening(std::string_view line, std::string* error);
std::optional<Gap> DecodeGap(std::string_view line, std::string* error);

// The kind of an event or action, as its line names it: "lease_done", "run_pairs".
const char* EventKind(const Event& event);
bool IsEventKind(std::string_view kind);
const char* ActionKind(const Action& action);

// 64-bit digest of a list of actions; goes on from `seed`, so that a log can be digested step by
// step.
inline constexpr uint64_t kDigestSeed = 0xcbf29ce484222325ULL;
uint64_t DigestActions(const std::vector<Action>& actions, uint64_t seed = kDigestSeed);

}  // namespace blazed::planner
