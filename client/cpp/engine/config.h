// What the host and the environment ask for, checked and copied.
#pragma once

#include <cstdint>
#include <string>

#include "client/cpp/include/blazed/blazed.h"
#include "client/cpp/wire/messages.h"
#include "kernels/equivalence/verdict.h"

namespace blazed::shim {

inline constexpr uint32_t kFewestProbeBatches = 3;

struct Config {
  std::string error;              // not empty: the options break a limit, the session is off
  std::string note;               // why less than asked for was taken
  blz_mode mode = BLZ_MODE_TUNE;  // never BLZ_MODE_FROM_ENVIRONMENT
  equivalence::Contract contract = equivalence::Contract::kRounding;
  std::string socket;
  std::string job;
  uint32_t rank = 0;
  uint32_t world_size = 1;
  std::string host_name;
  std::string device = "cpu";
  std::vector<std::pair<std::string, std::string>> environment;
  uint64_t extra_memory_bytes = 0;
  uint64_t tune_until_steps = 0;
  uint64_t tune_until_ns = 0;
  uint32_t probe_batches = kFewestProbeBatches;
  uint64_t point_budget_ns = 0;
  uint64_t total_budget_ns = 0;
  uint64_t probe_memory_bytes = 0;
  uint64_t attach_timeout_ns = 0;
  void (*log)(void*, blz_log_level, const char*) = nullptr;
  void* log_user = nullptr;
};

// `options` and `ops` may be null; `mode_text` is BLAZED_MODE or null.
Config MakeConfig(const blz_options* options, const blz_host_ops* ops, const char* mode_text);

// What is said to the daemon. `process_start_ns` is a label.
Hello MakeHello(const Config& config, uint64_t process_start_ns);

// A copy of a caller's structure of another size: fields it does not know are zero.
blz_host_ops CopyOps(const blz_host_ops* ops);

}  // namespace blazed::shim
