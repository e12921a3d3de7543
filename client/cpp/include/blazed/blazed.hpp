// A thin C++20 face of blazed.h: RAII, a Host interface in place of callbacks, spans and strings in
// place of pointers. Header only; everything is forwarded to the C functions, whose comments in
// blazed.h hold here too.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blazed/blazed.h"

namespace blazed {

using Digest = std::array<uint8_t, 16>;

// Takes the tensors of one check computation. Valid inside Host::Probe only.
class ProbeSink {
 public:
  explicit ProbeSink(blz_probe_sink* sink) : sink_(sink) {}

  // `row`: row length for the arg-max of predictions; 0: one row. `name` must end with a zero byte.
  // `unit_roundoff`: of coarser arithmetic than the type.
  blz_result Tensor(const char* name, blz_dtype dtype, blz_role role, const void* data,
                    uint64_t count, uint64_t row = 0, double unit_roundoff = 0) {
    const blz_tensor tensor{sizeof(blz_tensor), name, dtype, role, count, data, row, unit_roundoff};
    return blz_probe_tensor(sink_, &tensor);
  }
  blz_result Tensor(const char* name, blz_role role, std::span<const float> data,
                    uint64_t row = 0) {
    return Tensor(name, BLZ_F32, role, data.data(), data.size(), row);
  }

 private:
  blz_probe_sink* sink_;
};

// What a host must be able to do. Called on the session's thread, between steps. Must not throw.
// Outlives the Session.
class Host {
 public:
  virtual ~Host() = default;

  // Builds and keeps the plan; fills handle (not 0), signature of a run, peak_bytes. Returns
  // BLZ_BUILD_*; on failure leaves a sentence by Explain.
  virtual int Build(std::span<const blz_choice> choices, blz_built& built) = 0;
  virtual void Drop(uint64_t handle) = 0;
  // The check computation on the coming batch, side effects undone; `handle` 0 is the default plan.
  // False: it faulted.
  virtual bool Probe(uint64_t handle, ProbeSink& sink) = 0;
  // Of the latest run of `handle`, from what really ran.
  virtual Digest Signature(uint64_t handle) = 0;
  // Overridden together with QueuedHost() by hosts that run ahead of their device.
  virtual void Drain() {}
  virtual bool QueuedHost() const { return false; }
  // Overridden together by queued hosts that can ask, without waiting, how many ended steps their
  // device has not ended.
  virtual bool TellsStepsInFlight() const { return false; }
  virtual uint32_t StepsInFlight() { return 0; }
  // Overridden together by hosts that can run the default plan's check computation in finer
  // arithmetic than its own. False: not now, such as for want of memory.
  virtual bool HasReference() const { return false; }
  virtual bool Reference(ProbeSink&) { return false; }

  // Overridden together by hosts that can say what a step runs: they answer by
  // Session::GiveKernels, between steps, at leisure.
  virtual bool TellsKernels() const { return false; }
  virtual void WantKernels(uint64_t) {}

  static void Explain(blz_built& built, std::string_view sentence) {
    std::snprintf(built.message, sizeof built.message, "%.*s", static_cast<int>(sentence.size()),
                  sentence.data());
  }
};

// One decision; fields as in blz_decision, options[0] is the host's own.
struct Decision {
  Digest id{};
  std::string name;
  blz_decision_kind kind = BLZ_BOUNDARY;
  std::vector<std::string> options;
  uint32_t graph = 0;
  uint32_t sites = 1;
  bool reorders_sums = false;
  std::vector<uint64_t> build_ns = {};  // empty, or one an option
};

struct Workload {
  std::string name;
  std::vector<Digest> graphs;
  std::vector<Decision> decisions;
  Digest default_signature{};
  uint64_t default_peak_bytes = 0;
  uint64_t default_step_ns = 0;
  uint64_t default_build_ns = 0;
};

// Owns a session; movable. A default-constructed one is off.
class Session {
 public:
  Session() = default;
  // `host` may be null: the session only observes. It must outlive the Session. Never fails: see
  // Status().state.
  Session(const blz_options& options, Host* host) {
    blz_host_ops ops{};
    if (host != nullptr) ops = OpsFor(*host);
    blz_attach(&options, host != nullptr ? &ops : nullptr, &session_);
  }
  Session(Session&& other) noexcept : session_(std::exchange(other.session_, nullptr)) {}
  Session& operator=(Session&& other) noexcept {
    if (this != &other) {
      Close();
      session_ = std::exchange(other.session_, nullptr);
    }
    return *this;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { Close(); }

  // Options with every field at its default.
  static blz_options DefaultOptions() {
    blz_options options{};
    options.struct_size = sizeof options;
    return options;
  }

  blz_result DescribeGraph(const Digest& fingerprint, blz_regime regime, const std::string& name,
                           uint32_t nodes, const std::string& description = "") {
    blz_graph graph{};
    graph.struct_size = sizeof graph;
    std::copy(fingerprint.begin(), fingerprint.end(), graph.fingerprint);
    graph.regime = regime;
    graph.name = name.c_str();
    graph.nodes = nodes;
    graph.description = description.c_str();
    return blz_describe_graph(session_, &graph);
  }

  blz_result DescribeWorkload(const Workload& workload) {
    std::vector<std::vector<const char*>> names(workload.decisions.size());
    std::vector<blz_decision> decisions(workload.decisions.size());
    for (size_t i = 0; i < decisions.size(); ++i) {
      const Decision& from = workload.decisions[i];
      for (const std::string& option : from.options) names[i].push_back(option.c_str());
      blz_decision& to = decisions[i];
      std::copy(from.id.begin(), from.id.end(), to.id);
      to.name = from.name.c_str();
      to.kind = from.kind;
      to.options = names[i].data();
      to.option_count = static_cast<uint32_t>(names[i].size());
      to.graph = from.graph;
      to.sites = from.sites;
      to.reorders_sums = from.reorders_sums ? 1 : 0;
      to.build_ns = from.build_ns.size() == from.options.size() ? from.build_ns.data() : nullptr;
    }
    blz_workload out{};
    out.struct_size = sizeof out;
    out.name = workload.name.c_str();
    out.graphs = reinterpret_cast<const uint8_t(*)[16]>(workload.graphs.data());
    out.graph_count = workload.graphs.size();
    out.decisions = decisions.data();
    out.decision_bytes = sizeof(blz_decision);
    out.decision_count = decisions.size();
    std::copy(workload.default_signature.begin(), workload.default_signature.end(),
              out.default_signature);
    out.default_peak_bytes = workload.default_peak_bytes;
    out.default_step_ns = workload.default_step_ns;
    out.default_build_ns = workload.default_build_ns;
    return blz_describe_workload(session_, &out);
  }

  uint64_t StepBegin() { return blz_step_begin(session_); }
  void StepEnd(uint32_t flags = 0) { blz_step_end(session_, flags); }

  // Of a step under the default plan, and under the plan that Host::WantKernels named.
  blz_result GiveKernels(uint64_t handle, const blz_step_kernels& before,
                         const blz_step_kernels& after) {
    return blz_give_kernels(session_, handle, &before, &after);
  }

  blz_status_info Status() const {
    blz_status_info info{};
    info.struct_size = sizeof info;
    blz_status(session_, &info);
    return info;
  }
  std::string Reason() const { return blz_reason(session_); }

  // The report as JSON; empty where there is none within the time given. `why`, where it is given,
  // says how the call ended.
  std::string ReportJson(uint32_t timeout_ms, blz_result* why = nullptr) {
    size_t length = 0;
    std::string text(64 * 1024, '\0');
    blz_result result = blz_report_json(session_, timeout_ms, text.data(), text.size(), &length);
    if (result == BLZ_TOO_SMALL) {
      text.resize(length + 1);
      result = blz_report_json(session_, timeout_ms, text.data(), text.size(), &length);
    }
    text.resize(result == BLZ_OK ? length : 0);
    if (why != nullptr) *why = result;
    return text;
  }

  void Close() { blz_close(std::exchange(session_, nullptr)); }
  blz_session* get() const { return session_; }

 private:
  static Host& Of(void* user) { return *static_cast<Host*>(user); }

  static blz_host_ops OpsFor(Host& host) {
    blz_host_ops ops{};
    ops.struct_size = sizeof ops;
    ops.user = &host;
    ops.build = [](void* user, const blz_choice* choices, size_t count, blz_built* out) {
      return Of(user).Build(std::span(choices, count), *out);
    };
    ops.drop = [](void* user, uint64_t handle) { Of(user).Drop(handle); };
    ops.probe = [](void* user, uint64_t handle, blz_probe_sink* sink) {
      ProbeSink wrapped(sink);
      return Of(user).Probe(handle, wrapped) ? 0 : 1;
    };
    ops.signature = [](void* user, uint64_t handle, uint8_t out[16]) {
      const Digest digest = Of(user).Signature(handle);
      std::copy(digest.begin(), digest.end(), out);
    };
    if (host.QueuedHost()) ops.drain = [](void* user) { Of(user).Drain(); };
    if (host.QueuedHost() && host.TellsStepsInFlight()) {
      ops.steps_in_flight = [](void* user) { return Of(user).StepsInFlight(); };
    }
    if (host.TellsKernels()) {
      ops.want_kernels = [](void* user, uint64_t handle) { Of(user).WantKernels(handle); };
    }
    if (host.HasReference()) {
      ops.reference = [](void* user, blz_probe_sink* sink) {
        ProbeSink to(sink);
        return Of(user).Reference(to) ? 0 : 1;
      };
    }
    return ops;
  }

  blz_session* session_ = nullptr;
};

}  // namespace blazed
