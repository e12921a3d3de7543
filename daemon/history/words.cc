#include "daemon/history/words.h"

#include <array>
#include <cstddef>

namespace blazed::history {
namespace {

// Enumerators count from zero in the order of their declaration.
template <typename Enum, size_t N>
const char* At(const std::array<const char*, N>& words, Enum value) {
  const auto index = static_cast<size_t>(value);
  return index < N ? words[index] : "unknown";
}

}  // namespace

const char* Word(planner::Verdict verdict) {
  static constexpr std::array kWords = {
      "proposed",        "build_failed", "not_honoured",    "duplicate", "rejected_different",
      "rejected_broken", "inconclusive", "rejected_memory", "proven",    "lost",
      "undecided",       "won",          "champion",        "demoted"};
  return At(kWords, verdict);
}

const char* Word(planner::Equivalence equivalence) {
  static constexpr std::array kWords = {"nothing_to_check",   "identical",       "rounding",
                                        "rejected_different", "rejected_broken", "inconclusive"};
  return At(kWords, equivalence);
}

const char* Word(planner::SettlementKind kind) {
  static constexpr std::array kWords = {"in_job", "replicated", "no_winner"};
  return At(kWords, kind);
}

const char* Word(planner::RaceKind kind) {
  static constexpr std::array kWords = {"search", "verification", "replication",
                                        "drift",  "sham",         "dwell"};
  return At(kWords, kind);
}

const char* KindWord(const planner::RaceRecord& race) {
  return race.kind == planner::RaceKind::kDrift && race.champion.empty() ? "return"
                                                                         : Word(race.kind);
}

const char* Word(planner::RaceOutcome outcome) {
  static constexpr std::array kWords = {"won", "lost", "undecided"};
  return At(kWords, outcome);
}

const char* Word(planner::Contract contract) {
  static constexpr std::array kWords = {"bitwise", "rounding", "prediction"};
  return At(kWords, contract);
}

const char* Word(storage::SettlementState state) {
  static constexpr std::array kWords = {"in_force", "superseded", "demoted"};
  return At(kWords, state);
}

const char* Word(storage::OpenReport::State state) {
  static constexpr std::array kWords = {"ok", "restored", "fresh"};
  return At(kWords, state);
}

}  // namespace blazed::history
