// The tables as the code sees them: a key, the columns in order, and a checksum. Every checked row
// is read and written here, so that no row reaches a caller unverified.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/value.h"

namespace blazed::storage {

struct Table {
  const char* name;
  const char* key;
  const char* columns;  // comma-separated, without key and checksum
  // How many of the last columns came with each later step of the schema, oldest step first. The
  // newest steps whose columns are all zero are left out of the checksum, so that rows from before
  // keep theirs.
  std::array<size_t, 2> later = {};
};

inline constexpr Table kEnvironmentTable{"environment", "id", "fingerprint"};
inline constexpr Table kGraphTable{"graph", "id",
                                   "fingerprint,name,regime,nodes,description,first_seen_ns"};
inline constexpr Table kWorkloadTable{"workload", "id",
                                      "fingerprint,name,first_seen_ns,last_seen_ns"};
inline constexpr Table kTuningTable{"tuning", "id", "workload,environment,contract,uid,principal"};
inline constexpr Table kSessionTable{
    "session", "id",
    "tuning,uid,pid,process,job,host_name,device,mode,attached_ns,gone_ns,gone_reason"};
inline constexpr Table kPlanTable{
    "plan", "id",
    "tuning,plan,signature,verdict,reason,pairs,build_ns,peak_bytes,updated_ns,equivalence,"
    "elements,mismatches,max_abs,max_rel,max_ulp,nan_default,nan_variant,inf_default,inf_variant,"
    "prediction_disagreements,own_max_rel,allowed_max_rel,worst_tensor,digest_default,"
    "digest_variant"};
inline constexpr Table kVariantTable{
    "variant", "id", "tuning,session,variant,plan,signature,build_ns,peak_bytes,failure"};
inline constexpr Table kProbeTable{
    "probe", "id",
    "tuning,session,plan,probe_ns,equivalence,"
    "elements,mismatches,max_abs,max_rel,max_ulp,nan_default,nan_variant,inf_default,inf_variant,"
    "prediction_disagreements,own_max_rel,allowed_max_rel,worst_tensor,digest_default,"
    "digest_variant"};
inline constexpr Table kRaceTable{
    "race",
    "id",
    "tuning,race,kind,session,champion,challenger,outcome,reason,alpha,beta,delta0,delta1,"
    "log_e_accept,log_e_drop,effect_estimate,effect_low,effect_high,opened_at_ns,closed_at_ns,"
    "pair_count,champion_p10_ns,champion_p50_ns,champion_p90_ns,challenger_p10_ns,"
    "challenger_p50_ns,challenger_p90_ns,started_ns,ended_ns,warm_steps,timed_steps",
    {2}};
inline constexpr Table kRacePairTable{"race_pair", "race", "format,pairs"};
inline constexpr Table kForecastTable{"forecast", "session",
                                      "tuning,window_ns,builds,regret_ns,resolvable,based_on"};
inline constexpr Table kSettlementTable{
    "settlement",
    "id",
    "tuning,kind,contract,plan,champion_signature,default_signature,default_step_ns,"
    "settled_step_ns,gain_estimate,gain_low,gain_high,window_ns,regret_ns,build_ns,probe_ns,"
    "drain_ns,builds,probes,races,search_pairs,replication_pairs,forecast_window_ns,"
    "forecast_builds,forecast_regret_ns,forecast_resolvable,forecast_based_on,break_even_steps,"
    "session,state,state_reason,settled_ns,noise_pairs,late_pairs,carry",
    {2, 1}};
inline constexpr Table kDriftTimerTable{"drift_timer", "settlement", "tuning,gap_steps,steps_left"};
inline constexpr Table kSurrogateTable{"surrogate", "tuning", "state"};
inline constexpr Table kOutcomeTable{
    "outcome",
    "session",
    "tuning,outcome,settlement,window_ns,regret_ns,build_ns,probe_ns,drain_ns,builds,probes,races,"
    "search_pairs,replication_pairs,reason,at_ns,noise_pairs,late_pairs,budget_spent_ns,"
    "budget_allowed_ns",
    {2, 2}};
inline constexpr Table kKernelsTable{"plan_kernels", "id",
                                     "tuning,plan,session,seen_ns,format,under_default,under_plan"};
inline constexpr Table kEventTable{"event", "id", "tuning,session,wall_ns,kind,payload"};

// A row and its key. `covered` holds the values of child tables that the checksum covers as well.
struct KeyedRow {
  int64_t key = 0;
  Row row;
};

// Rows of a table whose checksum is right; the others are left out and added to `damaged`.
// `suffix` is everything after the table's name: WHERE, ORDER BY, LIMIT.
absl::StatusOr<std::vector<KeyedRow>> ReadRows(Connection& connection, const Table& table,
                                               const std::string& suffix, const Row& parameters,
                                               std::atomic<uint64_t>& damaged);

// The same, unverified, with the stored checksum as each row's last value: for parents of child
// tables.
absl::StatusOr<std::vector<KeyedRow>> ReadUnverified(Connection& connection, const Table& table,
                                                     const std::string& suffix,
                                                     const Row& parameters);

// Inserts or replaces the row with this key. `covered` joins the checksum only.
absl::Status WriteRow(Connection& connection, const Table& table, int64_t key, const Row& row,
                      const Row& covered = {});

// One above the greatest id. Evidence is never deleted from the tables that use it, so ids are not
// reused.
absl::StatusOr<int64_t> NextId(Connection& connection, const Table& table);

// The id of the row that `where` names, else the next free one.
absl::StatusOr<int64_t> IdWhere(Connection& connection, const Table& table,
                                const std::string& where, const Row& parameters);

}  // namespace blazed::storage
