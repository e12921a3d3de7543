#include "client/cpp/engine/workload.h"

// Inline: the shared object must not need libxxhash.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "client/cpp/base/raw_enum.h"
#include "client/cpp/base/text.h"

namespace blazed::shim {
namespace {

constexpr size_t kMaxName = 96;
constexpr size_t kMaxDescription = 4096;
constexpr uint32_t kMaxOptions = 16;
constexpr uint32_t kMaxSites = 65535;

bool Fail(std::string& error, std::string_view sentence) {
  error = sentence;
  return false;
}

// What a decision held before build_ns was added.
constexpr size_t kFirstDecisionBytes = offsetof(blz_decision, build_ns);

bool CopyDecision(const blz_decision& from, size_t graphs, DecisionSeen& to, std::string& error) {
  if (!IsPlainName(from.name, kMaxName)) {
    return Fail(error, "a decision's name is not 1 to 96 bytes of printable ASCII");
  }
  const std::string place = std::string("decision ") + from.name;
  const uint32_t kind = RawEnum(from.kind);
  if (kind != BLZ_BOUNDARY && kind != BLZ_CHOICE) {
    return Fail(error, place + " is neither a boundary nor a choice");
  }
  if (from.option_count < 2 || from.option_count > kMaxOptions || from.options == nullptr) {
    return Fail(error, place + " has not 2 to 16 options");
  }
  if (from.graph > graphs) return Fail(error, place + " names a graph that the workload lacks");
  if (from.sites < 1 || from.sites > kMaxSites) {
    return Fail(error, place + " has not 1 to 65535 sites");
  }
  for (uint32_t i = 0; i < from.option_count; ++i) {
    if (!IsPlainName(from.options[i], kMaxName)) {
      return Fail(error, place + " has an option that is not 1 to 96 bytes of printable ASCII");
    }
    to.options.emplace_back(from.options[i]);
  }
  to.id = DigestFrom(from.id);
  to.name = from.name;
  to.kind = kind;
  to.graph = from.graph;
  to.sites = from.sites;
  to.reorders_sums = from.reorders_sums != 0 ? 1 : 0;
  if (from.build_ns != nullptr) {
    to.build_ns.assign(from.build_ns, from.build_ns + from.option_count);
  }
  return true;
}

bool CopyGraphs(const blz_workload& from, const std::vector<GraphSeen>& known, WorkloadSeen& to,
                std::string& error) {
  if (from.graph_count < 1 || from.graph_count > kMaxGraphs || from.graphs == nullptr) {
    return Fail(error, "a workload has 1 to 64 graphs");
  }
  for (size_t i = 0; i < from.graph_count; ++i) {
    const Digest fingerprint = DigestFrom(from.graphs[i]);
    const bool described = std::any_of(known.begin(), known.end(), [&](const GraphSeen& graph) {
      return graph.fingerprint == fingerprint;
    });
    if (!described) return Fail(error, "the workload has a graph that was not described before");
    to.graphs.push_back(fingerprint);
  }
  return true;
}

bool CopyDecisions(const blz_workload& from, WorkloadSeen& to, std::string& error) {
  if (from.decision_count < 1 || from.decision_count > kMaxDecisions || from.decisions == nullptr) {
    return Fail(error, "a workload has 1 to 512 decisions");
  }
  if (from.decision_bytes < kFirstDecisionBytes) {
    return Fail(error, "workload.decision_bytes is not sizeof(blz_decision)");
  }
  // Half a pointer is none.
  const size_t held =
      from.decision_bytes < sizeof(blz_decision) ? kFirstDecisionBytes : sizeof(blz_decision);
  const auto* bytes = reinterpret_cast<const char*>(from.decisions);
  to.decisions.resize(from.decision_count);
  for (size_t i = 0; i < from.decision_count; ++i) {
    blz_decision decision{};
    std::memcpy(&decision, bytes + i * from.decision_bytes, held);
    if (!CopyDecision(decision, from.graph_count, to.decisions[i], error)) return false;
  }
  return true;
}

// Lengths go in with the texts, so that no two descriptions give one stream of bytes.
class Hasher {
 public:
  Hasher() { XXH3_128bits_reset(&state_); }
  void Number(uint64_t value) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(value >> (8 * i));
    XXH3_128bits_update(&state_, bytes, sizeof bytes);
  }
  void Bytes(const Digest& digest) { XXH3_128bits_update(&state_, digest.data(), digest.size()); }
  void Text(std::string_view text) {
    Number(text.size());
    XXH3_128bits_update(&state_, text.data(), text.size());
  }
  Digest Finish() {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_));
    return DigestFrom(canonical.digest);
  }

 private:
  XXH3_state_t state_;
};

}  // namespace

std::optional<GraphSeen> CheckGraph(const blz_graph* graph, std::string& error) {
  if (graph == nullptr || graph->struct_size < sizeof(blz_graph)) {
    error = "graph.struct_size is not sizeof(blz_graph)";
    return std::nullopt;
  }
  const uint32_t regime = RawEnum(graph->regime);
  if (regime != BLZ_REGIME_TRAINING && regime != BLZ_REGIME_FORWARD) {
    error = "a graph's regime is neither training nor forward";
    return std::nullopt;
  }
  GraphSeen seen;
  seen.fingerprint = DigestFrom(graph->fingerprint);
  seen.regime = regime;
  seen.name = Bounded(OrEmpty(graph->name), kMaxName);
  seen.nodes = graph->nodes;
  seen.description = Bounded(OrEmpty(graph->description), kMaxDescription);
  return seen;
}

std::optional<WorkloadSeen> CheckWorkload(const blz_workload* workload,
                                          const std::vector<GraphSeen>& known, std::string& error) {
  if (workload == nullptr || workload->struct_size < sizeof(blz_workload)) {
    error = "workload.struct_size is not sizeof(blz_workload)";
    return std::nullopt;
  }
  WorkloadSeen seen;
  seen.name = Bounded(OrEmpty(workload->name), kMaxName);
  seen.default_signature = DigestFrom(workload->default_signature);
  if (IsZero(seen.default_signature)) {
    error = "the default plan has no signature, run it once before describing the workload";
    return std::nullopt;
  }
  if (!CopyGraphs(*workload, known, seen, error) || !CopyDecisions(*workload, seen, error)) {
    return std::nullopt;
  }
  seen.default_peak_bytes = workload->default_peak_bytes;
  seen.default_step_ns = workload->default_step_ns;
  seen.default_build_ns = workload->default_build_ns;
  seen.fingerprint = WorkloadFingerprint(seen);
  return seen;
}

Digest WorkloadFingerprint(const WorkloadSeen& workload) {
  Hasher hasher;
  hasher.Number(workload.graphs.size());
  for (const Digest& graph : workload.graphs) hasher.Bytes(graph);
  hasher.Number(workload.decisions.size());
  for (const DecisionSeen& decision : workload.decisions) {
    hasher.Bytes(decision.id);
    hasher.Number(decision.kind);
    hasher.Number(decision.options.size());
    for (const std::string& option : decision.options) hasher.Text(option);
    hasher.Number(decision.graph);
    hasher.Number(decision.sites);
  }
  return hasher.Finish();
}

bool PlanFits(const Plan& plan, const std::vector<DecisionSeen>& decisions) {
  for (size_t i = 0; i < plan.size(); ++i) {
    const blz_choice& choice = plan[i];
    if (i > 0 && choice.decision <= plan[i - 1].decision) return false;
    if (choice.decision >= decisions.size()) return false;
    if (choice.option == 0 || choice.option >= decisions[choice.decision].options.size()) {
      return false;
    }
  }
  return true;
}

std::string PlanText(const Plan& plan, const std::vector<DecisionSeen>& decisions) {
  constexpr size_t kShown = 2;
  if (plan.empty()) return "default";
  std::string text;
  for (size_t i = 0; i < plan.size() && i < kShown; ++i) {
    const DecisionSeen& decision = decisions[plan[i].decision];
    text += (i > 0 ? ", " : "") + decision.name + "=" + decision.options[plan[i].option];
  }
  if (plan.size() > kShown) text += " and " + std::to_string(plan.size() - kShown) + " more";
  return text;
}

}  // namespace blazed::shim
