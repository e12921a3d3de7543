#include "daemon/rpc/listener.h"

#include <sys/socket.h>

#include <chrono>

#include "daemon/base/log.h"

namespace blazed::rpc {

namespace asio = boost::asio;
using Protocol = asio::local::stream_protocol;

Listener::Listener(asio::io_context& context, UniqueFd listening, Accepted accepted)
    : accepted_(std::move(accepted)),
      acceptor_(context, Protocol(), listening.release()),
      pause_(context) {}

void Listener::Start() { AcceptNext(); }

void Listener::Stop() {
  boost::system::error_code ignored;  // closing what is closed is no fault
  acceptor_.close(ignored);
  pause_.cancel();
}

void Listener::AcceptNext() {
  acceptor_.async_wait(Protocol::acceptor::wait_read, [this](const auto& error) {
    if (error) return;  // closed
    // accept4 by hand: the socket must not become Asio's, gRPC owns it.
    UniqueFd socket(
        accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.valid()) {
      accepted_(std::move(socket));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return Pause();
    }
    AcceptNext();
  });
}

void Listener::Pause() {
  log::Warning("no descriptor or memory is left to accept with; trying again in 100 ms");
  pause_.expires_after(std::chrono::milliseconds(100));
  pause_.async_wait([this](const auto& error) {
    if (!error) AcceptNext();
  });
}

}  // namespace blazed::rpc
