// Everything the daemon is made of, in the order of construction. Private to Daemon.
#pragma once

#include <utility>  // before Asio: its 1.74 coroutine headers do not include what they use

#include <atomic>
#include <boost/asio/signal_set.hpp>
#include <memory>
#include <optional>

#include "daemon/base/quarantine.h"
#include "daemon/base/task_group.h"
#include "daemon/daemon.h"
#include "daemon/history/service.h"
#include "daemon/rpc/admin_service.h"
#include "daemon/rpc/identify.h"
#include "daemon/rpc/identity_table.h"
#include "daemon/rpc/listener.h"
#include "daemon/rpc/read_peer.h"
#include "daemon/rpc/reader_watch.h"
#include "daemon/rpc/refusals.h"
#include "daemon/rpc/server.h"
#include "daemon/rpc/socket_path.h"
#include "daemon/rpc/tuner_service.h"
#include "daemon/session/asio_loop.h"
#include "daemon/session/session_table.h"
#include "daemon/session/store_recorder.h"
#include "daemon/session/thinker.h"
#include "daemon/status.h"
#include "storage/open_report.h"
#include "storage/writer.h"

namespace blazed {

struct Daemon::Parts {
  Parts(Flags f, Config c);

  // daemon_start.cc
  absl::Status OpenStore();
  absl::Status BindSockets();
  void MakeSessions();
  absl::Status StartServers();
  void StartTasks();
  void WatchSignals();
  void Admit(rpc::Server& server, rpc::Door door, UniqueFd socket);
  void WatchReaders();
  void BuildReport(planner::SessionId session, const planner::ReportProgress& latest,
                   std::function<void(absl::StatusOr<std::string>)> answer);

  // daemon_run.cc; on the strand unless said otherwise
  void OnSignal(int number);
  void Reload();
  void StoreFailed();
  void StoreOutage(const absl::Status& cause);
  void Drain(absl::Duration patience);
  void StopAll();  // the main thread

  const Flags flags;
  Config config;  // the strand's once tasks run
  Quarantine quarantine;
  // Told of every commit once it exists; the writer is there before it.
  std::atomic<history::HistoryService*> watched{nullptr};
  storage::OpenReport opening;
  std::unique_ptr<storage::Writer> writer;
  std::optional<rpc::BoundSocket> socket, admin_socket;
  session::AsioLoop loop;  // the control strand
  std::unique_ptr<session::StoreRecorder> recorder;
  std::unique_ptr<session::ThreadThinker> thinker;
  std::unique_ptr<session::SessionTable> sessions;
  std::unique_ptr<rpc::IdentityTable> identities;
  rpc::Refusals refusals;
  std::unique_ptr<rpc::ReaderWatch> readers;
  session::Loop::Handle reader_look = 0;  // while there are connections
  std::unique_ptr<Status> status;
  std::unique_ptr<history::HistoryService> history;
  std::unique_ptr<rpc::TunerService> tuner;
  std::unique_ptr<rpc::AdminService> admin;
  std::unique_ptr<rpc::Server> server, admin_server;
  std::unique_ptr<rpc::Listener> listener, admin_listener;
  std::unique_ptr<boost::asio::signal_set> signals;
  absl::Duration patience = absl::Seconds(2);
  bool draining = false;
  TaskGroup tasks;
};

}  // namespace blazed
