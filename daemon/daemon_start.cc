// Start-up, each part in its turn.
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "blazed_version.h"
#include "daemon/base/log.h"
#include "daemon/base/notify.h"
#include "daemon/base/process.h"
#include "daemon/daemon_parts.h"
#include "daemon/machine/device.h"
#include "daemon/machine/neighbours.h"
#include "storage/memory/memory_store.h"
#include "storage/names.h"
#include "storage/sqlite/sqlite_store.h"

namespace blazed {

namespace field = log::field;

namespace {

constexpr char kSystemLocks[] = "/run/lock";
constexpr char kSystemSocket[] = "/run/blazed/blazed.sock";

// Descriptors below are for files, the store and gRPC; connections live above.
constexpr int kFirstConnection = 256;

// As many descriptors as the system allows; answers the number.
int RaiseDescriptorLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
}

session::DeviceLocks LocksOf(const Config& config) {
  if (!config.device_lock_dir.empty()) {
    return session::DeviceLocks(config.device_lock_dir, config.device_lock_dir);
  }
  if (config.socket == kSystemSocket) return session::DeviceLocks(kSystemLocks, kSystemLocks);
  if (config.store == StoreKind::kSqlite) {
    return session::DeviceLocks(kSystemLocks, config.state_dir);
  }
  // Nothing is written into a state folder, which may not be there.
  return session::DeviceLocks(kSystemLocks,
                              std::filesystem::path(config.socket).parent_path().string());
}

// The signals that the daemon acts on, for the calling thread.
void MaskSignals(int how) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  pthread_sigmask(how, &set, nullptr);
}

absl::StatusOr<std::unique_ptr<storage::Store>> MakeStore(const Config& config,
                                                          storage::OpenReport& report) {
  if (config.store == StoreKind::kMemory) return std::make_unique<storage::MemoryStore>();
  storage::SqliteOptions options;
  options.folder = config.state_dir;
  options.max_bytes = config.store_mib << 20;
  auto store = storage::SqliteStore::Open(options, &report);
  if (!store.ok()) return store.status();
  if (!report.detail.empty()) {
    log::Warning("the store was damaged",
                 {{field::kReason, report.detail}, {field::kPath, report.quarantine}});
  }
  return *std::move(store);
}

}  // namespace

Daemon::Parts::Parts(Flags f, Config c)
    : flags(std::move(f)), config(std::move(c)), loop(SystemClock()) {}

absl::Status Daemon::Parts::OpenStore() {
  auto store = MakeStore(config, opening);
  if (!store.ok()) return store.status();
  storage::WriterOptions options;
  options.committed = [this] {
    if (history::HistoryService* service = watched.load()) service->EventsCommitted();
  };
  options.housekeeping_failed = [](const std::string& what) {
    log::Warning("the store's housekeeping failed", {{field::kReason, what}});
  };
  options.outage = [this](const absl::Status& cause) {
    loop.Post([this, cause] { StoreOutage(cause); });
  };
  writer = std::make_unique<storage::Writer>(*std::move(store), std::move(options));
  return absl::OkStatus();
}

absl::Status Daemon::Parts::BindSockets() {
  absl::StatusOr<rpc::PassedSockets> passed = rpc::TakePassedSockets();
  if (!passed.ok()) return passed.status();
  if (passed->main.valid()) {
    socket.emplace(rpc::BoundSocket::Inherited(std::move(passed->main)));
  } else {
    auto bound = rpc::BoundSocket::Bind(config.socket, config.socket_mode);
    if (!bound.ok()) return bound.status();
    socket.emplace(*std::move(bound));
  }
  if (passed->admin.valid()) {
    admin_socket.emplace(rpc::BoundSocket::Inherited(std::move(passed->admin)));
  } else if (!config.admin_socket.empty()) {
    auto bound = rpc::BoundSocket::Bind(config.admin_socket, 0600);
    if (!bound.ok()) return bound.status();
    admin_socket.emplace(*std::move(bound));
  }
  return absl::OkStatus();
}

void Daemon::Parts::MakeSessions() {
  recorder = std::make_unique<session::StoreRecorder>(*writer, loop, quarantine,
                                                      [this] { StoreFailed(); });
  thinker = std::make_unique<session::ThreadThinker>(loop);
  sessions = std::make_unique<session::SessionTable>(loop, *recorder, *thinker, quarantine,
                                                     LocksOf(config), machine::DescribeDevice,
                                                     config.session);
  sessions->SetWatch(machine::WatchDevice);
  identities = std::make_unique<rpc::IdentityTable>(kFirstConnection, RaiseDescriptorLimit());
  readers = std::make_unique<rpc::ReaderWatch>(*identities);
  const bool on_disk = config.store == StoreKind::kSqlite;
  status = std::make_unique<Status>(loop, *sessions, quarantine, *writer, *recorder,
                                    Status::StoreFacts{on_disk ? config.state_dir : "", opening});
  history = std::make_unique<history::HistoryService>(
      writer->NewReader(), rpc::MakeCallerOf(*identities, rpc::PrincipalHere(0)), *status,
      history::ServiceOptions());
  watched = history.get();
}

absl::Status Daemon::Parts::StartServers() {
  tuner = std::make_unique<rpc::TunerService>(
      loop, *sessions, *identities,
      [this](planner::SessionId session, const planner::ReportProgress& latest, auto answer) {
        BuildReport(session, latest, std::move(answer));
      },
      config.rpc);
  auto started = rpc::Server::Start({tuner.get(), history.get()}, config.rpc);
  if (!started.ok()) return started.status();
  server = *std::move(started);
  for (const char* name : {"", "blazed.v1.Tuner", "blazed.v1.History", "store"}) {
    server->SetServing(name, rpc::Serving::kYes);
  }
  listener = std::make_unique<rpc::Listener>(
      loop.context(), socket->TakeListening(),
      [this](UniqueFd connection) { Admit(*server, rpc::Door::kShims, std::move(connection)); });
  if (!admin_socket) return absl::OkStatus();
  admin = std::make_unique<rpc::AdminService>(
      *identities, rpc::OwnPrincipal(),
      [this](absl::Duration patience, std::function<void(size_t)> answer) {
        loop.Post([this, patience, answer = std::move(answer)] {
          answer(sessions->size());
          Drain(patience);
        });
      });
  started = rpc::Server::Start({admin.get()}, config.rpc);
  if (!started.ok()) return started.status();
  admin_server = *std::move(started);
  admin_listener = std::make_unique<rpc::Listener>(
      loop.context(), admin_socket->TakeListening(), [this](UniqueFd connection) {
        Admit(*admin_server, rpc::Door::kOperators, std::move(connection));
      });
  return absl::OkStatus();
}

// On the strand. A connection that is one too many is closed here, before gRPC spends anything on
// it.
void Daemon::Parts::Admit(rpc::Server& to, rpc::Door door, UniqueFd connection) {
  absl::StatusOr<session::Peer> peer = rpc::ReadPeer(connection.get());
  if (!peer.ok()) return;
  const uint32_t uid = peer->uid;
  absl::StatusOr<int> number =
      identities->Admit(connection, *std::move(peer), door, config.rpc.connections_per_user);
  if (!number.ok()) {
    return refusals.Refuse(std::move(connection), uid, number.status(), loop.Now());
  }
  to.Serve(*number);
  WatchReaders();
}

// Only while somebody is connected, so that an idle daemon sleeps.
void Daemon::Parts::WatchReaders() {
  if (reader_look != 0) return;
  reader_look = loop.After(rpc::kReaderLook, [this] {
    reader_look = 0;
    const bool scarce = ResidentBytes() > uint64_t{config.rpc.memory_mib} << 20;
    const rpc::Memory memory = scarce ? rpc::Memory::kScarce : rpc::Memory::kEnough;
    if (readers->Look(loop.Now(), memory) > 0) malloc_trim(0);
    if (identities->size() > 0) WatchReaders();
  });
}

void Daemon::Parts::StartTasks() {
  tasks.Start(
      "thinking",
      [this] {
        thinker->Run();
        return absl::OkStatus();
      },
      [this] { thinker->Stop(); });
  tasks.Start(
      "control",
      [this] {
        MaskSignals(SIG_UNBLOCK);
        loop.Run();
        return absl::OkStatus();
      },
      [this] { loop.Stop(); });
  loop.Post([this] {
    listener->Start();
    if (admin_listener) admin_listener->Start();
  });
}

void Daemon::Parts::WatchSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is a failed write, as a full disk is
  // Every thread that starts from here on inherits this; the control thread alone takes signals, so
  // that none ends another's system call or waits for a thread that sleeps.
  MaskSignals(SIG_BLOCK);
  signals = std::make_unique<boost::asio::signal_set>(loop.context(), SIGTERM, SIGINT, SIGHUP);
  loop.Post([this] { OnSignal(0); });
}

// Everything the session caused is written first, then read. While nothing can be written the
// report says so, and why.
void Daemon::Parts::BuildReport(planner::SessionId session, const planner::ReportProgress& latest,
                                std::function<void(absl::StatusOr<std::string>)> answer) {
  history::Beside beside;
  beside.so_far = latest.cost;
  if (latest.phase == planner::Phase::kStanding) beside.ended = latest.note;
  beside.not_kept = sessions->WhyNotKept(session);
  const auto tell = [this, session, beside, folder = config.state_dir,
                     answer](const absl::Status& written) {
    if (absl::IsFailedPrecondition(written)) return answer(written);  // nothing is written any more
    history::Beside told = beside;
    const std::optional<storage::Outage> outage = writer->outage();
    if (!written.ok() && outage) told.outage = storage::OutageSentence(*outage, folder);
    history->Report(session, told, answer);
  };
  absl::Status taken = writer->Submit(
      storage::Durability::kSynced, [](storage::Store&) { return absl::OkStatus(); }, tell);
  if (!taken.ok()) tell(taken);
}

Daemon::Daemon(Flags flags, Config config)
    : parts_(std::make_unique<Parts>(std::move(flags), std::move(config))) {}

Daemon::~Daemon() = default;

absl::Status Daemon::Start() {
  Parts& parts = *parts_;
  log::Level level = log::Level::kInfo;
  log::ParseLevel(parts.config.log_level, &level);
  // Signals first: one that comes early must find its watcher, not end the program halfway.
  parts.WatchSignals();
  if (absl::Status status = parts.OpenStore(); !status.ok()) return status;
  if (absl::Status status = parts.BindSockets(); !status.ok()) return status;
  log::Start(level);
  parts.MakeSessions();
  if (absl::Status status = parts.StartServers(); !status.ok()) return status;
  log::Info("serving", {{field::kPath, parts.config.socket},
                        {field::kVersion, BLAZED_VERSION},
                        {field::kEpoch, parts.writer->epoch()}});
  parts.StartTasks();
  NotifyServiceManager("READY=1\nSTATUS=serving");
  return absl::OkStatus();
}

}  // namespace blazed
