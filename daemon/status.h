// What the running daemon knows about itself, for History.GetStatus. Taken on the strand, answered
// from there.
#pragma once

#include <functional>
#include <string>

#include "daemon/base/quarantine.h"
#include "daemon/history/status_source.h"
#include "daemon/session/loop.h"
#include "daemon/session/session_table.h"

namespace blazed {

class Status final : public history::StatusSource {
 public:
  // `store_path` is empty for a store in memory. All arguments outlive the answers.
  Status(session::Loop& loop, session::SessionTable& sessions, const Quarantine& quarantine,
         std::string store_path, uint64_t epoch);

  void Snapshot(std::function<void(history::DaemonStatus)> done) override;

 private:
  history::DaemonStatus Take() const;

  session::Loop& loop_;
  session::SessionTable& sessions_;
  const Quarantine& quarantine_;
  const std::string store_path_;
  const uint64_t epoch_;
  const planner::Moment started_;
};

}  // namespace blazed
