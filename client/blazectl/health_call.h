// The standard health question (grpc.health.v1.Health/Check), asked without its generated code:
// Debian ships none, and a second copy of that .proto in one process is an error.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/blazectl/connection.h"

namespace blazed::blazectl {

enum class Serving { kUnknown = 0, kServing = 1, kNotServing = 2, kServiceUnknown = 3 };

// `subsystem` empty: the daemon as a whole.
absl::StatusOr<Serving> CheckHealth(const Connection& connection, const std::string& subsystem);

// Wire form of the question and the answer.
std::string EncodeHealthRequest(const std::string& subsystem);
absl::StatusOr<Serving> DecodeHealthResponse(const std::string& bytes);

}  // namespace blazed::blazectl
