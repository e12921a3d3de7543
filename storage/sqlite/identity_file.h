// What may never go back or change, kept beside the database so that they outlive its loss: the
// epoch of the last open and the session ids handed out or reserved.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace blazed::storage {

struct Identity {
  int64_t store = 0;  // random number of the store; 0: unknown
  uint64_t epoch = 0;
  uint64_t sessions_reserved = 0;  // no session id above this one was ever handed out
};

// Zeros where the file is missing or damaged: the database then has the last word.
Identity ReadIdentity(const std::string& path);

// Durable before it returns.
absl::Status WriteIdentity(const std::string& path, const Identity& identity);

}  // namespace blazed::storage
