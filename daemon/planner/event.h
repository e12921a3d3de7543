// Everything that can happen to a tuning. Time and randomness come in with the event; the planner
// reads neither a clock nor a random device. An event applied twice (same directive id) changes
// nothing the second time.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "daemon/planner/conclusion.h"
#include "daemon/planner/types.h"

namespace blazed::planner {

// A session of this workload is described and ready for directives.
struct SessionReady {
  SessionId session = 0;
  uint32_t uid = 0;
  std::string
      process;  // identity of the process (boot id, pid, start time): same string, same process
  Mode mode = Mode::kTune;
  uint64_t seed = 0;  // from the OS; the session's coin
  Digest default_signature{};
  uint64_t default_peak_bytes = 0;
  uint64_t extra_memory_bytes = 0;
  uint64_t default_step_ns = 0;  // 0: unknown
  uint64_t default_build_ns = 0;
  // What a plan takes that has one option other than the default, at decision * kMostOptions +
  // option, as the host guesses; 0 or not there: as long as other plans.
  std::vector<uint64_t> build_ns;
  bool queued = false;            // the host may run ahead of its device
  uint64_t tune_until_steps = 0;  // 0: no limit
  Nanos tune_until{};             // zero: no limit
  // First ids to give out. A session that outlives its daemon keeps variants and answers under
  // their ids, so the shell starts these above every id that an earlier tuning gave to the session.
  DirectiveId first_directive = 1;
  VariantId first_variant = 1;
  std::string device;  // where its steps run: same string, same device; empty: unknown
  std::string job;     // as people call it; may be empty
  bool operator==(const SessionReady&) const = default;
};

// The process is gone or said Bye. Its lease is void.
struct SessionGone {
  SessionId session = 0;
  std::string reason;
  bool operator==(const SessionGone&) const = default;
};

enum class BuildStatus { kOk, kFailed, kMemory };

struct VariantBuilt {
  SessionId session = 0;
  DirectiveId build = 0;
  VariantId variant = 0;
  BuildStatus status = BuildStatus::kOk;
  std::string reason;
  Digest signature{};
  uint64_t build_ns = 0;
  uint64_t peak_bytes = 0;
  bool operator==(const VariantBuilt&) const = default;
};

struct ProbeDone {
  SessionId session = 0;
  DirectiveId probe = 0;
  VariantId variant = 0;
  ComparisonSummary summary;
  uint64_t probe_ns = 0;
  uint32_t passed_batches = 0;
  bool operator==(const ProbeDone&) const = default;
};

// Units in schedule order; fewer than asked where `complete` is false.
struct LeaseDone {
  SessionId session = 0;
  DirectiveId lease = 0;
  std::vector<UnitTime> units;
  uint64_t first_step = 0;
  uint64_t drain_ns = 0;
  bool complete = true;
  // Most steps that the device had still to end when one of the lease's steps began; none where the
  // host cannot tell.
  std::optional<uint32_t> run_ahead;
  bool operator==(const LeaseDone&) const = default;
};

// The lease's deadline passed without an answer.
struct LeaseExpired {
  SessionId session = 0;
  DirectiveId lease = 0;
  bool operator==(const LeaseExpired&) const = default;
};

enum class Refusal {
  kNotProven,
  kUnknownVariant,
  kMalformed,
  kOverLimit,
  kNotTuning,
  kMemory,
  kRejectedEarlier,
};

struct DirectiveRefused {
  SessionId session = 0;
  DirectiveId directive = 0;
  VariantId variant = 0;
  Refusal reason = Refusal::kMalformed;
  std::string detail;
  bool operator==(const DirectiveRefused&) const = default;
};

// The directive waits for a turn of its workload on the device: the host does not know of it. Where
// this is not said it went out at once.
struct DirectiveHeld {
  SessionId session = 0;
  DirectiveId directive = 0;
  bool operator==(const DirectiveHeld&) const = default;
};

// One that was held went out.
struct DirectiveSent {
  SessionId session = 0;
  DirectiveId directive = 0;
  bool operator==(const DirectiveSent&) const = default;
};

struct VariantAdopted {
  SessionId session = 0;
  DirectiveId adopt = 0;
  VariantId variant = 0;
  uint64_t from_step = 0;
  bool operator==(const VariantAdopted&) const = default;
};

// Host-timed steps of ordinary service.
struct ServiceWindow {
  SessionId session = 0;
  VariantId variant = 0;
  uint64_t first_step = 0;
  uint32_t steps = 0;
  uint64_t host_ns = 0;
  uint64_t median_step_ns = 0;  // of its single steps; 0: not known
  bool operator==(const ServiceWindow&) const = default;
};

// The settlement of `Settle` is durable under this id.
struct SettlementStored {
  uint64_t request = 0;  // Settle.request
  uint64_t settlement = 0;
  bool operator==(const SettlementStored&) const = default;
};

struct SettlementFailed {
  uint64_t request = 0;
  std::string reason;
  bool operator==(const SettlementFailed&) const = default;
};

// What the thought of `Think` came to.
struct ThoughtDone {
  SessionId session = 0;
  uint64_t request = 0;  // Think.request
  Conclusion conclusion;
  bool operator==(const ThoughtDone&) const = default;
};

// Time passes; sent about once a second while a session is attached.
struct Tick {
  bool operator==(const Tick&) const = default;
};

using EventBody =
    std::variant<SessionReady, SessionGone, VariantBuilt, ProbeDone, LeaseDone, LeaseExpired,
                 DirectiveRefused, DirectiveHeld, DirectiveSent, VariantAdopted, ServiceWindow,
                 SettlementStored, SettlementFailed, ThoughtDone, Tick>;

struct Event {
  Moment at{};
  EventBody body;
  bool operator==(const Event&) const = default;
};

}  // namespace blazed::planner
