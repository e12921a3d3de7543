#include "client/blazectl/connection.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/blazectl/options.h"
#include "client/blazectl/refusal.h"

namespace blazed::blazectl {
namespace {

constexpr int kLargestAnswer = 16 << 20;  // as large as a daemon sends; gRPC's default is 4 MiB

// With gRPC's defaults a client is back 4 to 14 s after its daemon; with these in a quarter of a
// second. The least backoff stays gRPC's, for that is what bounds a single attempt: a busy daemon's
// first words may come late.
grpc::ChannelArguments ChannelManners() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 250);
  arguments.SetMaxReceiveMessageSize(kLargestAnswer);
  return arguments;
}

// What gRPC hides of a socket.
struct Look {
  int reason = 0;        // 0 where somebody listens, else the errno that says why not
  bool trusted = true;   // root or this user listens
  absl::Status refusal;  // of who listens
};

// A daemon that serves answers within a millisecond or two.
constexpr absl::Duration kFirstWords = absl::Milliseconds(250);
// What gRPC says itself where a deadline passes, perhaps a moment before this clock sees it.
constexpr char kLibrarysWord[] = "Deadline Exceeded";

// The kernel's word on who called listen(); gRPC does not ask.
bool ServerIsTrusted(int fd) {
  ucred server{};
  socklen_t size = sizeof(server);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &size) != 0) return false;
  return server.uid == 0 || server.uid == geteuid();
}

Look LookAt(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return {errno, true, absl::OkStatus()};
  auto close_it = absl::MakeCleanup([fd] { close(fd); });
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    // A full backlog is a listener all the same.
    return {errno == EAGAIN ? 0 : errno, true, absl::OkStatus()};
  }
  if (!ServerIsTrusted(fd)) return {0, false, absl::OkStatus()};
  return {0, true, ReadRefusal(fd, kFirstWords)};
}

absl::Status Unreachable(const std::string& path, const Look& look) {
  if (!look.trusted) {
    return absl::PermissionDeniedError(
        absl::StrCat("the server at ", path,
                     " runs as another user, and only root's or one's own is trusted; ask as the "
                     "user that runs it"));
  }
  if (!look.refusal.ok()) {
    return absl::Status(look.refusal.code(), absl::StrCat(look.refusal.message(), " (", path, ")"));
  }
  const int reason = look.reason;
  if (reason == EACCES || reason == EPERM) {
    return absl::PermissionDeniedError(
        absl::StrCat("this user may not open ", path,
                     "; ask the operator which group may, or run as that user"));
  }
  if (reason != 0) {
    return absl::UnavailableError(
        absl::StrCat("no daemon listens at ", path, " (", std::strerror(reason),
                     "); start blazed, or name its socket with --socket"));
  }
  return absl::UnavailableError(
      absl::StrCat("the daemon at ", path, " accepts but stays silent; look at its log"));
}

}  // namespace

Connection::Connection(std::string path, absl::Time deadline)
    : path_(std::move(path)),
      deadline_(deadline),
      channel_(grpc::CreateCustomChannel(absl::StrCat("unix:", path_),
                                         grpc::InsecureChannelCredentials(), ChannelManners())) {}

absl::StatusOr<Connection> Connection::Open(const std::string& path,
                                            std::optional<absl::Duration> timeout) {
  const Look look = LookAt(path);
  const bool good = look.reason == 0 && look.trusted && look.refusal.ok();
  const bool denied = look.reason == EACCES || look.reason == EPERM || !look.trusted;
  const bool waiting_helps = good || (timeout && !denied);
  if (!waiting_helps) return Unreachable(path, look);
  Connection connection(path, absl::Now() + timeout.value_or(kDefaultAnswer));
  if (!connection.channel_->WaitForConnected(absl::ToChronoTime(connection.deadline_))) {
    return Unreachable(path, LookAt(path));
  }
  return connection;
}

void Connection::Prepare(grpc::ClientContext& context) const {
  PrepareStream(context);
  context.set_deadline(absl::ToChronoTime(deadline_));
}

void Connection::PrepareStream(grpc::ClientContext& context) {
  context.AddMetadata("blazed-protocol", "1");
  context.set_wait_for_ready(true);
}

absl::Status Connection::Translate(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  // Before the question's own deadline the word can only be the daemon's.
  const bool own_deadline = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED &&
                            (absl::Now() >= deadline_ || status.error_message() == kLibrarysWord);
  if (own_deadline) return Unreachable(path_, LookAt(path_));
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    return absl::Status(code,
                        absl::StrCat("the daemon at ", path_,
                                     " does not know this question; compare blazectl --version "
                                     "with the version that blazectl status shows"));
  }
  return absl::Status(code, status.error_message());
}

}  // namespace blazed::blazectl
