// SqliteStore's evidence: plans, races, settlements and what else a tuning leaves behind.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/answers.h"
#include "storage/earlier_search.h"
#include "storage/pair_codec.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/queries.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/sqlite_reader.h"
#include "storage/sqlite/sqlite_store.h"

namespace blazed::storage {

absl::Status SqliteStore::PutPlan(TuningId tuning, const planner::PlanRecord& record) {
  return Write([&]() -> absl::Status {
    absl::StatusOr<int64_t> id =
        IdWhere(*connection_, kPlanTable, "tuning=? AND plan=?", {tuning, PlanToText(record.plan)});
    if (!id.ok()) return id.status();
    return WriteRow(*connection_, kPlanTable, *id, EncodePlan(tuning, record, Now()));
  });
}

absl::Status SqliteStore::PutVariant(TuningId tuning, planner::SessionId session,
                                     planner::VariantId variant, const planner::Plan& plan,
                                     const Digest& signature, uint64_t build_ns,
                                     uint64_t peak_bytes, const std::string& failure) {
  return Write([&]() -> absl::Status {
    absl::StatusOr<int64_t> id =
        IdWhere(*connection_, kVariantTable, "session=? AND variant=?",
                {static_cast<int64_t>(session), static_cast<int64_t>(variant)});
    if (!id.ok()) return id.status();
    const VariantFacts facts{session, variant, plan, signature, build_ns, peak_bytes, failure};
    return WriteRow(*connection_, kVariantTable, *id, EncodeVariant(tuning, facts));
  });
}

absl::Status SqliteStore::PutProbe(TuningId tuning, const planner::KeepProbe& probe) {
  return Write([&]() -> absl::Status {
    absl::StatusOr<int64_t> id = NextId(*connection_, kProbeTable);
    if (!id.ok()) return id.status();
    return WriteRow(*connection_, kProbeTable, *id, EncodeProbe(tuning, probe));
  });
}

absl::Status SqliteStore::PutRace(TuningId tuning, const planner::RaceRecord& record) {
  return Write([&]() -> absl::Status {
    absl::StatusOr<int64_t> id = IdWhere(*connection_, kRaceTable, "tuning=? AND race=?",
                                         {tuning, static_cast<int64_t>(record.id)});
    if (!id.ok()) return id.status();
    absl::Status status =
        WriteRow(*connection_, kRaceTable, *id, EncodeRace(tuning, record, Now()));
    if (!status.ok()) return status;
    return WriteRow(*connection_, kRacePairTable, *id,
                    {kPairFormat, Blob{PackPairs(record.pairs)}});
  });
}

absl::Status SqliteStore::PutForecast(TuningId tuning, const planner::KeepForecast& forecast) {
  return Write([&] {
    return WriteRow(*connection_, kForecastTable, static_cast<int64_t>(forecast.session),
                    EncodeForecast(tuning, forecast.record));
  });
}

absl::Status SqliteStore::PutOutcome(TuningId tuning, const planner::KeepOutcome& outcome) {
  return Write([&] {
    return WriteRow(*connection_, kOutcomeTable, static_cast<int64_t>(outcome.session),
                    EncodeOutcome(tuning, outcome, Now()));
  });
}

absl::Status SqliteStore::PutSurrogate(TuningId tuning, const std::vector<uint8_t>& state) {
  return Write([&] {
    return WriteRow(*connection_, kSurrogateTable, tuning,
                    {Blob{std::string(state.begin(), state.end())}});
  });
}

absl::Status SqliteStore::PutDriftTimer(TuningId tuning, const planner::DriftTimer& timer) {
  return Write([&] {
    return WriteRow(*connection_, kDriftTimerTable, static_cast<int64_t>(timer.settlement),
                    EncodeDriftTimer(tuning, timer));
  });
}

absl::Status SqliteStore::PutKernels(TuningId tuning, const PlanKernels& kernels) {
  return Write([&]() -> absl::Status {
    absl::StatusOr<int64_t> id = IdWhere(*connection_, kKernelsTable, "tuning=? AND plan=?",
                                         {tuning, PlanToText(kernels.plan)});
    if (!id.ok()) return id.status();
    return WriteRow(*connection_, kKernelsTable, *id, EncodeKernels(tuning, kernels, Now()));
  });
}

absl::StatusOr<int64_t> SqliteStore::PutEvent(const EventRow& event) {
  int64_t id = 0;
  const absl::Status status = Write([&]() -> absl::Status {
    // The table's own sequence: it remembers ids that retention has removed.
    absl::StatusOr<int64_t> last = connection_->QueryInt(
        "SELECT coalesce(max(seq),0) FROM sqlite_sequence WHERE name='event'");
    if (!last.ok()) return last.status();
    id = *last + 1;
    return WriteRow(*connection_, kEventTable, id, EncodeEvent(event));
  });
  if (!status.ok()) return status;
  return id;
}

absl::Status SqliteStore::Supersede(TuningId tuning, uint64_t by) {
  absl::StatusOr<std::vector<StoredSettlement>> found =
      FindSettlements(*connection_, "WHERE tuning=? AND state=0", {tuning}, *damaged_);
  if (!found.ok()) return found.status();
  for (StoredSettlement& settlement : *found) {
    settlement.state = SettlementState::kSuperseded;
    settlement.state_reason = absl::StrCat("superseded by settlement ", by);
    absl::Status status =
        WriteRow(*connection_, kSettlementTable, static_cast<int64_t>(settlement.record.id),
                 EncodeSettlement(settlement));
    if (!status.ok()) return status;
  }
  // One whose checksum is wrong was not found above; it makes room all the same and stays unserved.
  return connection_->Run("UPDATE settlement SET state=1 WHERE tuning=? AND state=0", {tuning});
}

absl::StatusOr<uint64_t> SqliteStore::PutSettlement(TuningId tuning,
                                                    const planner::SettlementRecord& record) {
  int64_t id = 0;
  const absl::Status status = Write([&]() -> absl::Status {
    absl::StatusOr<int64_t> next = NextId(*connection_, kSettlementTable);
    if (!next.ok()) return next.status();
    id = *next;
    if (absl::Status made = Supersede(tuning, static_cast<uint64_t>(id)); !made.ok()) return made;
    StoredSettlement settlement;
    settlement.tuning = tuning;
    settlement.record = record;
    settlement.settled_ns = Now();
    return WriteRow(*connection_, kSettlementTable, id, EncodeSettlement(settlement));
  });
  if (!status.ok()) return status;
  return static_cast<uint64_t>(id);
}

absl::Status SqliteStore::Demote(uint64_t settlement, const std::string& reason) {
  return Write([&]() -> absl::Status {
    const auto id = static_cast<int64_t>(settlement);
    absl::StatusOr<std::vector<StoredSettlement>> found =
        FindSettlements(*connection_, "WHERE id=?", {id}, *damaged_);
    if (!found.ok()) return found.status();
    if (found->empty()) {
      return SettlementNotStored(settlement);
    }
    found->front().state = SettlementState::kDemoted;
    found->front().state_reason = reason;
    return WriteRow(*connection_, kSettlementTable, id, EncodeSettlement(found->front()));
  });
}

namespace {

absl::StatusOr<std::vector<planner::EarlierSearch>> EarlierSearches(Connection& connection,
                                                                    const TuningKey& key,
                                                                    DamageCount& damaged) {
  absl::StatusOr<std::vector<StoredSettlement>> settlements = FindSettlements(
      connection,
      "WHERE kind<>1 AND tuning IN (SELECT id FROM tuning WHERE environment=? AND contract=? AND "
      "uid=?) ORDER BY id DESC LIMIT ?",
      {DigestValue(key.environment), static_cast<int64_t>(key.contract),
       static_cast<int64_t>(key.uid), static_cast<int64_t>(kEarlierSearches)},
      damaged);
  if (!settlements.ok()) return settlements.status();
  std::vector<planner::EarlierSearch> searches;
  for (const StoredSettlement& settlement : *settlements) {
    absl::StatusOr<int64_t> options = connection.QueryInt(
        "SELECT count(*) FROM decision_option JOIN workload ON "
        "decision_option.workload=workload.id "
        "JOIN tuning ON tuning.workload=workload.fingerprint "
        "WHERE decision_option.position>0 AND tuning.id=?",
        {settlement.tuning});
    if (!options.ok()) return options.status();
    const auto search = EarlierSearchOf(settlement.record, static_cast<uint64_t>(*options));
    if (search) searches.push_back(*search);
  }
  return searches;
}

absl::Status LoadSurrogate(Connection& connection, TuningId tuning, DamageCount& damaged,
                           std::vector<uint8_t>& into) {
  absl::StatusOr<std::vector<KeyedRow>> rows =
      ReadRows(connection, kSurrogateTable, "WHERE tuning=?", {tuning}, damaged);
  if (!rows.ok() || rows->empty()) return rows.status();
  std::string state;
  RowReader(rows->front().row).Bytes(state);
  into.assign(state.begin(), state.end());
  return absl::OkStatus();
}

// Their rows are not read: what a damaged one names is told again when its plan is settled anew.
absl::StatusOr<std::vector<planner::Plan>> PlansWithKernels(Connection& connection,
                                                            TuningId tuning) {
  absl::StatusOr<std::vector<Row>> rows =
      connection.Query("SELECT plan FROM plan_kernels WHERE tuning=?", {tuning});
  if (!rows.ok()) return rows.status();
  std::vector<planner::Plan> plans;
  for (const Row& row : *rows) {
    RowReader in(row);
    planner::Plan plan;
    in.Plan(plan);
    if (in.ok()) plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace

absl::StatusOr<Store::Memory> SqliteStore::LoadMemory(TuningId tuning) {
  if (absl::Status status = Usable(); !status.ok()) return status;
  DamageCount damaged{0};
  Memory memory;
  absl::StatusOr<std::optional<TuningKey>> key = FindTuning(*connection_, tuning, damaged);
  if (!key.ok()) return key.status();
  if (!key->has_value()) {
    return TuningNotStored(tuning);
  }
  memory.workload = (*key)->workload;
  absl::StatusOr<std::vector<StoredSettlement>> own =
      FindSettlements(*connection_, "WHERE tuning=? AND state=0", {tuning}, damaged);
  if (!own.ok()) return own.status();
  if (!own->empty()) memory.settlement = own->front().record;
  absl::StatusOr<std::vector<StoredSettlement>> others = FindSettlements(
      *connection_,
      "WHERE state=0 AND kind<>2 AND tuning IN (SELECT id FROM tuning WHERE workload=? AND "
      "environment=? AND contract=? AND id<>?) ORDER BY id DESC LIMIT 8",
      {DigestValue((*key)->workload), DigestValue((*key)->environment),
       static_cast<int64_t>((*key)->contract), tuning},
      damaged);
  if (!others.ok()) return others.status();
  if (!others->empty()) memory.candidate = others->front().record;
  if (memory.settlement.has_value()) {
    absl::StatusOr<std::optional<planner::DriftTimer>> timer =
        FindDriftTimer(*connection_, static_cast<int64_t>(memory.settlement->id), damaged);
    if (!timer.ok()) return timer.status();
    memory.drift = *timer;
  }
  absl::StatusOr<std::vector<StoredPlan>> plans =
      FindPlans(*connection_, "WHERE tuning=? ORDER BY id", {tuning}, damaged);
  if (!plans.ok()) return plans.status();
  for (StoredPlan& plan : *plans) memory.plans.push_back(std::move(plan.record));
  absl::StatusOr<int64_t> races =
      connection_->QueryInt("SELECT coalesce(max(race),0) FROM race WHERE tuning=?", {tuning});
  if (!races.ok()) return races.status();
  // Kinds 1 and 2 are the checks; max - count are the races without a row.
  absl::StatusOr<int64_t> checks = connection_->QueryInt(
      "SELECT coalesce(max(race)-sum(race>0)+sum(kind IN (1,2)),0) FROM race WHERE tuning=?",
      {tuning});
  if (!checks.ok()) return checks.status();
  memory.races = static_cast<uint64_t>(*races);
  memory.checks = static_cast<uint64_t>(*checks);
  absl::Status surrogate = LoadSurrogate(*connection_, tuning, damaged, memory.surrogate);
  if (!surrogate.ok()) return surrogate;
  absl::StatusOr<std::vector<planner::Plan>> with_kernels = PlansWithKernels(*connection_, tuning);
  if (!with_kernels.ok()) return with_kernels.status();
  memory.with_kernels = *std::move(with_kernels);
  absl::StatusOr<std::vector<planner::EarlierSearch>> searches =
      EarlierSearches(*connection_, **key, damaged);
  if (!searches.ok()) return searches.status();
  memory.searches = *std::move(searches);
  memory.damaged_rows = damaged.load(std::memory_order_relaxed);
  damaged_->fetch_add(memory.damaged_rows, std::memory_order_relaxed);
  return memory;
}

absl::Status SqliteStore::Checkpoint() {
  if (absl::Status status = Usable(); !status.ok()) return status;
  // A reader in the middle of a query keeps part of the log; what is left moves the next time.
  connection_->SetBusyTimeout(absl::Milliseconds(100));
  absl::Status status = connection_->Execute("PRAGMA wal_checkpoint(TRUNCATE)");
  connection_->SetBusyTimeout(kBusyTimeout);
  if (absl::IsDataLoss(status)) stopped_ = status;
  if (absl::IsUnavailable(status)) return absl::OkStatus();
  return status;
}

absl::StatusOr<uint64_t> SqliteStore::RemoveOldest(const Table& table, uint64_t kept) {
  // Ids of these tables are dense from the oldest row on, so two look-ups stand for a count.
  absl::StatusOr<int64_t> rows =
      connection_->QueryInt(absl::StrCat("SELECT coalesce((SELECT max(id) FROM ", table.name,
                                         ")-(SELECT min(id) FROM ", table.name, ")+1,0)"));
  if (!rows.ok()) return rows.status();
  const int64_t excess = *rows - static_cast<int64_t>(kept);
  if (excess <= 0) return 0;
  const int64_t batch = std::min<int64_t>(excess, options_.prune_batch);
  absl::Status status =
      connection_->Run(absl::StrCat("DELETE FROM ", table.name, " WHERE id < (SELECT min(id) FROM ",
                                    table.name, ")+?"),
                       {batch});
  if (!status.ok()) return status;
  return static_cast<uint64_t>(connection_->changes());
}

absl::StatusOr<uint64_t> SqliteStore::RemovePairs() {
  // Drift checks and shams recur for as long as a settlement lives; the races that made it are its
  // evidence.
  constexpr char kRemovable[] =
      "FROM race_pair JOIN race ON race.id=race_pair.race WHERE race.kind IN (3,4) OR "
      "NOT EXISTS (SELECT 1 FROM settlement WHERE settlement.tuning=race.tuning)";
  absl::StatusOr<int64_t> rows =
      connection_->QueryInt(absl::StrCat("SELECT count(*) ", kRemovable));
  if (!rows.ok()) return rows.status();
  const int64_t excess = *rows - static_cast<int64_t>(options_.pair_sets_kept);
  if (excess <= 0) return 0;
  absl::Status status =
      connection_->Run(absl::StrCat("DELETE FROM race_pair WHERE race IN (SELECT race_pair.race ",
                                    kRemovable, " ORDER BY race_pair.race LIMIT ?)"),
                       {std::min<int64_t>(excess, options_.prune_batch)});
  if (!status.ok()) return status;
  return static_cast<uint64_t>(connection_->changes());
}

// Pages that deleted rows left free are used again, so they count as room.
absl::StatusOr<bool> SqliteStore::IsCrowded() {
  if (options_.max_bytes == 0) return false;
  const absl::StatusOr<int64_t> used = connection_->QueryInt(
      "SELECT (c.page_count-f.freelist_count)*s.page_size FROM pragma_page_count c, "
      "pragma_freelist_count f, pragma_page_size s");
  if (!used.ok()) return used.status();
  return static_cast<uint64_t>(*used) > options_.max_bytes / 4 * 3;
}

absl::StatusOr<uint64_t> SqliteStore::Prune() {
  if (in_transaction_) return absl::FailedPreconditionError("a transaction is open");
  uint64_t removed = 0;
  const auto add = [&removed](const absl::StatusOr<uint64_t>& rows) -> absl::Status {
    if (!rows.ok()) return rows.status();
    removed += *rows;
    return absl::OkStatus();
  };
  const absl::StatusOr<bool> crowded = IsCrowded();
  if (!crowded.ok()) return crowded.status();
  const uint64_t events = *crowded ? std::min(options_.events_kept, options_.events_kept_crowded)
                                   : options_.events_kept;
  const absl::Status status = Write([&]() -> absl::Status {
    absl::Status done = add(RemoveOldest(kEventTable, events));
    if (done.ok()) done = add(RemoveOldest(kProbeTable, options_.probes_kept));
    if (done.ok()) done = add(RemoveOldest(kVariantTable, options_.variants_kept));
    if (done.ok()) done = add(RemoveOldest(kKernelsTable, options_.kernels_kept));
    if (done.ok()) done = add(RemovePairs());
    return done;
  });
  if (!status.ok()) return status;
  return removed;
}

absl::StatusOr<std::string> SqliteStore::Backup() {
  if (absl::Status status = Usable(); !status.ok()) return status;
  if (in_transaction_) return absl::FailedPreconditionError("a transaction is open");
  return TakeBackup(*connection_, names_, Now(), options_.backups_kept);
}

absl::Time SqliteStore::NewestBackup() const {
  const std::vector<std::string> backups = ListBackups(names_);
  return backups.empty() ? absl::InfinitePast() : BackupTime(backups.front());
}

std::unique_ptr<Reader> SqliteStore::NewReader() {
  return std::make_unique<SqliteReader>(
      SqliteReader::Options{names_.database(), connection_->store(), options_.vfs, options_.readers,
                            options_.read_budget},
      damaged_);
}

}  // namespace blazed::storage
