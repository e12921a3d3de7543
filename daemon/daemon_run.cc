// The daemon's life after READY: signals, reload, and the orderly stop.
#include <csignal>

#include "daemon/base/log.h"
#include "daemon/base/notify.h"
#include "daemon/daemon_parts.h"

namespace blazed {

namespace field = log::field;

// Runs once for every signal and then waits for the next; 0 only begins to wait.
void Daemon::Parts::OnSignal(int number) {
  if (number == SIGHUP) Reload();
  if (number == SIGTERM || number == SIGINT) {
    log::Info("stopping", {{field::kSignal, number}});
    Drain(patience);
  }
  signals->async_wait([this](const auto& error, int next) {
    if (!error) OnSignal(next);
  });
}

void Daemon::Parts::Reload() {
  absl::StatusOr<Config> loaded = ConfigOf(flags);
  if (!loaded.ok()) {
    log::Error("reload refused; the configuration in use stays",
               {{field::kReason, std::string(loaded.status().message())}});
    return;
  }
  for (const std::string& key : RestartKeys(config, *loaded)) {
    log::Warning("a changed key takes effect at the next start", {{field::kKey, key}});
  }
  config = Reloaded(config, *loaded);
  log::Level level = log::Level::kInfo;
  log::ParseLevel(config.log_level, &level);
  log::SetLevel(level);
  sessions->Reload(config.session);
  log::Info("configuration reloaded");
}

void Daemon::Parts::StoreFailed() {
  server->SetServing("store", rpc::Serving::kNo);
  server->SetServing("blazed.v1.Tuner", rpc::Serving::kNo);
  NotifyServiceManager("STATUS=quarantine: the store cannot keep evidence");
  sessions->StoreFailed();
}

// Begins with a cause and ends with OK. Sessions go on: what they measure waits with the writer,
// and what has to be on the disk first is refused by name.
void Daemon::Parts::StoreOutage(const absl::Status& cause) {
  if (draining || !quarantine.cause().ok()) return;
  server->SetServing("store", cause.ok() ? rpc::Serving::kYes : rpc::Serving::kNo);
  if (cause.ok()) {
    NotifyServiceManager("STATUS=serving");
    log::Info("the store is written again");
    return;
  }
  NotifyServiceManager("STATUS=the store cannot be written; see blazectl status");
  log::Error("the store cannot be written; rows wait",
             {{field::kReason, std::string(cause.message())}, {field::kPath, config.state_dir}});
}

// A second signal does not wait for leases.
void Daemon::Parts::Drain(absl::Duration longest) {
  if (std::exchange(draining, true)) return tasks.RequestStop(absl::OkStatus());
  NotifyServiceManager("STOPPING=1");
  server->SetAllNotServing();
  listener->Stop();
  if (admin_listener) admin_listener->Stop();
  history->StopWatches();
  sessions->Drain(longest, [this] { tasks.RequestStop(absl::OkStatus()); });
}

void Daemon::Parts::StopAll() {
  // Also reached when a task failed: then nothing was drained.
  loop.Post([this] {
    draining = true;
    server->SetAllNotServing();
    listener->Stop();
    if (admin_listener) admin_listener->Stop();
    history->StopWatches();
    sessions->EndAll(absl::UnavailableError("the daemon is stopping; attach again"));
  });
  server->Shutdown(patience);
  if (admin_server) admin_server->Shutdown(patience);
  tasks.StopAll();
  writer->Stop();
  watched = nullptr;
  log::Info("stopped");
  log::Stop();
}

absl::Status Daemon::Run() {
  absl::Status why = parts_->tasks.Wait();
  parts_->StopAll();
  return why;
}

}  // namespace blazed
