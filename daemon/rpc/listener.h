// Accepts connections on the strand and hands each to `accepted`. Without descriptors left it
// pauses and tries again; a failing listener never ends the daemon.
#pragma once

#include <functional>
#include <utility>  // before Asio: its 1.74 coroutine headers do not include what they use

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "daemon/base/unique_fd.h"

namespace blazed::rpc {

// The strand only, but for the constructor.
class Listener {
 public:
  using Accepted = std::function<void(UniqueFd)>;

  Listener(boost::asio::io_context& context, UniqueFd listening, Accepted accepted);

  void Start();
  // No connection is accepted afterwards; those in the kernel's queue are refused.
  void Stop();

 private:
  void AcceptNext();
  void Pause();

  Accepted accepted_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer pause_;
};

}  // namespace blazed::rpc
