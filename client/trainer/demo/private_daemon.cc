#include "client/trainer/demo/private_daemon.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "client/trainer/format.h"
#include "client/trainer/report/atomic_file.h"
#include "client/trainer/stopwatch.h"

namespace blazed::trainer {
namespace {

constexpr absl::Duration kBetweenLooks = absl::Milliseconds(20);
constexpr size_t kTailLines = 12;
constexpr int kTailColumns = 240;

bool Answers(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool answers =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return answers;
}

}  // namespace

std::string LogTail(const std::string& path) {
  std::ifstream log(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(log, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > kTailLines) lines.pop_front();
  }
  std::string out;
  for (const std::string& line : lines) absl::StrAppend(&out, "\n  ", Fit(line, kTailColumns));
  return out;
}

absl::StatusOr<PrivateDaemon> PrivateDaemon::Start(const std::string& program,
                                                   const std::string& folder,
                                                   absl::Duration patience) {
  const std::string socket = absl::StrCat(folder, "/blazed.sock");
  const std::string log = absl::StrCat(folder, "/blazed.log");
  ChildCommand command;
  // A file of its own, so that the machine's configuration is not the private daemon's.
  const std::string config = absl::StrCat(folder, "/blazed.toml");
  absl::Status written = WriteAtomically(config, "# every key at its default\n");
  if (!written.ok()) return written;
  command.arguments = {
      program, "--config", config, "--socket", socket, "--state", absl::StrCat(folder, "/state")};
  command.log = log;
  command.group = ChildCommand::Group::kOwn;
  auto process = ChildProcess::Start(command);
  if (!process.ok()) return process.status();
  PrivateDaemon daemon(*std::move(process), socket, log);
  const Stopwatch watch;
  while (!Answers(socket)) {
    if (daemon.process_.EndedWithin(kBetweenLooks)) return daemon.Check();
    if (watch.Elapsed() > patience) {
      return absl::DeadlineExceededError(absl::StrCat("blazed did not open its socket within ",
                                                      DurationText(patience),
                                                      "; its log ends:", LogTail(log)));
    }
  }
  return daemon;
}

absl::Status PrivateDaemon::Check() {
  if (!process_.EndedWithin(absl::ZeroDuration())) return absl::OkStatus();
  const std::string tail = LogTail(log_);
  return absl::UnavailableError(
      absl::StrCat("blazed ", process_.HowItEnded(), tail.empty() ? "" : "; its log ends:", tail));
}

}  // namespace blazed::trainer
