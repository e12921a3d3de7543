#include "client/blazectl/refusal.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace blazed::blazectl {
namespace {

constexpr size_t kFrameHead = 9, kGoawayHead = 8;
constexpr char kGoaway = 7;

uint32_t Length(std::string_view head) {
  const auto byte = [head](size_t i) {
    return static_cast<uint32_t>(static_cast<uint8_t>(head[i]));
  };
  return byte(0) << 16 | byte(1) << 8 | byte(2);
}

// The text of a whole GOAWAY frame among what was read.
std::optional<std::string> FindGoaway(std::string_view read) {
  while (read.size() >= kFrameHead) {
    const size_t length = Length(read);
    if (read.size() < kFrameHead + length) return std::nullopt;
    if (read[3] == kGoaway && length >= kGoawayHead) {
      return std::string(read.substr(kFrameHead + kGoawayHead, length - kGoawayHead));
    }
    read.remove_prefix(kFrameHead + length);
  }
  return std::nullopt;
}

}  // namespace

absl::Status ReadRefusal(int socket, absl::Duration patience) {
  const absl::Time end = absl::Now() + patience;
  while (true) {
    const absl::Duration left = std::max(end - absl::Now(), absl::ZeroDuration());
    pollfd readable{socket, POLLIN, 0};
    if (poll(&readable, 1, static_cast<int>(absl::ToInt64Milliseconds(left))) <= 0) {
      return absl::OkStatus();
    }
    char buffer[4096];
    const ssize_t got = recv(socket, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return absl::UnavailableError("the daemon closed the connection at once");
    // A daemon that serves says its settings and no more unasked; one that refuses says all it has
    // to say in one piece.
    const auto text = FindGoaway(std::string_view(buffer, static_cast<size_t>(got)));
    if (!text) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat("the daemon refused the connection: ", *text));
  }
}

}  // namespace blazed::blazectl
