// What the store keeps, as plain values. Where the planner already has a word for it, the planner's
// type is used. Times are wall-clock labels in ns since the epoch; order comes from row ids, never
// from the clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/planner/action.h"
#include "daemon/planner/types.h"

namespace blazed::storage {

using planner::Digest;
using WallNs = int64_t;

// What a measurement is valid for. The fingerprint covers the sorted fields.
struct EnvironmentRow {
  Digest fingerprint{};
  std::map<std::string, std::string> fields;
  bool operator==(const EnvironmentRow&) const = default;
};

enum class Regime { kTraining = 1, kForward = 2 };

struct GraphRow {
  Digest fingerprint{};
  std::string name;
  Regime regime = Regime::kTraining;
  uint32_t nodes = 0;
  std::string description;
  bool operator==(const GraphRow&) const = default;
};

struct WorkloadRow {
  planner::WorkloadSpec spec;
  std::vector<Digest> graphs;  // in step order
  bool operator==(const WorkloadRow&) const = default;
};

// A tuning's key: evidence and settlements never cross it.
struct TuningKey {
  Digest workload{};
  Digest environment{};
  planner::Contract contract = planner::Contract::kRounding;
  uint32_t uid = 0;
  std::string principal;  // uid and cgroup as the kernel gave them; same string, same principal
  auto operator<=>(const TuningKey&) const = default;
};

using TuningId = int64_t;  // row id of a TuningKey

// One shim's life with the daemon.
struct SessionRow {
  planner::SessionId id = 0;
  TuningId tuning = 0;  // 0 until described
  uint32_t uid = 0;
  int32_t pid = 0;
  std::string process;  // boot id, pid and start time
  std::string job;
  std::string host_name;
  std::string device;
  planner::Mode mode = planner::Mode::kTune;
  WallNs attached_ns = 0;
  WallNs gone_ns = 0;  // 0: attached
  std::string gone_reason;
  bool operator==(const SessionRow&) const = default;
};

struct EventRow {
  int64_t id = 0;  // given by the store, strictly increasing
  TuningId tuning = 0;
  planner::SessionId session = 0;
  WallNs wall_ns = 0;
  std::string kind;     // "lease_done", "race_won", ...
  std::string payload;  // the planner's canonical encoding; enough to replay
  bool operator==(const EventRow&) const = default;
};

struct StoredPlan {
  int64_t id = 0;
  TuningId tuning = 0;
  planner::PlanRecord record;
  WallNs updated_ns = 0;
  bool operator==(const StoredPlan&) const = default;
};

// What stays of an arm's step times when retention has removed the raw pairs.
struct Quantiles {
  double p10 = 0, p50 = 0, p90 = 0;
  bool operator==(const Quantiles&) const = default;
};

// `record.pairs` is empty in list answers; LoadPairs brings the raw ones.
struct StoredRace {
  int64_t id = 0;
  TuningId tuning = 0;
  planner::RaceRecord record;
  uint64_t pair_count = 0;
  Quantiles champion_ns, challenger_ns;
  WallNs started_ns = 0, ended_ns = 0;
  bool operator==(const StoredRace&) const = default;
};

enum class SettlementState { kInForce, kSuperseded, kDemoted };

struct StoredSettlement {
  TuningId tuning = 0;
  planner::SettlementRecord record;  // record.id is the row id
  SettlementState state = SettlementState::kInForce;
  std::string state_reason;
  WallNs settled_ns = 0;
  bool operator==(const StoredSettlement&) const = default;
};

struct StoredOutcome {
  TuningId tuning = 0;
  planner::KeepOutcome record;
  WallNs at_ns = 0;
  bool operator==(const StoredOutcome&) const = default;
};

}  // namespace blazed::storage
