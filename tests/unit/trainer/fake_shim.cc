#include "tests/unit/trainer/fake_shim.h"

#include <cstring>

struct blz_probe_sink {
  std::vector<blazed::trainer::SeenTensor> seen;
};

namespace blazed::trainer {
namespace {

FakeShim* the_shim = nullptr;

size_t SizeOf(blz_dtype dtype) { return dtype == BLZ_F64 || dtype == BLZ_I64 ? 8 : 4; }

}  // namespace

FakeShim::FakeShim() {
  the_shim = this;
  status.state = BLZ_STATE_ATTACHED;
}

FakeShim::~FakeShim() { the_shim = nullptr; }

blz_built FakeShim::Build(const std::vector<blz_choice>& choices, int* result) {
  blz_built built = {};
  built.struct_size = sizeof built;
  const int code = ops.build(ops.user, choices.data(), choices.size(), &built);
  if (result != nullptr) *result = code;
  return built;
}

std::vector<SeenTensor> FakeShim::Probe(uint64_t handle, int* result) {
  blz_probe_sink sink;
  const int code = ops.probe(ops.user, handle, &sink);
  if (result != nullptr) *result = code;
  return sink.seen;
}

Digest FakeShim::Signature(uint64_t handle) {
  Digest out = {};
  ops.signature(ops.user, handle, out.data());
  return out;
}

}  // namespace blazed::trainer

using blazed::trainer::the_shim;

extern "C" {

blz_result blz_attach(const blz_options* options, const blz_host_ops* ops, blz_session** session) {
  the_shim->attached = true;
  the_shim->mode = options->mode;
  the_shim->contract = options->contract;
  the_shim->job = options->job != nullptr ? options->job : "";
  the_shim->socket = options->socket != nullptr ? options->socket : "";
  the_shim->tune_until_ns = options->tune_until_ns;
  for (size_t i = 0; i < options->environment_count; ++i) {
    the_shim->environment_keys.emplace_back(options->environment[i].key);
  }
  if (ops != nullptr) the_shim->ops = *ops;
  *session = reinterpret_cast<blz_session*>(the_shim);
  return BLZ_OK;
}

blz_result blz_describe_graph(blz_session*, const blz_graph* graph) {
  the_shim->graph_name = graph->name;
  return BLZ_OK;
}

blz_result blz_describe_workload(blz_session*, const blz_workload* workload) {
  for (size_t i = 0; i < workload->decision_count; ++i) {
    the_shim->decisions.emplace_back(workload->decisions[i].name);
    the_shim->option_counts.push_back(workload->decisions[i].option_count);
    the_shim->decision_graphs.push_back(workload->decisions[i].graph);
  }
  the_shim->default_peak_bytes = workload->default_peak_bytes;
  std::memcpy(the_shim->default_signature.data(), workload->default_signature, 16);
  return BLZ_OK;
}

uint64_t blz_step_begin(blz_session*) {
  const int64_t step = the_shim->steps++;
  return the_shim->on_step ? the_shim->on_step(step) : 0;
}

void blz_step_end(blz_session*, uint32_t) { ++the_shim->ended_steps; }

blz_result blz_probe_tensor(blz_probe_sink* sink, const blz_tensor* tensor) {
  const auto* bytes = static_cast<const uint8_t*>(tensor->data);
  const size_t size = tensor->count * blazed::trainer::SizeOf(tensor->dtype);
  sink->seen.push_back({tensor->name, tensor->dtype, tensor->role, {bytes, bytes + size}});
  return BLZ_OK;
}

void blz_status(blz_session*, blz_status_info* out) {
  *out = the_shim->status;
  out->struct_size = sizeof *out;
  out->reason = the_shim->reason.c_str();
  out->note = the_shim->note.c_str();
  out->forecast_based_on = "";
  out->champion_choices = the_shim->champion.data();
  out->champion_choice_count = the_shim->champion.size();
}

const char* blz_reason(blz_session*) { return the_shim->reason.c_str(); }

blz_result blz_report_json(blz_session*, uint32_t timeout_ms, char* buffer, size_t capacity,
                           size_t* length) {
  the_shim->report_timeouts.push_back(timeout_ms);
  const blz_result result = the_shim->on_report ? the_shim->on_report(timeout_ms) : BLZ_OK;
  if (result != BLZ_OK) return result;
  if (the_shim->report_json.empty()) return BLZ_OFF;
  *length = the_shim->report_json.size();
  if (capacity <= *length) return BLZ_TOO_SMALL;
  std::memcpy(buffer, the_shim->report_json.c_str(), *length + 1);
  return BLZ_OK;
}

void blz_close(blz_session* session) {
  if (session != nullptr && the_shim != nullptr) the_shim->closed = true;
}

}  // extern "C"
