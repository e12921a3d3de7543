#include "daemon/status.h"

#include <utility>

#include "absl/time/time.h"
#include "blazed_version.h"
#include "storage/names.h"

namespace blazed {
namespace {

const char* PhaseName(planner::Phase phase) {
  switch (phase) {
    case planner::Phase::kWaiting:
      return "waiting";
    case planner::Phase::kForecast:
      return "forecast";
    case planner::Phase::kSearch:
      return "search";
    case planner::Phase::kVerify:
      return "verify";
    case planner::Phase::kReplicate:
      return "replicate";
    case planner::Phase::kSettled:
      return "settled";
    case planner::Phase::kStanding:
      return "standing";
    case planner::Phase::kServed:
      return "served";
  }
  return "waiting";
}

history::SessionStatus ToStatus(const session::SessionSummary& summary) {
  history::SessionStatus status;
  status.session = summary.id;
  status.uid = summary.uid;
  status.principal = summary.principal;
  status.pid = summary.pid;
  status.job = summary.job;
  status.host_name = summary.host_name;
  status.workload = summary.workload;
  status.workload_name = summary.workload_name;
  status.phase = PhaseName(summary.progress.phase);
  status.attached_ns = static_cast<uint64_t>(summary.attached.count());
  status.candidates = summary.progress.candidates;
  status.dropped = summary.progress.dropped;
  status.search_pairs = summary.progress.cost.search_pairs;
  status.gain = summary.progress.gain;
  status.budget_spent_ns = static_cast<uint64_t>(summary.progress.cost.budget_spent.count());
  status.budget_allowed_ns = static_cast<uint64_t>(summary.progress.cost.budget_allowed.count());
  status.note = summary.progress.note;
  return status;
}

}  // namespace

Status::Status(session::Loop& loop, session::SessionTable& sessions, const Quarantine& quarantine,
               const storage::Writer& writer, const session::StoreRecorder& recorder,
               StoreFacts store)
    : loop_(loop),
      sessions_(sessions),
      quarantine_(quarantine),
      writer_(writer),
      recorder_(recorder),
      store_(std::move(store)),
      started_(loop.Now()) {}

void Status::Snapshot(std::function<void(history::DaemonStatus)> done) {
  loop_.Post([this, done = std::move(done)] { done(Take()); });
}

history::DaemonStatus Status::Take() const {
  history::DaemonStatus status;
  status.version = BLAZED_VERSION;
  status.commit = BLAZED_COMMIT;
  status.epoch = writer_.epoch();
  status.uptime_ns = static_cast<uint64_t>((loop_.Now() - started_).count());
  TakeStore(status);
  for (const session::SessionSummary& summary : sessions_.Summaries()) {
    status.sessions.push_back(ToStatus(summary));
  }
  return status;
}

void Status::TakeStore(history::DaemonStatus& status) const {
  if (!store_.folder.empty()) status.store_path = storage::StoreNames{store_.folder}.database();
  status.store_opening = store_.opening;
  status.rows_waiting = writer_.queued();
  status.rows_dropped = recorder_.dropped();
  status.store_state = "ok";
  const absl::Status cause = quarantine_.cause();
  if (!cause.ok()) {
    status.store_state = "quarantined";
    status.store_detail = std::string(cause.message());
  } else if (const std::optional<storage::Outage> outage = writer_.outage()) {
    status.store_state = "read_only";
    status.store_detail = storage::OutageSentence(*outage, store_.folder);
    status.read_only_since_ns = absl::ToUnixNanos(outage->since);
  }
}

}  // namespace blazed
