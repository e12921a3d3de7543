// Who makes a call, as the kernel said when its connection was accepted. The listener keeps the
// identities; a service gets this function and never looks at the transport itself.
#pragma once

#include <grpcpp/server_context.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace blazed::rpc {

struct Caller {
  uint32_t uid = 0;
  int32_t pid = 0;        // 0: in a PID namespace that the daemon does not see
  std::string principal;  // as in TuningKey::principal; decides what a caller may, the uid does not
  bool is_root = false;   // root of the machine, or of the daemon's own container
};

// Fast and non-blocking; any thread. The error is what the call ends with.
using CallerOf = std::function<absl::StatusOr<Caller>(grpc::CallbackServerContext*)>;

}  // namespace blazed::rpc
