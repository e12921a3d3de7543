// The only place where a status becomes a gRPC status.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace blazed::rpc {

// Codes have the same numbers on both sides. A message longer than 1 KiB is cut: it travels as a
// header.
inline grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  constexpr size_t kMostBytes = 1024;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message().substr(0, kMostBytes)));
}

}  // namespace blazed::rpc
