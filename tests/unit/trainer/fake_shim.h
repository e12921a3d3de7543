#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "blazed/blazed.hpp"

namespace blazed::trainer {

// A tensor that the host handed to a probe.
struct SeenTensor {
  std::string name;
  blz_dtype dtype = BLZ_F32;
  blz_role role = BLZ_OUTPUT;
  std::vector<uint8_t> bytes;
  bool operator==(const SeenTensor&) const = default;
};

// Stands in for libblazed: keeps what the host says and lets a test order what a daemon would. One
// session at a time; make one at the start of a test.
class FakeShim {
 public:
  FakeShim();
  ~FakeShim();
  FakeShim(const FakeShim&) = delete;
  FakeShim& operator=(const FakeShim&) = delete;

  // The handle to run at `step`; absent: 0.
  std::function<uint64_t(int64_t step)> on_step;
  std::string report_json;
  // How the next call for the report ends, by the time that it was given; absent: with
  // `report_json`, or BLZ_OFF where that is empty.
  std::function<blz_result(uint32_t timeout_ms)> on_report;
  std::string reason;
  std::string note;
  blz_status_info status = {};
  std::vector<blz_choice> champion;

  // What the host said.
  bool attached = false;
  bool closed = false;
  blz_mode mode = BLZ_MODE_FROM_ENVIRONMENT;
  blz_contract contract = BLZ_CONTRACT_DEFAULT;
  std::string job;
  std::vector<uint32_t> report_timeouts;  // of every call for the report
  std::string socket;
  uint64_t tune_until_ns = 0;
  std::vector<std::string> environment_keys;
  blz_host_ops ops = {};
  std::string graph_name;
  std::vector<std::string> decisions;
  std::vector<uint32_t> option_counts;
  std::vector<uint32_t> decision_graphs;  // 0: the whole step's
  uint64_t default_peak_bytes = 0;
  Digest default_signature = {};
  int64_t steps = 0;
  int64_t ended_steps = 0;

  // Asks the host as the shim would.
  blz_built Build(const std::vector<blz_choice>& choices, int* result = nullptr);
  std::vector<SeenTensor> Probe(uint64_t handle, int* result = nullptr);
  Digest Signature(uint64_t handle);
};

}  // namespace blazed::trainer
