// What the running daemon knows about itself, for History.GetStatus. Taken on the strand, answered
// from there.
#pragma once

#include <functional>
#include <string>

#include "daemon/base/quarantine.h"
#include "daemon/history/status_source.h"
#include "daemon/session/loop.h"
#include "daemon/session/session_table.h"
#include "daemon/session/store_recorder.h"
#include "storage/open_report.h"
#include "storage/writer.h"

namespace blazed {

class Status final : public history::StatusSource {
 public:
  struct StoreFacts {
    std::string folder;  // empty: the store is in memory
    storage::OpenReport opening;
  };
  // All references outlive the answers.
  Status(session::Loop& loop, session::SessionTable& sessions, const Quarantine& quarantine,
         const storage::Writer& writer, const session::StoreRecorder& recorder, StoreFacts store);

  void Snapshot(std::function<void(history::DaemonStatus)> done) override;

 private:
  history::DaemonStatus Take() const;
  void TakeStore(history::DaemonStatus& status) const;

  session::Loop& loop_;
  session::SessionTable& sessions_;
  const Quarantine& quarantine_;
  const storage::Writer& writer_;
  const session::StoreRecorder& recorder_;
  const StoreFacts store_;
  const planner::Moment started_;
};

}  // namespace blazed
