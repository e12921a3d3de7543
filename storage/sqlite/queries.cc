#include "storage/sqlite/queries.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/sqlite/row_codec.h"

namespace blazed::storage {
namespace {

// Verified rows of a table, decoded by `decode(key, row, item)`.
template <typename Item, typename Decode>
absl::StatusOr<std::vector<Item>> FindItems(Connection& connection, const Table& table,
                                            const std::string& suffix, const Row& parameters,
                                            DamageCount& damaged, Decode decode) {
  absl::StatusOr<std::vector<KeyedRow>> rows =
      ReadRows(connection, table, suffix, parameters, damaged);
  if (!rows.ok()) return rows.status();
  std::vector<Item> items;
  items.reserve(rows->size());
  for (const KeyedRow& keyed : *rows) {
    Item item;
    if (decode(keyed.key, keyed.row, item)) {
      items.push_back(std::move(item));
    } else {
      damaged.fetch_add(1, std::memory_order_relaxed);
    }
  }
  return items;
}

template <typename Item>
absl::StatusOr<std::optional<Item>> FirstOf(absl::StatusOr<std::vector<Item>> items) {
  if (!items.ok()) return items.status();
  if (items->empty()) return std::optional<Item>();
  return std::optional<Item>(std::move(items->front()));
}

// Takes the stored checksum off the row and compares it with one over row and children.
bool VerifyParent(int64_t store, KeyedRow& keyed, const Row& children) {
  const auto* stored = std::get_if<int64_t>(&keyed.row.back());
  if (stored == nullptr) return false;
  const int64_t checksum = *stored;
  keyed.row.pop_back();
  Row checked = keyed.row;
  checked.insert(checked.end(), children.begin(), children.end());
  return Checksum(store, keyed.key, checked) == checksum;
}

bool DecodeDecision(const Row& row, planner::DecisionSpec& decision) {
  RowReader in(row);
  in.Digest(decision.id);
  in.Text(decision.name);
  in.Enumerator(decision.kind, planner::DecisionKind::kChoice);
  in.Count(decision.graph);
  in.Count(decision.sites);
  decision.reorders_sums = in.Int() != 0;
  return in.ok();
}

absl::Status LoadOptions(Connection& connection, int64_t workload, WorkloadRow& row) {
  absl::StatusOr<std::vector<Row>> options = connection.Query(
      "SELECT decision,name FROM decision_option WHERE workload=? ORDER BY decision,position",
      {workload});
  if (!options.ok()) return options.status();
  for (const Row& values : *options) {
    RowReader in(values);
    const int64_t decision = in.Int();
    std::string name;
    in.Text(name);
    // An option of no decision leaves the checksum wrong, which is all that has to happen.
    if (!in.ok() || decision < 0 || static_cast<size_t>(decision) >= row.spec.decisions.size()) {
      continue;
    }
    row.spec.decisions[static_cast<size_t>(decision)].options.push_back(std::move(name));
  }
  return absl::OkStatus();
}

absl::Status LoadChildren(Connection& connection, int64_t workload, WorkloadRow& row) {
  absl::StatusOr<std::vector<Row>> graphs = connection.Query(
      "SELECT graph FROM workload_graph WHERE workload=? ORDER BY position", {workload});
  if (!graphs.ok()) return graphs.status();
  for (const Row& values : *graphs) {
    RowReader in(values);
    in.Digest(row.graphs.emplace_back());
  }
  absl::StatusOr<std::vector<Row>> decisions = connection.Query(
      "SELECT digest,name,kind,graph,sites,reorders_sums FROM decision WHERE workload=? "
      "ORDER BY position",
      {workload});
  if (!decisions.ok()) return decisions.status();
  for (const Row& values : *decisions) {
    // A decision that does not decode leaves the checksum wrong, so the workload is left out.
    DecodeDecision(values, row.spec.decisions.emplace_back());
  }
  return LoadOptions(connection, workload, row);
}

bool DecodeWorkload(const Row& row, Reader::Workload& workload) {
  RowReader in(row);
  in.Digest(workload.row.spec.fingerprint);
  in.Text(workload.row.spec.name);
  workload.first_seen_ns = in.Int();
  workload.last_seen_ns = in.Int();
  return in.ok();
}

}  // namespace

Value DigestValue(const Digest& digest) {
  RowWriter out;
  out.Digest(digest);
  return out.Take().front();
}

Row EnvironmentChildren(const EnvironmentRow& row) {
  RowWriter out;
  for (const auto& [key, value] : row.fields) out.Text(key).Text(value);
  return out.Take();
}

Row WorkloadChildren(const WorkloadRow& row) {
  RowWriter out;
  for (const Digest& graph : row.graphs) out.Digest(graph);
  for (const planner::DecisionSpec& decision : row.spec.decisions) {
    out.Digest(decision.id).Text(decision.name).Enumerator(decision.kind);
    out.Count(decision.graph).Count(decision.sites).Int(decision.reorders_sums ? 1 : 0);
    for (const std::string& option : decision.options) out.Text(option);
  }
  return out.Take();
}

absl::StatusOr<std::optional<StoredEnvironment>> FindEnvironment(Connection& connection,
                                                                 const Digest& fingerprint,
                                                                 DamageCount& damaged) {
  absl::StatusOr<std::vector<KeyedRow>> rows = ReadUnverified(
      connection, kEnvironmentTable, "WHERE fingerprint=?", {DigestValue(fingerprint)});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::optional<StoredEnvironment>();
  KeyedRow& keyed = rows->front();
  StoredEnvironment environment{keyed.key, {fingerprint, {}}};
  absl::StatusOr<std::vector<Row>> fields =
      connection.Query("SELECT key,value FROM environment_field WHERE environment=?", {keyed.key});
  if (!fields.ok()) return fields.status();
  for (const Row& values : *fields) {
    RowReader in(values);
    std::string key, value;
    in.Text(key);
    in.Text(value);
    environment.row.fields[key] = value;
  }
  if (!VerifyParent(connection.store(), keyed, EnvironmentChildren(environment.row))) {
    damaged.fetch_add(1, std::memory_order_relaxed);
    return std::optional<StoredEnvironment>();
  }
  return std::optional<StoredEnvironment>(std::move(environment));
}

absl::StatusOr<std::vector<Reader::Workload>> FindWorkloads(Connection& connection,
                                                            const std::string& suffix,
                                                            const Row& parameters,
                                                            DamageCount& damaged) {
  absl::StatusOr<std::vector<KeyedRow>> rows =
      ReadUnverified(connection, kWorkloadTable, suffix, parameters);
  if (!rows.ok()) return rows.status();
  std::vector<Reader::Workload> workloads;
  for (KeyedRow& keyed : *rows) {
    Reader::Workload workload;
    workload.id = keyed.key;
    if (absl::Status status = LoadChildren(connection, keyed.key, workload.row); !status.ok()) {
      return status;
    }
    if (VerifyParent(connection.store(), keyed, WorkloadChildren(workload.row)) &&
        DecodeWorkload(keyed.row, workload)) {
      workloads.push_back(std::move(workload));
    } else {
      damaged.fetch_add(1, std::memory_order_relaxed);
    }
  }
  return workloads;
}

absl::StatusOr<std::vector<Reader::Graph>> FindGraphs(Connection& connection,
                                                      const std::string& suffix,
                                                      const Row& parameters, DamageCount& damaged) {
  return FindItems<Reader::Graph>(connection, kGraphTable, suffix, parameters, damaged,
                                  [](int64_t id, const Row& row, Reader::Graph& graph) {
                                    graph.id = id;
                                    return DecodeGraph(row, graph.row, graph.first_seen_ns);
                                  });
}

absl::StatusOr<std::optional<TuningKey>> FindTuning(Connection& connection, TuningId id,
                                                    DamageCount& damaged) {
  return FirstOf(FindItems<TuningKey>(
      connection, kTuningTable, "WHERE id=?", {id}, damaged,
      [](int64_t, const Row& row, TuningKey& key) { return DecodeTuning(row, key); }));
}

absl::StatusOr<std::vector<StoredPlan>> FindPlans(Connection& connection, const std::string& suffix,
                                                  const Row& parameters, DamageCount& damaged) {
  return FindItems<StoredPlan>(connection, kPlanTable, suffix, parameters, damaged, &DecodePlan);
}

absl::StatusOr<std::vector<StoredRace>> FindRaces(Connection& connection, const std::string& suffix,
                                                  const Row& parameters, DamageCount& damaged) {
  return FindItems<StoredRace>(connection, kRaceTable, suffix, parameters, damaged, &DecodeRace);
}

absl::StatusOr<std::vector<StoredSettlement>> FindSettlements(Connection& connection,
                                                              const std::string& suffix,
                                                              const Row& parameters,
                                                              DamageCount& damaged) {
  return FindItems<StoredSettlement>(connection, kSettlementTable, suffix, parameters, damaged,
                                     &DecodeSettlement);
}

absl::StatusOr<std::optional<planner::DriftTimer>> FindDriftTimer(Connection& connection,
                                                                  int64_t settlement,
                                                                  DamageCount& damaged) {
  return FirstOf(FindItems<planner::DriftTimer>(connection, kDriftTimerTable, "WHERE settlement=?",
                                                {settlement}, damaged, &DecodeDriftTimer));
}

absl::StatusOr<std::optional<StoredKernels>> FindKernels(Connection& connection, TuningId tuning,
                                                         const planner::Plan& plan,
                                                         DamageCount& damaged) {
  return FirstOf(FindItems<StoredKernels>(connection, kKernelsTable, "WHERE tuning=? AND plan=?",
                                          {tuning, PlanToText(plan)}, damaged, &DecodeKernels));
}

absl::StatusOr<std::optional<SessionRow>> FindSession(Connection& connection, planner::SessionId id,
                                                      DamageCount& damaged) {
  return FirstOf(FindItems<SessionRow>(connection, kSessionTable, "WHERE id=?",
                                       {static_cast<int64_t>(id)}, damaged, &DecodeSession));
}

}  // namespace blazed::storage
