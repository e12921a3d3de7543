// The gRPC server: callback API, no port of its own. Connections come as descriptors whose owner is
// known. Thread-safe.
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/rpc/options.h"

namespace blazed::rpc {

enum class Serving { kYes, kNo };

class Server {
 public:
  // The services outlive the server. INTERNAL where gRPC does not start.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const std::vector<grpc::Service*>& services,
                                                       const Options& options);

  // Serves a connected, non-blocking socket; owns it from here on. After Shutdown it is closed at
  // once.
  void Serve(int descriptor);

  // What the health service answers for a name; "" is the whole daemon.
  void SetServing(const std::string& name, Serving serving);
  void SetAllNotServing();

  // Ends all calls, those in flight after `patience` by force, and waits for them.
  void Shutdown(absl::Duration patience);

 private:
  explicit Server(std::unique_ptr<grpc::Server> server) : server_(std::move(server)) {}

  std::unique_ptr<grpc::Server> server_;
};

}  // namespace blazed::rpc
