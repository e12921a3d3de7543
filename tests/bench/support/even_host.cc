#include "tests/bench/support/even_host.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace blazed::bench {
namespace {

// Dependent divisions: the compiler cannot shorten them and the clock's frequency alone sets their
// time.
double Arithmetic(double start, uint64_t rounds) {
  double x = start;
  for (uint64_t i = 0; i < rounds; ++i) x = 1.0 + 1.0 / (1.0 + x);
  return x;
}

uint64_t ThreadNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void WriteSignature(uint64_t handle, uint8_t out[16]) {
  std::memset(out, 0x5a, 16);
  std::memcpy(out, &handle, sizeof(handle));
}

}  // namespace

// By the thread's own time: on a busy machine the wall's would count other programs as ours.
uint64_t EvenHost::Calibrate(uint64_t step_ns) {
  constexpr uint64_t kProbe = 2'000'000;
  volatile double kept = Arithmetic(1.0, kProbe);
  const uint64_t began = ThreadNs();
  kept = Arithmetic(kept, kProbe);
  const uint64_t took = ThreadNs() - began;
  return std::max<uint64_t>(1, kProbe * step_ns / std::max<uint64_t>(took, 1));
}

void EvenHost::Work() { sink_ = Arithmetic(sink_, rounds_); }

blz_options EvenHost::Options(const std::string& socket) const {
  blz_options options{};
  options.struct_size = sizeof(options);
  options.socket = socket.c_str();
  options.mode = BLZ_MODE_TUNE;
  options.contract = BLZ_CONTRACT_BITWISE;
  options.world_size = 1;
  options.host_name = "bench 0.1.0";
  options.device = "cpu";
  return options;
}

blz_host_ops EvenHost::Ops() {
  blz_host_ops ops{};
  ops.struct_size = sizeof(ops);
  ops.user = this;
  ops.build = [](void* user, const blz_choice*, size_t, blz_built* out) -> int {
    out->handle = static_cast<EvenHost*>(user)->next_handle_++;
    WriteSignature(out->handle, out->signature);
    return BLZ_BUILD_OK;
  };
  ops.drop = [](void*, uint64_t) {};
  ops.probe = [](void*, uint64_t, blz_probe_sink* sink) -> int {
    static const float kOutput[4] = {1, 2, 3, 4};
    blz_tensor tensor{};
    tensor.struct_size = sizeof(tensor);
    tensor.name = "output";
    tensor.dtype = BLZ_F32;
    tensor.role = BLZ_OUTPUT;
    tensor.count = 4;
    tensor.data = kOutput;
    return blz_probe_tensor(sink, &tensor) == BLZ_OK ? 0 : 1;
  };
  ops.signature = [](void*, uint64_t handle, uint8_t out[16]) { WriteSignature(handle, out); };
  return ops;
}

void EvenHost::Describe(blz_session* session, uint32_t decisions, uint32_t workload_number) {
  blz_graph graph{};
  graph.struct_size = sizeof(graph);
  std::memset(graph.fingerprint, 7, sizeof(graph.fingerprint));
  std::memcpy(graph.fingerprint, &workload_number, sizeof(workload_number));
  graph.regime = BLZ_REGIME_TRAINING;
  graph.name = "even";
  graph.nodes = decisions + 1;
  blz_describe_graph(session, &graph);

  static const char* const kOptions[] = {"merge", "cut"};
  std::vector<std::string> names;
  std::vector<blz_decision> list(decisions);
  for (uint32_t i = 0; i < decisions; ++i) names.push_back("boundary." + std::to_string(i));
  for (uint32_t i = 0; i < decisions; ++i) {
    list[i].id[0] = static_cast<uint8_t>(i + 1);
    list[i].name = names[i].c_str();
    list[i].kind = BLZ_BOUNDARY;
    list[i].options = kOptions;
    list[i].option_count = 2;
    list[i].graph = 1;
    list[i].sites = 1;
  }
  blz_workload workload{};
  workload.struct_size = sizeof(workload);
  workload.name = "even";
  workload.graphs = &graph.fingerprint;
  workload.graph_count = 1;
  workload.decisions = list.data();
  workload.decision_bytes = sizeof(blz_decision);
  workload.decision_count = list.size();
  WriteSignature(0, workload.default_signature);
  blz_describe_workload(session, &workload);
}

void EvenHost::Step(blz_session* session) {
  if (session != nullptr) blz_step_begin(session);
  Work();
  if (session != nullptr) blz_step_end(session, 0);
}

}  // namespace blazed::bench
