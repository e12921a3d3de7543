#include <blazed/v1/tuner.pb.h>
#include <pb_encode.h>

#include <memory>

#include "blazed_version.h"
#include "client/cpp/base/text.h"
#include "client/cpp/wire/codec.h"

namespace blazed::shim {
namespace {

template <size_t kSize>
void CopyText(char (&to)[kSize], std::string_view from) {
  const std::string text = Bounded(from, kSize - 1);
  text.copy(to, text.size());
  to[text.size()] = '\0';
}

void CopyBytes(pb_byte_t (&to)[16], const Digest& from) { std::copy(from.begin(), from.end(), to); }

template <typename Bytes>
void CopySized(Bytes& to, const Digest& from) {
  if (IsZero(from)) return;
  to.size = static_cast<pb_size_t>(from.size());
  CopyBytes(to.bytes, from);
}

std::string Serialize(const pb_msgdesc_t* fields, const void* message) {
  size_t size = 0;
  if (!pb_get_encoded_size(&size, fields, message) || size > kMaxMessageBytes) return {};
  std::string bytes(size, '\0');
  pb_ostream_t stream =
      pb_ostream_from_buffer(reinterpret_cast<pb_byte_t*>(bytes.data()), bytes.size());
  if (!pb_encode(&stream, fields, message)) return {};
  return bytes;
}

// The union is large: on the heap, zeroed.
std::unique_ptr<blazed_v1_ShimMessage> Make(pb_size_t which) {
  auto message = std::make_unique<blazed_v1_ShimMessage>();
  message->which_body = which;
  return message;
}

std::string Serialize(const std::unique_ptr<blazed_v1_ShimMessage>& message) {
  return Serialize(blazed_v1_ShimMessage_fields, message.get());
}

bool EncodeDigests(pb_ostream_t* stream, const pb_field_t* field, void* const* arg) {
  for (const Digest& digest : *static_cast<const std::vector<Digest>*>(*arg)) {
    if (!pb_encode_tag_for_field(stream, field) ||
        !pb_encode_string(stream, digest.data(), digest.size())) {
      return false;
    }
  }
  return true;
}

bool EncodeNames(pb_ostream_t* stream, const pb_field_t* field, void* const* arg) {
  for (const std::string& name : *static_cast<const std::vector<std::string>*>(*arg)) {
    if (!pb_encode_tag_for_field(stream, field) ||
        !pb_encode_string(stream, reinterpret_cast<const pb_byte_t*>(name.data()), name.size())) {
      return false;
    }
  }
  return true;
}

bool EncodeNumbers(pb_ostream_t* stream, const pb_field_t* field, void* const* arg) {
  for (const uint64_t number : *static_cast<const std::vector<uint64_t>*>(*arg)) {
    if (!pb_encode_tag(stream, PB_WT_VARINT, field->tag) || !pb_encode_varint(stream, number)) {
      return false;
    }
  }
  return true;
}

template <typename T>
void SetCallback(pb_callback_t& callback,
                 bool (*encode)(pb_ostream_t*, const pb_field_t*, void* const*),
                 const T& argument) {
  callback.funcs.encode = encode;
  callback.arg = const_cast<T*>(&argument);
}

bool EncodeDecisions(pb_ostream_t* stream, const pb_field_t* field, void* const* arg) {
  for (const DecisionSeen& from : *static_cast<const std::vector<DecisionSeen>*>(*arg)) {
    blazed_v1_Decision decision = blazed_v1_Decision_init_zero;
    CopyBytes(decision.id, from.id);
    CopyText(decision.name, from.name);
    decision.kind = static_cast<blazed_v1_DecisionKind>(from.kind);
    SetCallback(decision.options, EncodeNames, from.options);
    decision.graph = from.graph;
    decision.sites = from.sites;
    decision.reorders_sums = from.reorders_sums;
    SetCallback(decision.build_ns, EncodeNumbers, from.build_ns);
    if (!pb_encode_tag_for_field(stream, field) ||
        !pb_encode_submessage(stream, blazed_v1_Decision_fields, &decision)) {
      return false;
    }
  }
  return true;
}

void CopyTotals(blazed_v1_StepTotals& to, const blz_step_kernels& from) {
  to.has_step_ns = (from.known & BLZ_TOTAL_STEP) != 0;
  to.step_ns = from.step_ns;
  to.has_busy_ns = (from.known & BLZ_TOTAL_BUSY) != 0;
  to.busy_ns = from.busy_ns;
  to.has_kernel_launches = (from.known & BLZ_TOTAL_KERNEL_LAUNCHES) != 0;
  to.kernel_launches = from.kernel_launches;
  to.has_host_launches = (from.known & BLZ_TOTAL_HOST_LAUNCHES) != 0;
  to.host_launches = from.host_launches;
}

void CopyKernel(blazed_v1_KernelUse& to, const KernelUse& from) {
  const blz_kernel& numbers = from.numbers;
  const auto knows = [&numbers](uint32_t bit) { return (numbers.known & bit) != 0; };
  CopyText(to.name, from.name);
  to.has_launches = knows(BLZ_KERNEL_LAUNCHES);
  to.launches = numbers.launches;
  to.has_time_ns = knows(BLZ_KERNEL_TIME);
  to.time_ns = numbers.time_ns;
  to.has_read_bytes = to.has_written_bytes = knows(BLZ_KERNEL_BYTES);
  to.read_bytes = numbers.read_bytes;
  to.written_bytes = numbers.written_bytes;
  to.has_registers = knows(BLZ_KERNEL_REGISTERS);
  to.registers = numbers.registers;
  to.has_spill_bytes = knows(BLZ_KERNEL_SPILLS);
  to.spill_bytes = numbers.spill_bytes;
  to.has_shared_bytes = knows(BLZ_KERNEL_SHARED);
  to.shared_bytes = numbers.shared_bytes;
}

bool EncodeKernels(pb_ostream_t* stream, const pb_field_t* field, void* const* arg) {
  for (const KernelUse& from : *static_cast<const std::vector<KernelUse>*>(*arg)) {
    blazed_v1_KernelUse kernel = blazed_v1_KernelUse_init_zero;
    CopyKernel(kernel, from);
    if (!pb_encode_tag_for_field(stream, field) ||
        !pb_encode_submessage(stream, blazed_v1_KernelUse_fields, &kernel)) {
      return false;
    }
  }
  return true;
}

void CopyStep(blazed_v1_StepKernels& to, const StepKernels& from) {
  to.has_totals = true;
  CopyTotals(to.totals, from.totals);
  SetCallback(to.kernels, EncodeKernels, from.kernels);
}

void CopySummary(blazed_v1_ComparisonSummary& to, const equivalence::Summary& from) {
  // The order of equivalence::Verdict is that of blazed.v1.Equivalence, which starts at one.
  to.equivalence = static_cast<blazed_v1_Equivalence>(static_cast<int>(from.verdict) + 1);
  to.elements = from.elements;
  to.mismatches = from.mismatches;
  to.max_abs = from.max_abs;
  to.max_rel = from.max_rel;
  to.max_ulp = std::min(from.max_ulp, uint64_t{1} << 63);
  to.nan_default = from.nan_default;
  to.nan_variant = from.nan_variant;
  to.inf_default = from.inf_default;
  to.inf_variant = from.inf_variant;
  to.prediction_disagreements = from.prediction_disagreements;
  to.own_max_rel = from.own_max_rel;
  to.allowed_max_rel = from.allowed_max_rel;
  CopyText(to.worst_tensor, from.worst_tensor);
  CopyBytes(to.digest_default, from.digest_default.Bytes());
  CopyBytes(to.digest_variant, from.digest_variant.Bytes());
}

}  // namespace

std::string Encode(const Hello& hello) {
  auto message = Make(blazed_v1_ShimMessage_hello_tag);
  auto& body = message->body.hello;
  std::vector<blazed_v1_EnvironmentEntry> environment(hello.environment.size());
  for (size_t i = 0; i < environment.size(); ++i) {
    environment[i] = blazed_v1_EnvironmentEntry_init_zero;
    CopyText(environment[i].key, hello.environment[i].first);
    CopyText(environment[i].value, hello.environment[i].second);
  }
  CopySized(body.resume, hello.resume);
  body.resume_epoch = hello.resume_epoch;
  body.mode = static_cast<blazed_v1_Mode>(hello.mode);
  body.contract = static_cast<blazed_v1_Contract>(hello.contract);
  CopyText(body.job, hello.job);
  body.rank = hello.rank;
  body.world_size = hello.world_size;
  CopyText(body.host_name, hello.host_name);
  CopyText(body.shim_version, BLAZED_VERSION);
  CopyText(body.device, hello.device);
  body.environment_count = static_cast<pb_size_t>(environment.size());
  body.environment = environment.data();
  body.extra_memory_bytes = hello.extra_memory_bytes;
  body.tune_until_steps = hello.tune_until_steps;
  body.tune_until_ns = hello.tune_until_ns;
  body.process_start_ns = hello.process_start_ns;
  return Serialize(message);
}

std::string Encode(const GraphSeen& graph) {
  auto message = Make(blazed_v1_ShimMessage_graph_seen_tag);
  auto& body = message->body.graph_seen;
  std::string description = Bounded(graph.description, 4096);
  CopyBytes(body.fingerprint, graph.fingerprint);
  body.regime = static_cast<blazed_v1_Regime>(graph.regime);
  CopyText(body.name, graph.name);
  body.nodes = graph.nodes;
  body.description = description.data();
  return Serialize(message);
}

std::string Encode(const WorkloadSeen& workload) {
  auto message = Make(blazed_v1_ShimMessage_workload_seen_tag);
  auto& body = message->body.workload_seen;
  CopyBytes(body.fingerprint, workload.fingerprint);
  CopyText(body.name, workload.name);
  SetCallback(body.graphs, EncodeDigests, workload.graphs);
  SetCallback(body.decisions, EncodeDecisions, workload.decisions);
  CopyBytes(body.default_signature, workload.default_signature);
  body.default_peak_bytes = workload.default_peak_bytes;
  body.default_step_ns = workload.default_step_ns;
  body.default_build_ns = workload.default_build_ns;
  body.queued = workload.queued ? 1 : 0;
  return Serialize(message);
}

std::string Encode(const VariantBuilt& built) {
  auto message = Make(blazed_v1_ShimMessage_variant_built_tag);
  auto& body = message->body.variant_built;
  body.build_id = built.build_id;
  body.variant = built.variant;
  body.status = static_cast<blazed_v1_BuildStatus>(built.status);
  CopyText(body.reason, built.reason);
  if (built.status == BuildStatus::kOk) CopySized(body.signature, built.signature);
  body.build_ns = built.build_ns;
  body.peak_bytes = built.peak_bytes;
  return Serialize(message);
}

std::string Encode(const ProbeDone& done) {
  auto message = Make(blazed_v1_ShimMessage_probe_done_tag);
  auto& body = message->body.probe_done;
  body.probe_id = done.probe_id;
  body.variant = done.variant;
  body.has_summary = true;
  CopySummary(body.summary, done.summary);
  body.probe_ns = done.probe_ns;
  body.passed_batches = done.passed_batches;
  return Serialize(message);
}

std::string Encode(const StepsDone& done) {
  auto message = Make(blazed_v1_ShimMessage_steps_done_tag);
  auto& body = message->body.steps_done;
  std::vector<blazed_v1_UnitTime> units(done.units.size());
  for (size_t i = 0; i < units.size(); ++i) {
    units[i] = {done.units[i].host_ns, done.units[i].device_ns, done.units[i].flags};
  }
  body.lease_id = done.lease_id;
  body.units_count = static_cast<pb_size_t>(units.size());
  body.units = units.data();
  body.first_step = done.first_step;
  body.drain_ns = done.drain_ns;
  body.complete = done.complete ? 1 : 0;
  body.has_run_ahead = done.run_ahead.has_value();
  body.run_ahead = done.run_ahead.value_or(0);
  return Serialize(message);
}

std::string Encode(const DirectiveRefused& refused) {
  auto message = Make(blazed_v1_ShimMessage_directive_refused_tag);
  auto& body = message->body.directive_refused;
  body.directive_id = refused.directive_id;
  body.variant = refused.variant;
  body.reason = static_cast<blazed_v1_RefusalReason>(refused.reason);
  CopyText(body.detail, refused.detail);
  return Serialize(message);
}

std::string Encode(const ServiceWindow& window) {
  auto message = Make(blazed_v1_ShimMessage_service_window_tag);
  message->body.service_window = {window.variant, window.first_step, window.steps, window.host_ns,
                                  window.median_step_ns};
  return Serialize(message);
}

std::string Encode(const Adopted& adopted) {
  auto message = Make(blazed_v1_ShimMessage_adopted_tag);
  message->body.adopted = {adopted.adopt_id, adopted.variant, adopted.from_step};
  return Serialize(message);
}

std::string Encode(const KernelsSeen& kernels) {
  auto message = Make(blazed_v1_ShimMessage_kernels_seen_tag);
  auto& body = message->body.kernels_seen;
  body.variant = kernels.variant;
  body.has_before = body.has_after = true;
  CopyStep(body.before, kernels.before);
  CopyStep(body.after, kernels.after);
  return Serialize(message);
}

std::string Encode(const Bye& bye) {
  auto message = Make(blazed_v1_ShimMessage_bye_tag);
  message->body.bye.steps = bye.steps;
  CopyText(message->body.bye.reason, bye.reason);
  return Serialize(message);
}

std::string EncodeSequence(uint64_t sequence) {
  pb_byte_t buffer[16];
  pb_ostream_t stream = pb_ostream_from_buffer(buffer, sizeof buffer);
  pb_encode_tag(&stream, PB_WT_VARINT, blazed_v1_ShimMessage_sequence_tag);
  pb_encode_varint(&stream, sequence);
  return std::string(reinterpret_cast<const char*>(buffer), stream.bytes_written);
}

std::string EncodeGetReportRequest(const Digest& session) {
  blazed_v1_GetReportRequest request = blazed_v1_GetReportRequest_init_zero;
  CopySized(request.session, session);
  return Serialize(blazed_v1_GetReportRequest_fields, &request);
}

}  // namespace blazed::shim
