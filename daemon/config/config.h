// The daemon's configuration: /etc/blazed/blazed.toml or the file of --config. Every key has a
// default, a range and a sentence in one table (keys.cc), from which `blazed config default`
// and docs/config.md come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/rpc/options.h"
#include "daemon/session/options.h"

namespace blazed {

enum class StoreKind { kSqlite, kMemory };

struct Config {
  std::string socket;  // empty: see ResolvePlaces
  uint32_t socket_mode = 0666;
  std::string admin_socket;  // empty: no admin service
  std::string state_dir;     // empty: see ResolvePlaces
  std::string device_lock_dir;
  StoreKind store = StoreKind::kSqlite;
  uint64_t store_mib = 4096;  // 0: no limit of its own
  std::string log_level = "info";
  rpc::Options rpc;
  session::Options session;
  bool operator==(const Config&) const = default;
};

// Strict: a key that does not exist, of the wrong type or out of range is INVALID_ARGUMENT; the
// sentence names `source`, the line and, for an unknown key, the nearest known one. Absent keys
// keep their default.
absl::StatusOr<Config> ParseConfig(std::string_view text, std::string_view source);

// NOT_FOUND or PERMISSION_DENIED where the file cannot be read, else as ParseConfig.
absl::StatusOr<Config> LoadConfig(const std::string& path);

// Fills the places that are still empty: for root those of the system, else the user's XDG folders.
// FAILED_PRECONDITION where neither is known; the sentence says which flag to give.
absl::Status ResolvePlaces(Config* config);

// Every key with its default as a TOML file, each with its sentence.
std::string DefaultConfigText();

// docs/config.md as it must read; a test compares the two.
std::string ConfigDocumentation();

// Names of the keys whose values differ and that need a restart: a reload leaves them as they are.
std::vector<std::string> RestartKeys(const Config& running, const Config& loaded);

// `running` with the keys that a reload may change taken from `loaded`.
Config Reloaded(const Config& running, const Config& loaded);

}  // namespace blazed
