// What the configuration says about connections and messages.
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace blazed::rpc {

struct Options {
  uint32_t connections_per_user = 256;
  uint32_t message_bytes = 1 << 20;
  uint32_t outgoing_messages = 256;
  uint32_t memory_mib = 128;
  absl::Duration idle_connection = absl::Seconds(30);
  bool operator==(const Options&) const = default;
};

}  // namespace blazed::rpc
