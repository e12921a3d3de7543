// Records to rows and back, column for column as storage/sqlite/tables.h lists them.
// Decode answers false for a row whose values have another type or lie outside their range.
#pragma once

#include "storage/kernels.h"
#include "storage/pair_codec.h"
#include "storage/records.h"
#include "storage/sqlite/value.h"

namespace blazed::storage {

// A row of `variant`; no record of records.h has all of it.
struct VariantFacts {
  planner::SessionId session = 0;
  planner::VariantId variant = 0;
  planner::Plan plan;
  Digest signature{};
  uint64_t build_ns = 0;
  uint64_t peak_bytes = 0;
  std::string failure;
};

Row EncodeGraph(const GraphRow& graph, WallNs first_seen_ns);
bool DecodeGraph(const Row& row, GraphRow& graph, WallNs& first_seen_ns);

Row EncodeTuning(const TuningKey& key);
bool DecodeTuning(const Row& row, TuningKey& key);

Row EncodeSession(const SessionRow& session);
bool DecodeSession(int64_t id, const Row& row, SessionRow& session);

Row EncodePlan(TuningId tuning, const planner::PlanRecord& record, WallNs updated_ns);
bool DecodePlan(int64_t id, const Row& row, StoredPlan& plan);

Row EncodeVariant(TuningId tuning, const VariantFacts& variant);
Row EncodeProbe(TuningId tuning, const planner::KeepProbe& probe);

// Everything but the raw pairs.
Row EncodeRace(TuningId tuning, const planner::RaceRecord& record, WallNs ended_ns);
bool DecodeRace(int64_t id, const Row& row, StoredRace& race);

Row EncodeForecast(TuningId tuning, const planner::ForecastRecord& record);
bool DecodeForecast(const Row& row, planner::ForecastRecord& record);

Row EncodeSettlement(const StoredSettlement& settlement);
bool DecodeSettlement(int64_t id, const Row& row, StoredSettlement& settlement);

Row EncodeDriftTimer(TuningId tuning, const planner::DriftTimer& timer);
bool DecodeDriftTimer(int64_t settlement, const Row& row, planner::DriftTimer& timer);

Row EncodeOutcome(TuningId tuning, const planner::KeepOutcome& outcome, WallNs at_ns);
bool DecodeOutcome(int64_t session, const Row& row, StoredOutcome& outcome);

Row EncodeKernels(TuningId tuning, const PlanKernels& record, WallNs seen_ns);
bool DecodeKernels(int64_t id, const Row& row, StoredKernels& kernels);

Row EncodeEvent(const EventRow& event);
bool DecodeEvent(int64_t id, const Row& row, EventRow& event);

}  // namespace blazed::storage
