// What the user asked for, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace blazed::blazectl {

enum class Verb {
  kStatus,
  kGraphs,
  kPlans,
  kRaces,
  kSettlements,
  kExplain,
  kWatch,
  kHealth,
  kReport
};
enum class Output { kPeople, kJson };
enum class Colour { kWhereTerminal, kNever };

struct Options {
  Verb verb = Verb::kStatus;
  Output output = Output::kPeople;
  Colour colour = Colour::kWhereTerminal;
  std::string socket;  // flag's value; empty: search
  // Bound on waiting for the daemon and for its answer. Without the flag a daemon that is not there
  // is an error at once, and one that is silent gets kDefaultAnswer.
  std::optional<absl::Duration> timeout;
  std::string workload;   // fingerprint, prefix or name; empty: all, or the newest for `explain`
  uint64_t plan = 0;      // explain: plan id, 0: the one in force
  uint32_t limit = 50;    // rows a list shows
  uint64_t after = 0;     // watch: event id to go on behind
  uint64_t events = 0;    // watch: end after this many, 0: never
  std::string session;    // report: session number or token
  std::string subsystem;  // health: name, empty: the daemon as a whole
};

inline constexpr absl::Duration kDefaultAnswer = absl::Seconds(5);

}  // namespace blazed::blazectl
