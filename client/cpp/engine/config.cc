#include "client/cpp/engine/config.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "client/cpp/base/clock.h"
#include "client/cpp/base/raw_enum.h"
#include "client/cpp/base/text.h"
#include "client/cpp/engine/device_key.h"

namespace blazed::shim {
namespace {

constexpr uint32_t kLongestAttachMs = 45;
constexpr uint64_t kPointBudgetNs = 200 * kMillisecond;
constexpr uint64_t kProbeMemoryBytes = uint64_t{1} << 30;
constexpr size_t kMaxEnvironment = 32;
constexpr size_t kMaxName = 96;

template <typename T>
T CopySized(const T* from) {
  T copy{};
  if (from != nullptr) {
    std::memcpy(static_cast<void*>(&copy), from, std::min(from->struct_size, sizeof copy));
  }
  return copy;
}

constexpr char kModeWords[] = "off, observe, tune, pinned, tune_until:N or tune_until:Ns";

// "tune_until:N" counts steps, "tune_until:Ns" seconds.
bool ParseTuneUntil(std::string_view text, Config& config) {
  const bool seconds = !text.empty() && text.back() == 's';
  if (seconds) text.remove_suffix(1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) return false;
  if (seconds && value > kNever / kSecond) return false;
  config.tune_until_steps = seconds ? 0 : value;
  config.tune_until_ns = seconds ? value * kSecond : 0;
  config.mode = BLZ_MODE_TUNE_UNTIL;
  return true;
}

bool ParseMode(std::string_view text, Config& config) {
  constexpr std::string_view kUntil = "tune_until:";
  if (text.substr(0, kUntil.size()) == kUntil) {
    return ParseTuneUntil(text.substr(kUntil.size()), config);
  }
  if (text == "off") {
    config.mode = BLZ_MODE_OFF;
  } else if (text == "observe") {
    config.mode = BLZ_MODE_OBSERVE;
  } else if (text == "tune") {
    config.mode = BLZ_MODE_TUNE;
  } else if (text == "pinned") {
    config.mode = BLZ_MODE_PINNED;
  } else {
    return false;
  }
  return true;
}

void ResolveMode(const blz_options& options, std::string_view environment, Config& config) {
  config.tune_until_steps = options.tune_until_steps;
  config.tune_until_ns = options.tune_until_ns;
  if (RawEnum(options.mode) > BLZ_MODE_PINNED) {
    config.error = "the mode is none that blazed.h names";
    return;
  }
  config.mode = options.mode;
  if (environment == "off") {
    config.mode = BLZ_MODE_OFF;
  } else if (options.mode == BLZ_MODE_FROM_ENVIRONMENT && environment.empty()) {
    config.mode = BLZ_MODE_TUNE;
  } else if (options.mode == BLZ_MODE_FROM_ENVIRONMENT && !ParseMode(environment, config)) {
    config.error = std::string("BLAZED_MODE is none of ") + kModeWords;
  } else if (!environment.empty() && options.mode != BLZ_MODE_FROM_ENVIRONMENT) {
    // The host's own mode stands, but whoever wrote the word believes that it does something.
    Config ignored;
    if (!ParseMode(environment, ignored)) {
      config.note =
          std::string("BLAZED_MODE is none of ") + kModeWords + ", so the host's own mode stands";
    }
  }
  if (config.mode == BLZ_MODE_TUNE_UNTIL && config.tune_until_steps == 0 &&
      config.tune_until_ns == 0) {
    config.error = "the mode tune_until needs a number of steps or seconds";
  }
}

void LowerMode(const blz_host_ops& ops, Config& config) {
  if (config.mode == BLZ_MODE_OFF || config.mode == BLZ_MODE_OBSERVE) return;
  if (config.world_size > 1) {
    config.mode = BLZ_MODE_OBSERVE;
    config.note = "a job of several ranks is only observed: plans would differ between ranks";
  } else if (ops.build == nullptr || ops.drop == nullptr || ops.probe == nullptr ||
             ops.signature == nullptr) {
    config.mode = BLZ_MODE_OBSERVE;
    config.note = "only observing: the host gave no build, drop, probe or signature callback";
  }
}

void CopyEnvironment(const blz_options& options, Config& config) {
  if (options.environment_count > kMaxEnvironment ||
      (options.environment_count > 0 && options.environment == nullptr)) {
    config.error = "the environment has more than 32 entries";
    return;
  }
  for (size_t i = 0; i < options.environment_count; ++i) {
    const blz_label& label = options.environment[i];
    if (!IsPlainName(label.key, 48)) {
      config.error = "an environment key is not 1 to 48 bytes of printable text";
      return;
    }
    config.environment.emplace_back(label.key, Bounded(OrEmpty(label.value), 160));
  }
}

void CopyContract(const blz_options& options, Config& config) {
  switch (RawEnum(options.contract)) {
    case BLZ_CONTRACT_DEFAULT:
    case BLZ_CONTRACT_ROUNDING:
      config.contract = equivalence::Contract::kRounding;
      return;
    case BLZ_CONTRACT_BITWISE:
      config.contract = equivalence::Contract::kBitwise;
      return;
    case BLZ_CONTRACT_PREDICTION:
      config.contract = equivalence::Contract::kPrediction;
      return;
  }
  config.error = "the contract is none that blazed.h names";
}

void CopyDevice(const blz_options& options, Config& config) {
  if (OrEmpty(options.device).empty()) return;
  if (std::optional<std::string> key = DeviceKey(options.device)) {
    config.device = *std::move(key);
  } else {
    config.error = "the device is neither cpu nor a GPU's UUID; give what nvidia-smi -L shows";
  }
}

void CopyRest(const blz_options& options, Config& config) {
  config.socket = OrEmpty(options.socket);
  config.job = Bounded(OrEmpty(options.job), kMaxName);
  config.rank = options.rank;
  config.world_size = std::max(options.world_size, 1u);
  config.host_name = Bounded(OrEmpty(options.host_name), kMaxName);
  config.extra_memory_bytes = options.extra_memory_bytes;
  config.probe_batches = std::max(options.probe_batches, kFewestProbeBatches);
  config.point_budget_ns = options.point_budget_ns != 0 ? options.point_budget_ns : kPointBudgetNs;
  config.total_budget_ns = options.total_budget_ns != 0 ? options.total_budget_ns : kNever;
  config.probe_memory_bytes =
      options.probe_memory_bytes != 0 ? options.probe_memory_bytes : kProbeMemoryBytes;
  const uint32_t attach_ms =
      options.attach_timeout_ms != 0 ? options.attach_timeout_ms : kLongestAttachMs;
  config.attach_timeout_ns = std::min(attach_ms, kLongestAttachMs) * kMillisecond;
  config.log = options.log;
  config.log_user = options.log_user;
}

}  // namespace

blz_host_ops CopyOps(const blz_host_ops* ops) { return CopySized(ops); }

Config MakeConfig(const blz_options* given, const blz_host_ops* ops, const char* mode_text) {
  Config config;
  if (given != nullptr && given->struct_size < sizeof(size_t)) {
    config.mode = BLZ_MODE_OFF;
    config.error = "options.struct_size is not set, set it to sizeof(blz_options)";
    return config;
  }
  const blz_options options = CopySized(given);
  CopyRest(options, config);
  CopyDevice(options, config);
  CopyContract(options, config);
  CopyEnvironment(options, config);
  ResolveMode(options, OrEmpty(mode_text), config);
  LowerMode(CopyOps(ops), config);
  if (!config.error.empty()) config.mode = BLZ_MODE_OFF;
  return config;
}

Hello MakeHello(const Config& config, uint64_t process_start_ns) {
  Hello hello;
  switch (config.mode) {
    case BLZ_MODE_TUNE:
    case BLZ_MODE_TUNE_UNTIL:
      hello.mode = WireMode::kTune;
      break;
    case BLZ_MODE_PINNED:
      hello.mode = WireMode::kPinned;
      break;
    default:
      hello.mode = WireMode::kObserve;
  }
  // The order of equivalence::Contract is that of blazed.v1.Contract, which starts at one.
  hello.contract = static_cast<uint32_t>(config.contract) + 1;
  hello.job = config.job;
  hello.rank = config.rank;
  hello.world_size = config.world_size;
  hello.host_name = config.host_name;
  hello.device = config.device;
  hello.environment = config.environment;
  hello.extra_memory_bytes = config.extra_memory_bytes;
  if (config.mode == BLZ_MODE_TUNE_UNTIL) {
    hello.tune_until_steps = config.tune_until_steps;
    hello.tune_until_ns = config.tune_until_ns;
  }
  hello.process_start_ns = process_start_ns;
  return hello;
}

}  // namespace blazed::shim
