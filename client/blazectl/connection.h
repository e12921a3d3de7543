// A channel to one daemon over its Unix socket, with the manners that a command line needs: a
// bounded wait, a quick reconnect, and errors that say the user's next move. Used from one thread.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace blazed::blazectl {

class Connection {
 public:
  // Opens the channel and waits until it stands: no wait where `timeout` is empty and nobody
  // listens, else at most `timeout`. UNAVAILABLE where no daemon answers, PERMISSION_DENIED where
  // the socket refuses this user or is served by neither root nor this user.
  static absl::StatusOr<Connection> Open(const std::string& path,
                                         std::optional<absl::Duration> timeout);

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  const std::string& path() const { return path_; }

  // Protocol metadata, wait-for-ready, and what is left of the time as the deadline.
  void Prepare(grpc::ClientContext& context) const;
  // The same without a deadline, for a stream that stays open.
  static void PrepareStream(grpc::ClientContext& context);

  // The daemon's error with its own code, or UNAVAILABLE with the socket named where it did not
  // answer in time.
  absl::Status Translate(const grpc::Status& status) const;

 private:
  Connection(std::string path, absl::Time deadline);

  std::string path_;
  absl::Time deadline_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace blazed::blazectl
