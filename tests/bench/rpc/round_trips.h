// The four kinds of round trip that are compared, each behind one interface.
#pragma once

#include <memory>
#include <string>

namespace blazed::bench {

// One client with a connection of its own. Used from one thread.
class RoundTrip {
 public:
  virtual ~RoundTrip() = default;
  // False where the answer was not the one expected.
  virtual bool Once() = 0;
};

std::unique_ptr<RoundTrip> EchoUnary(const std::string& socket);
std::unique_ptr<RoundTrip> EchoStream(const std::string& socket);
// History.GetStatus, as `blazectl status` asks: identity, control strand, a reader of the store.
std::unique_ptr<RoundTrip> DaemonUnary(const std::string& socket);
// On an attached session an answer to nothing, which the control strand answers with Refused.
std::unique_ptr<RoundTrip> DaemonStream(const std::string& socket);

}  // namespace blazed::bench
