#include "storage/sqlite/sqlite_reader.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "storage/answers.h"
#include "storage/digest_text.h"
#include "storage/names.h"
#include "storage/pair_codec.h"
#include "storage/sqlite/row_codec.h"

namespace blazed::storage {
namespace {

// WHERE, ORDER BY and LIMIT of a page, with their parameters.
struct Clause {
  std::string sql;
  Row parameters;
};

void AddOwnerFilter(const Owner& owner, Clause& clause) {
  absl::StrAppend(&clause.sql, " AND tuning.uid=?");
  clause.parameters.emplace_back(static_cast<int64_t>(owner.uid));
  if (owner.principal.empty()) return;
  absl::StrAppend(&clause.sql, " AND tuning.principal=?");
  clause.parameters.emplace_back(owner.principal);
}

// "tuning IN (...)" for the page's workload and user; nothing where the page asks for all.
absl::Status AddTuningFilter(const std::string& workload_hex, const std::optional<Owner>& owner,
                             Clause& clause) {
  if (workload_hex.empty() && !owner.has_value()) return absl::OkStatus();
  absl::StatusOr<DigestRange> range = DigestsByPrefix(workload_hex);
  if (!range.ok()) return range.status();
  absl::StrAppend(&clause.sql,
                  " AND tuning IN (SELECT id FROM tuning WHERE workload BETWEEN ? AND ?");
  clause.parameters.push_back(DigestValue(range->first));
  clause.parameters.push_back(DigestValue(range->last));
  if (owner.has_value()) AddOwnerFilter(*owner, clause);
  absl::StrAppend(&clause.sql, ")");
  return absl::OkStatus();
}

Clause BelowId(const Page& page) {
  return {"WHERE id<?", {page.before > 0 ? page.before : INT64_MAX}};
}

absl::StatusOr<Clause> EvidenceClause(const Page& page) {
  Clause clause = BelowId(page);
  absl::Status status = AddTuningFilter(page.workload_hex, page.owner, clause);
  if (!status.ok()) return status;
  absl::StrAppend(&clause.sql, " ORDER BY id DESC LIMIT ?");
  clause.parameters.emplace_back(int64_t{LimitOf(page.limit)});
  return clause;
}

// Each filter is appended where the page asks for it. The owner's is an open subquery over
// `tuning`, which is closed here; the workload's takes the ends of the range.
absl::StatusOr<Clause> DescriptionClause(const Page& page, const std::string& owner_filter,
                                         const std::string& workload_filter) {
  Clause clause = BelowId(page);
  if (page.owner.has_value()) {
    absl::StrAppend(&clause.sql, owner_filter);
    AddOwnerFilter(*page.owner, clause);
    absl::StrAppend(&clause.sql, ")");
  }
  if (!page.workload_hex.empty()) {
    absl::StatusOr<DigestRange> range = DigestsByPrefix(page.workload_hex);
    if (!range.ok()) return range.status();
    absl::StrAppend(&clause.sql, workload_filter);
    clause.parameters.push_back(DigestValue(range->first));
    clause.parameters.push_back(DigestValue(range->last));
  }
  absl::StrAppend(&clause.sql, " ORDER BY id DESC LIMIT ?");
  clause.parameters.emplace_back(int64_t{LimitOf(page.limit)});
  return clause;
}

// Assigns a result, or returns its error from the enclosing query.
template <typename T>
absl::Status Take(absl::StatusOr<T> result, T& out) {
  if (!result.ok()) return result.status();
  out = *std::move(result);
  return absl::OkStatus();
}

absl::Status LoadForecast(Connection& db, planner::SessionId session, Reader::SessionStory& story,
                          DamageCount& damaged) {
  std::vector<KeyedRow> rows;
  absl::Status status = Take(
      ReadRows(db, kForecastTable, "WHERE session=?", {static_cast<int64_t>(session)}, damaged),
      rows);
  if (!status.ok() || rows.empty()) return status;
  planner::ForecastRecord record;
  if (DecodeForecast(rows.front().row, record)) story.forecast = record;
  return absl::OkStatus();
}

absl::Status LoadOutcome(Connection& db, planner::SessionId session, Reader::SessionStory& story,
                         DamageCount& damaged) {
  std::vector<KeyedRow> rows;
  absl::Status status =
      Take(ReadRows(db, kOutcomeTable, "WHERE session=?", {static_cast<int64_t>(session)}, damaged),
           rows);
  if (!status.ok() || rows.empty()) return status;
  StoredOutcome outcome;
  if (DecodeOutcome(rows.front().key, rows.front().row, outcome)) story.outcome = outcome;
  return absl::OkStatus();
}

// Workload, its graphs in step order, and the environment of a tuning.
absl::Status LoadConditions(Connection& db, Reader::SessionStory& story, DamageCount& damaged) {
  std::vector<Reader::Workload> workloads;
  absl::Status status =
      Take(FindWorkloads(db, "WHERE fingerprint=?", {DigestValue(story.key.workload)}, damaged),
           workloads);
  if (!status.ok()) return status;
  if (workloads.empty()) return NotStored("the session's workload");
  story.workload = std::move(workloads.front().row);
  for (const Digest& fingerprint : story.workload.graphs) {
    std::vector<Reader::Graph> graphs;
    status =
        Take(FindGraphs(db, "WHERE fingerprint=?", {DigestValue(fingerprint)}, damaged), graphs);
    if (!status.ok()) return status;
    for (Reader::Graph& graph : graphs) story.graphs.push_back(std::move(graph.row));
  }
  std::optional<StoredEnvironment> environment;
  status = Take(FindEnvironment(db, story.key.environment, damaged), environment);
  if (status.ok() && environment.has_value()) story.environment = std::move(environment->row);
  return status;
}

absl::Status LoadSettlement(Connection& db, Reader::SessionStory& story, DamageCount& damaged) {
  const int64_t tuning = story.session.tuning;
  std::vector<StoredSettlement> settlements;
  absl::Status status;
  if (story.outcome.has_value()) {
    const auto id = static_cast<int64_t>(story.outcome->record.settlement);
    status =
        Take(FindSettlements(db, "WHERE tuning=? AND id=?", {tuning, id}, damaged), settlements);
  } else {
    status =
        Take(FindSettlements(db, "WHERE tuning=? AND state=0", {tuning}, damaged), settlements);
  }
  if (status.ok() && !settlements.empty()) story.settlement = std::move(settlements.front());
  return status;
}

absl::Status LoadEvidence(Connection& db, Reader::SessionStory& story, DamageCount& damaged) {
  const int64_t tuning = story.session.tuning;
  absl::Status status = LoadSettlement(db, story, damaged);
  if (!status.ok()) return status;
  status = Take(FindPlans(db, "WHERE tuning=? ORDER BY id", {tuning}, damaged), story.plans);
  if (!status.ok()) return status;
  return Take(FindRaces(db, "WHERE tuning=? ORDER BY id", {tuning}, damaged), story.races);
}

}  // namespace

SqliteReader::SqliteReader(Options options, std::shared_ptr<DamageCount> damaged)
    : options_(std::move(options)), damaged_(std::move(damaged)) {}

SqliteReader::~SqliteReader() = default;

absl::StatusOr<std::unique_ptr<Connection>> SqliteReader::TakeConnection() {
  {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](SqliteReader* self) ABSL_NO_THREAD_SAFETY_ANALYSIS { return self->FreePlace(); },
        this));
    if (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
    ++open_;
  }
  absl::StatusOr<std::unique_ptr<Connection>> opened =
      Connection::Open(options_.database, Access::kReadOnly, options_.vfs);
  if (!opened.ok()) {
    GiveBack(nullptr);
    return opened.status();
  }
  (*opened)->SetStore(options_.store);
  return opened;
}

void SqliteReader::GiveBack(std::unique_ptr<Connection> connection) {
  absl::MutexLock lock(&mutex_);
  if (connection == nullptr) {
    --open_;
  } else {
    idle_.push_back(std::move(connection));
  }
}

absl::Status SqliteReader::Read(const std::function<absl::Status(Connection&)>& query) {
  absl::StatusOr<std::unique_ptr<Connection>> connection = TakeConnection();
  if (!connection.ok()) return connection.status();
  Connection& db = **connection;
  db.SetDeadline(absl::Now() + options_.budget);
  absl::Status status = db.Execute("BEGIN");
  if (status.ok()) status = query(db);
  // Ends the snapshot also after an error; a transaction that SQLite ended itself has nothing left
  // to end.
  db.Execute("ROLLBACK").IgnoreError();
  // A connection that met damage or an I/O error may hold stale pages: it is closed, not reused.
  const bool keep = status.ok() || absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                    absl::IsDeadlineExceeded(status);
  if (!keep) connection->reset();
  GiveBack(*std::move(connection));
  return status;
}

absl::StatusOr<std::vector<Reader::Workload>> SqliteReader::Workloads(const Page& page) {
  absl::StatusOr<Clause> clause =
      DescriptionClause(page, " AND fingerprint IN (SELECT workload FROM tuning WHERE true",
                        " AND fingerprint BETWEEN ? AND ?");
  if (!clause.ok()) return clause.status();
  std::vector<Workload> workloads;
  const absl::Status status = Read([&](Connection& db) -> absl::Status {
    absl::Status done =
        Take(FindWorkloads(db, clause->sql, clause->parameters, *damaged_), workloads);
    for (size_t i = 0; done.ok() && i < workloads.size(); ++i) {
      Clause newest{"WHERE state=0", {}};
      done = AddTuningFilter(DigestToHex(workloads[i].row.spec.fingerprint), page.owner, newest);
      std::vector<StoredSettlement> found;
      if (done.ok()) {
        done = Take(FindSettlements(db, newest.sql + " ORDER BY id DESC LIMIT 1", newest.parameters,
                                    *damaged_),
                    found);
      }
      if (!found.empty()) workloads[i].settlement = std::move(found.front());
    }
    return done;
  });
  if (!status.ok()) return status;
  return workloads;
}

absl::StatusOr<std::vector<Reader::Graph>> SqliteReader::Graphs(const Page& page) {
  absl::StatusOr<Clause> clause = DescriptionClause(
      page,
      " AND fingerprint IN (SELECT graph FROM workload_graph JOIN workload ON "
      "workload.id=workload_graph.workload JOIN tuning ON tuning.workload=workload.fingerprint "
      "WHERE true",
      " AND fingerprint IN (SELECT graph FROM workload_graph JOIN workload ON "
      "workload.id=workload_graph.workload WHERE workload.fingerprint BETWEEN ? AND ?)");
  if (!clause.ok()) return clause.status();
  std::vector<Graph> graphs;
  const absl::Status status = Read([&](Connection& db) {
    return Take(FindGraphs(db, clause->sql, clause->parameters, *damaged_), graphs);
  });
  if (!status.ok()) return status;
  return graphs;
}

absl::StatusOr<std::vector<StoredPlan>> SqliteReader::Plans(const Page& page) {
  absl::StatusOr<Clause> clause = EvidenceClause(page);
  if (!clause.ok()) return clause.status();
  std::vector<StoredPlan> plans;
  const absl::Status status = Read([&](Connection& db) {
    return Take(FindPlans(db, clause->sql, clause->parameters, *damaged_), plans);
  });
  if (!status.ok()) return status;
  return plans;
}

absl::StatusOr<std::vector<StoredRace>> SqliteReader::Races(const Page& page) {
  absl::StatusOr<Clause> clause = EvidenceClause(page);
  if (!clause.ok()) return clause.status();
  std::vector<StoredRace> races;
  const absl::Status status = Read([&](Connection& db) {
    return Take(FindRaces(db, clause->sql, clause->parameters, *damaged_), races);
  });
  if (!status.ok()) return status;
  return races;
}

absl::StatusOr<std::vector<StoredSettlement>> SqliteReader::Settlements(const Page& page) {
  absl::StatusOr<Clause> clause = EvidenceClause(page);
  if (!clause.ok()) return clause.status();
  std::vector<StoredSettlement> settlements;
  const absl::Status status = Read([&](Connection& db) {
    return Take(FindSettlements(db, clause->sql, clause->parameters, *damaged_), settlements);
  });
  if (!status.ok()) return status;
  return settlements;
}

absl::StatusOr<std::vector<EventRow>> SqliteReader::Events(const EventPage& page) {
  Clause clause{"WHERE id>?", {page.after}};
  absl::Status status = AddTuningFilter(page.workload_hex, page.owner, clause);
  if (!status.ok()) return status;
  absl::StrAppend(&clause.sql, " ORDER BY id LIMIT ?");
  clause.parameters.emplace_back(int64_t{LimitOf(page.limit)});
  std::vector<EventRow> events;
  status = Read([&](Connection& db) -> absl::Status {
    std::vector<KeyedRow> rows;
    absl::Status done =
        Take(ReadRows(db, kEventTable, clause.sql, clause.parameters, *damaged_), rows);
    for (const KeyedRow& keyed : rows) {
      EventRow event;
      if (DecodeEvent(keyed.key, keyed.row, event)) events.push_back(std::move(event));
    }
    return done;
  });
  if (!status.ok()) return status;
  return events;
}

absl::StatusOr<int64_t> SqliteReader::LastEventId() {
  int64_t last = 0;
  const absl::Status status = Read([&](Connection& db) {
    return Take(db.QueryInt("SELECT coalesce(max(seq),0) FROM sqlite_sequence WHERE name='event'"),
                last);
  });
  if (!status.ok()) return status;
  return last;
}

absl::StatusOr<std::vector<planner::PairSample>> SqliteReader::LoadPairs(int64_t race_row) {
  std::vector<KeyedRow> rows;
  const absl::Status status = Read([&](Connection& db) {
    return Take(ReadRows(db, kRacePairTable, "WHERE race=?", {race_row}, *damaged_), rows);
  });
  if (!status.ok()) return status;
  if (rows.empty()) return NotStored(absl::StrCat("raw pairs of race ", race_row));
  RowReader in(rows.front().row);
  const int64_t format = in.Int();
  std::string blob;
  in.Bytes(blob);
  return UnpackPairs(format, blob);
}

absl::StatusOr<Reader::Tuning> SqliteReader::TuningById(TuningId id) {
  std::optional<TuningKey> key;
  const absl::Status status =
      Read([&](Connection& db) { return Take(FindTuning(db, id, *damaged_), key); });
  if (!status.ok()) return status;
  if (!key.has_value()) return NotStored(absl::StrCat("tuning ", id));
  return Tuning{id, *key};
}

absl::StatusOr<int64_t> SqliteReader::PlanId(TuningId tuning, const planner::Plan& plan) {
  int64_t id = 0;
  const absl::Status status = Read([&](Connection& db) {
    return Take(db.QueryInt("SELECT coalesce((SELECT id FROM plan WHERE tuning=? AND plan=?),0)",
                            {tuning, PlanToText(plan)}),
                id);
  });
  if (!status.ok()) return status;
  return id;
}

absl::StatusOr<WorkloadRow> SqliteReader::WorkloadByPrefix(const std::string& hex_prefix) {
  absl::StatusOr<DigestRange> range = DigestsByPrefix(hex_prefix);
  if (!range.ok()) return range.status();
  std::vector<Workload> found;
  const absl::Status status = Read([&](Connection& db) {
    return Take(FindWorkloads(db, "WHERE fingerprint BETWEEN ? AND ? LIMIT 2",
                              {DigestValue(range->first), DigestValue(range->last)}, *damaged_),
                found);
  });
  if (!status.ok()) return status;
  if (found.empty()) return NotStored(absl::StrCat("workload '", hex_prefix, "'"));
  if (found.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("several workloads begin with '", hex_prefix, "': give more digits"));
  }
  return std::move(found.front().row);
}

absl::StatusOr<EnvironmentRow> SqliteReader::Environment(const Digest& fingerprint) {
  std::optional<StoredEnvironment> found;
  const absl::Status status = Read(
      [&](Connection& db) { return Take(FindEnvironment(db, fingerprint, *damaged_), found); });
  if (!status.ok()) return status;
  if (!found.has_value()) return NotStored(absl::StrCat("environment ", DigestToHex(fingerprint)));
  return std::move(found->row);
}

absl::StatusOr<std::optional<planner::DriftTimer>> SqliteReader::Drift(int64_t settlement) {
  std::optional<planner::DriftTimer> timer;
  const absl::Status status =
      Read([&](Connection& db) { return Take(FindDriftTimer(db, settlement, *damaged_), timer); });
  if (!status.ok()) return status;
  return timer;
}

absl::StatusOr<std::optional<StoredKernels>> SqliteReader::Kernels(TuningId tuning,
                                                                   const planner::Plan& plan) {
  std::optional<StoredKernels> kernels;
  const absl::Status status =
      Read([&](Connection& db) { return Take(FindKernels(db, tuning, plan, *damaged_), kernels); });
  if (!status.ok()) return status;
  return kernels;
}

absl::StatusOr<std::optional<SessionRow>> SqliteReader::Session(planner::SessionId id) {
  std::optional<SessionRow> session;
  const absl::Status status =
      Read([&](Connection& db) { return Take(FindSession(db, id, *damaged_), session); });
  if (!status.ok()) return status;
  return session;
}

absl::StatusOr<Reader::SessionStory> SqliteReader::Story(planner::SessionId id) {
  SessionStory story;
  const absl::Status status = Read([&](Connection& db) -> absl::Status {
    std::optional<SessionRow> session;
    absl::Status done = Take(FindSession(db, id, *damaged_), session);
    if (!done.ok()) return done;
    if (!session.has_value()) return NotStored(absl::StrCat("session ", id));
    story.session = *std::move(session);
    if (story.session.tuning == 0) return absl::OkStatus();
    std::optional<TuningKey> key;
    done = Take(FindTuning(db, story.session.tuning, *damaged_), key);
    if (!done.ok()) return done;
    if (!key.has_value()) return NotStored("the session's tuning");
    story.key = *std::move(key);
    done = LoadConditions(db, story, *damaged_);
    if (done.ok()) done = LoadForecast(db, id, story, *damaged_);
    if (done.ok()) done = LoadOutcome(db, id, story, *damaged_);
    if (done.ok()) done = LoadEvidence(db, story, *damaged_);
    return done;
  });
  if (!status.ok()) return status;
  return story;
}

// Asked of the file system, because the question matters most where the database does not answer.
absl::StatusOr<uint64_t> SqliteReader::SizeBytes() {
  std::error_code error;
  const uint64_t database = std::filesystem::file_size(options_.database, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot look at ", options_.database, ": ", error.message()));
  }
  const uint64_t log = std::filesystem::file_size(LogOf(options_.database), error);
  return error ? database : database + log;  // a closed database has no log
}

}  // namespace blazed::storage
