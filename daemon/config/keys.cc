#include "daemon/config/keys.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace blazed {
namespace {

using planner::Mode;

// In the order of planner::SearchKind.
const std::vector<std::string>& Searches() {
  static const std::vector<std::string> kNames = {"surrogate", "exhaustive", "greedy", "random"};
  return kNames;
}

// Accessors of one member, by the kind of value that stands for it in the file.
#define BLAZED_TEXT(member)                              \
  [](const Config& c) { return ConfigValue(c.member); }, \
      [](Config& c, const ConfigValue& v) { c.member = std::get<std::string>(v); }
#define BLAZED_COUNT(member)                                                   \
  [](const Config& c) { return ConfigValue(static_cast<int64_t>(c.member)); }, \
      [](Config& c, const ConfigValue& v) {                                    \
        c.member = static_cast<decltype(c.member)>(std::get<int64_t>(v));      \
      }
#define BLAZED_REAL(member)                              \
  [](const Config& c) { return ConfigValue(c.member); }, \
      [](Config& c, const ConfigValue& v) { c.member = std::get<double>(v); }
#define BLAZED_SECONDS(member)                                                 \
  [](const Config& c) { return ConfigValue(absl::ToInt64Seconds(c.member)); }, \
      [](Config& c, const ConfigValue& v) { c.member = absl::Seconds(std::get<int64_t>(v)); }

ConfigValue GetStore(const Config& c) {
  return std::string(c.store == StoreKind::kSqlite ? "sqlite" : "memory");
}
void SetStore(Config& c, const ConfigValue& v) {
  c.store = std::get<std::string>(v) == "sqlite" ? StoreKind::kSqlite : StoreKind::kMemory;
}

ConfigValue GetMode(const Config& c) {
  switch (c.session.max_mode) {
    case Mode::kObserve:
      return std::string("observe");
    case Mode::kPinned:
      return std::string("pinned");
    case Mode::kTune:
      break;
  }
  return std::string("tune");
}
void SetMode(Config& c, const ConfigValue& v) {
  const std::string& text = std::get<std::string>(v);
  c.session.max_mode = text == "observe"  ? Mode::kObserve
                       : text == "pinned" ? Mode::kPinned
                                          : Mode::kTune;
}

ConfigValue GetPause(const Config& c) { return c.session.pause == session::Pause::kOn; }
void SetPause(Config& c, const ConfigValue& v) {
  c.session.pause = std::get<bool>(v) ? session::Pause::kOn : session::Pause::kOff;
}

ConfigValue GetShareDevice(const Config& c) { return c.session.tuning.share_device; }
void SetShareDevice(Config& c, const ConfigValue& v) {
  c.session.tuning.share_device = std::get<bool>(v);
}

ConfigValue GetWindow(const Config& c) {
  return std::chrono::duration_cast<std::chrono::seconds>(c.session.tuning.max_window).count();
}
void SetWindow(Config& c, const ConfigValue& v) {
  c.session.tuning.max_window = std::chrono::seconds(std::get<int64_t>(v));
}

ConfigValue GetAllowance(const Config& c) {
  return std::chrono::duration_cast<std::chrono::seconds>(c.session.tuning.budget_allowance)
      .count();
}
void SetAllowance(Config& c, const ConfigValue& v) {
  c.session.tuning.budget_allowance = std::chrono::seconds(std::get<int64_t>(v));
}

ConfigValue GetSearch(const Config& c) {
  return Searches()[static_cast<size_t>(c.session.tuning.search)];
}
void SetSearch(Config& c, const ConfigValue& v) {
  const auto found = std::find(Searches().begin(), Searches().end(), std::get<std::string>(v));
  c.session.tuning.search = static_cast<planner::SearchKind>(found - Searches().begin());
}

std::vector<ConfigKey> DaemonKeys() {
  return {
      {"daemon",
       "socket",
       Reload::kAtStart,
       0,
       107,
       {},
       "path of the socket that shims connect to, where neither --socket nor BLAZED_SOCKET names "
       "one; empty: /run/blazed/blazed.sock for root, else "
       "$XDG_RUNTIME_DIR/blazed/blazed.sock",
       BLAZED_TEXT(socket)},
      {"daemon",
       "socket_mode",
       Reload::kAtStart,
       0600,
       0777,
       {},
       "permission bits of the socket, written in octal (0o666 lets every user attach)",
       BLAZED_COUNT(socket_mode)},
      {"daemon",
       "admin_socket",
       Reload::kAtStart,
       0,
       107,
       {},
       "path of the operators' socket, in a folder that no container mounts; empty: no admin "
       "service",
       BLAZED_TEXT(admin_socket)},
      {"daemon",
       "state_dir",
       Reload::kAtStart,
       0,
       4000,
       {},
       "folder of the store; empty: /var/lib/blazed for root, else $XDG_STATE_HOME/blazed",
       BLAZED_TEXT(state_dir)},
      {"daemon",
       "device_lock_dir",
       Reload::kAtStart,
       0,
       4000,
       {},
       "folder of the lock files that say which daemon measures a device, while it does; empty: "
       "/run/lock for "
       "GPUs and for "
       "the system's daemon, else the state folder, or the socket's where store is memory",
       BLAZED_TEXT(device_lock_dir)},
      {"daemon",
       "store",
       Reload::kAtStart,
       0,
       0,
       {"sqlite", "memory"},
       "where evidence is kept; memory forgets at exit and serves tests",
       GetStore,
       SetStore},
      {"daemon",
       "log_level",
       Reload::kOnHup,
       0,
       0,
       {"debug", "info", "warning", "error"},
       "lowest level that is logged",
       BLAZED_TEXT(log_level)},
  };
}

std::vector<ConfigKey> LimitKeys() {
  return {
      {"limits",
       "connections_per_user",
       Reload::kOnHup,
       1,
       65536,
       {},
       "open connections of one user on one socket; further ones are closed at accept",
       BLAZED_COUNT(rpc.connections_per_user)},
      {"limits",
       "sessions_per_user",
       Reload::kOnHup,
       1,
       65536,
       {},
       "sessions of one user; a further Hello is answered with RESOURCE_EXHAUSTED",
       BLAZED_COUNT(session.sessions_per_user)},
      {"limits",
       "attaches_per_minute",
       Reload::kOnHup,
       1,
       1000000,
       {},
       "sessions that one user opens in a minute, as many at once; a further Hello is answered "
       "with "
       "RESOURCE_EXHAUSTED",
       BLAZED_COUNT(session.attaches_per_minute)},
      {"limits",
       "windows_per_second",
       Reload::kOnHup,
       1,
       1000000,
       {},
       "service windows of one user that are looked at in a second, as many at once; further ones "
       "are left out",
       BLAZED_COUNT(session.windows_per_second)},
      {"limits",
       "workloads_per_user",
       Reload::kOnHup,
       1,
       1000000,
       {},
       "workloads of one user that the store keeps, one for each environment, contract and "
       "container; a further one is refused and its job trains on untuned",
       BLAZED_COUNT(session.workloads_per_user)},
      {"limits",
       "store_mib",
       Reload::kAtStart,
       0,
       16777216,
       {},
       "size of the store's database, in MiB, at which no row is taken any more, as when the disk "
       "is full; 0: the disk alone is the limit",
       BLAZED_COUNT(store_mib)},
      {"limits",
       "message_bytes",
       Reload::kAtStart,
       65536,
       1 << 20,
       {},
       "largest message that is read",
       BLAZED_COUNT(rpc.message_bytes)},
      {"limits",
       "outgoing_messages",
       Reload::kAtStart,
       16,
       65536,
       {},
       "messages that may wait for a slow reader before its stream is cut",
       BLAZED_COUNT(rpc.outgoing_messages)},
      {"limits",
       "memory_mib",
       Reload::kAtStart,
       16,
       4096,
       {},
       "memory that RPC buffers of all clients may take together, in MiB",
       BLAZED_COUNT(rpc.memory_mib)},
      {"limits",
       "idle_connection_s",
       Reload::kAtStart,
       1,
       86400,
       {},
       "a connection without a call is closed after this many seconds",
       BLAZED_SECONDS(rpc.idle_connection)},
      {"limits",
       "resume_grace_s",
       Reload::kOnHup,
       0,
       3600,
       {},
       "how long a session outlives a lost stream while its process lives, in seconds",
       BLAZED_SECONDS(session.resume_grace)},
      {"limits",
       "device_turn_s",
       Reload::kOnHup,
       1,
       86400,
       {},
       "how long one workload explores a device before another one that waits has its turn, in "
       "seconds",
       BLAZED_SECONDS(session.device_turn)},
  };
}

std::vector<ConfigKey> PolicyKeys() {
  return {
      {"policy",
       "pause",
       Reload::kOnHup,
       0,
       0,
       {},
       "true: every session goes back to the default plan and stays there",
       GetPause,
       SetPause},
      {"policy",
       "max_mode",
       Reload::kOnHup,
       0,
       0,
       {"observe", "pinned", "tune"},
       "highest mode that a session is granted",
       GetMode,
       SetMode},
  };
}

std::vector<ConfigKey> TuningKeys() {
  return {
      {"tuning",
       "alpha",
       Reload::kOnHup,
       1e-6,
       0.5,
       {},
       "error budget of a workload's life: the chance that a settled plan is no better",
       BLAZED_REAL(session.tuning.alpha)},
      {"tuning",
       "beta",
       Reload::kOnHup,
       1e-6,
       0.5,
       {},
       "chance that a search race drops a plan that is better by delta1",
       BLAZED_REAL(session.tuning.beta)},
      {"tuning",
       "verify_beta",
       Reload::kOnHup,
       1e-6,
       0.5,
       {},
       "the same for the race that verifies the champion",
       BLAZED_REAL(session.tuning.verify_beta)},
      {"tuning",
       "delta0",
       Reload::kOnHup,
       0,
       0.5,
       {},
       "a win must be larger than this part of a step",
       BLAZED_REAL(session.tuning.delta0)},
      {"tuning",
       "delta1",
       Reload::kOnHup,
       1e-5,
       0.5,
       {},
       "a race drops what is likely to win less than this part of a step",
       BLAZED_REAL(session.tuning.delta1)},
      {"tuning",
       "probe_batches",
       Reload::kOnHup,
       1,
       16,
       {},
       "live batches that a variant must pass before it runs; at least 8 under the contract "
       "`bitwise`",
       BLAZED_COUNT(session.tuning.probe_batches)},
      {"tuning",
       "max_live_variants",
       Reload::kOnHup,
       2,
       64,
       {},
       "variants that a session keeps built at a time",
       BLAZED_COUNT(session.tuning.max_live_variants)},
      {"tuning",
       "max_pairs_per_race",
       Reload::kOnHup,
       8,
       1000000,
       {},
       "a race that needs more pairs ends undecided",
       BLAZED_COUNT(session.tuning.max_pairs_per_race)},
      {"tuning",
       "max_window_s",
       Reload::kOnHup,
       1,
       604800,
       {},
       "a search that takes longer ends undecided, in seconds; pauses do not count",
       GetWindow,
       SetWindow},
      {"tuning",
       "budget_share",
       Reload::kOnHup,
       0,
       1,
       {},
       "part of a job's wall time that exploring may cost on top of the allowance: builds, probes, "
       "drains and slower steps, drift checks included; an empty budget pauses exploring, and with "
       "0 it ends",
       BLAZED_REAL(session.tuning.budget_share)},
      {"tuning",
       "budget_allowance_s",
       Reload::kOnHup,
       0,
       604800,
       {},
       "what exploring may cost a job at once, in seconds, so that short jobs are tuned as well",
       GetAllowance,
       SetAllowance},
      {"tuning",
       "max_builds",
       Reload::kOnHup,
       0,
       1000000,
       {},
       "builds that one search may ask a job for, one of them for the rebuild before a settlement; "
       "0: no limit of its own",
       BLAZED_COUNT(session.tuning.max_builds)},
      {"tuning",
       "share_device",
       Reload::kOnHup,
       0,
       0,
       {},
       "whether jobs of one workload on one device give pairs to each other's races; they disturb "
       "each other there",
       GetShareDevice,
       SetShareDevice},
      {"tuning", "search", Reload::kOnHup, 0, 0, Searches(),
       "what names the plans that are tried; exhaustive holds up to 4096 plans, beyond them the "
       "surrogate searches; races alone accept, whatever names them",
       GetSearch, SetSearch},
  };
}

#undef BLAZED_TEXT
#undef BLAZED_COUNT
#undef BLAZED_REAL
#undef BLAZED_SECONDS

}  // namespace

const std::vector<ConfigKey>& ConfigKeys() {
  static const std::vector<ConfigKey>* keys = [] {
    auto* all = new std::vector<ConfigKey>;
    for (auto& part : {DaemonKeys(), LimitKeys(), PolicyKeys(), TuningKeys()}) {
      all->insert(all->end(), part.begin(), part.end());
    }
    return all;
  }();
  return *keys;
}

std::string FullName(const ConfigKey& key) {
  return absl::StrCat(std::string(key.section), ".", std::string(key.name));
}

}  // namespace blazed
