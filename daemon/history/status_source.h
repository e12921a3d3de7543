// What only the running daemon knows, for GetStatus. Implemented by the shell over its control
// strand.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "daemon/planner/types.h"
#include "storage/open_report.h"

namespace blazed::history {

struct SessionStatus {
  planner::SessionId session = 0;
  uint32_t uid = 0;
  std::string principal;
  int32_t pid = 0;
  std::string job;
  std::string host_name;
  planner::Digest workload{};  // zero until described
  std::string workload_name;
  std::string phase;
  uint64_t attached_ns = 0;  // how long
  uint32_t candidates = 0;
  uint32_t dropped = 0;
  uint64_t search_pairs = 0;
  double gain = 0;
  uint64_t budget_spent_ns = 0, budget_allowed_ns = 0;
  std::string note;
};

struct DaemonStatus {
  std::string version;
  std::string commit;
  uint64_t epoch = 0;
  uint64_t uptime_ns = 0;
  std::string store_path;    // empty: in memory
  std::string store_state;   // "ok", "read_only", "quarantined"
  std::string store_detail;  // one sentence; empty where the state is "ok"
  storage::OpenReport store_opening;
  int64_t read_only_since_ns = 0;  // wall clock; 0: rows reach the disk
  uint64_t rows_waiting = 0;       // to be written
  uint64_t rows_dropped = 0;       // since the start
  std::vector<SessionStatus> sessions;
};

class StatusSource {
 public:
  virtual ~StatusSource() = default;
  // Calls `done` exactly once with a snapshot, from any thread, also when the daemon is stopping.
  // Never blocks.
  virtual void Snapshot(std::function<void(DaemonStatus)> done) = 0;
};

}  // namespace blazed::history
