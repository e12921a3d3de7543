#include "daemon/status.h"

#include <utility>

#include "blazed_version.h"

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
  return status;
}

}  // namespace

Status::Status(session::Loop& loop, session::SessionTable& sessions, const Quarantine& quarantine,
               std::string store_path, uint64_t epoch)
    : loop_(loop),
      sessions_(sessions),
      quarantine_(quarantine),
      store_path_(std::move(store_path)),
      epoch_(epoch),
      started_(loop.Now()) {}

void Status::Snapshot(std::function<void(history::DaemonStatus)> done) {
  loop_.Post([this, done = std::move(done)] { done(Take()); });
}

history::DaemonStatus Status::Take() const {
  history::DaemonStatus status;
  status.version = BLAZED_VERSION;
  status.commit = BLAZED_COMMIT;
  status.epoch = epoch_;
  status.uptime_ns = static_cast<uint64_t>((loop_.Now() - started_).count());
  status.store_path = store_path_;
  const absl::Status cause = quarantine_.cause();
  status.store_state = cause.ok() ? "ok" : "quarantined";
  status.store_detail = std::string(cause.message());
  for (const session::SessionSummary& summary : sessions_.Summaries()) {
    status.sessions.push_back(ToStatus(summary));
  }
  return status;
}

}  // namespace blazed
