// Where proto ends: messages to values and back. Everything a client sends is checked here against
// the limits that tuner.proto states, before any of it is used.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "blazed/v1/tuner.pb.h"
#include "daemon/session/messages.h"

namespace blazed::rpc {

// Nothing for a body that this version does not know: such a message is ignored. INVALID_ARGUMENT
// for a field out of its limits, RESOURCE_EXHAUSTED for more decisions or graphs than are taken;
// the sentence names the field.
absl::StatusOr<std::optional<session::Inbound>> FromProto(const v1::ShimMessage& message);

// `sequence` is the message's number in its stream.
v1::DaemonMessage ToProto(const session::Outbound& message, uint64_t sequence);

}  // namespace blazed::rpc
