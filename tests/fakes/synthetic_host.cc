#include "tests/fakes/synthetic_host.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/strings/str_cat.h"

namespace blazed::fakes {

// FNV-1a, twice with different starts: no hash for the product, a name for a test.
std::string TestDigest(const std::string& text) {
  std::string bytes;
  for (uint64_t hash : {uint64_t{0xcbf29ce484222325}, uint64_t{0x9ae16a3b2f90404f}}) {
    for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
    for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(hash >> shift));
  }
  return bytes;
}

std::string WorkloadFingerprint(const v1::WorkloadSeen& workload) {
  std::string bytes;
  const auto number = [&bytes](uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(value >> shift));
  };
  number(static_cast<uint64_t>(workload.graphs_size()));
  for (const std::string& graph : workload.graphs()) bytes += graph;
  number(static_cast<uint64_t>(workload.decisions_size()));
  for (const v1::Decision& decision : workload.decisions()) {
    bytes += decision.id();
    number(decision.kind());
    number(static_cast<uint64_t>(decision.options_size()));
    for (const std::string& option : decision.options()) {
      number(option.size());
      bytes += option;
    }
    number(decision.graph());
    number(decision.sites());
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return std::string(reinterpret_cast<const char*>(canonical.digest), sizeof(canonical.digest));
}

ProtoPlan FromProto(const v1::Plan& plan) {
  ProtoPlan choices;
  for (const v1::Choice& choice : plan.choices()) {
    choices.emplace_back(choice.decision(), choice.option());
  }
  return choices;
}

v1::GraphSeen SyntheticHost::Graph() const {
  v1::GraphSeen graph;
  graph.set_fingerprint(TestDigest(name + "/graph"));
  graph.set_regime(v1::REGIME_TRAINING);
  graph.set_name(name);
  graph.set_nodes(2 * decisions() + 1);
  return graph;
}

v1::WorkloadSeen SyntheticHost::Workload() const {
  v1::WorkloadSeen workload;
  workload.set_name(name);
  workload.add_graphs(Graph().fingerprint());
  for (uint32_t i = 0; i < decisions(); ++i) {
    v1::Decision* decision = workload.add_decisions();
    decision->set_id(TestDigest(absl::StrCat(name, "/decision/", i)));
    decision->set_name(absl::StrCat("op.", i, "|op.", i + 1));
    decision->set_kind(v1::DECISION_KIND_BOUNDARY);
    decision->add_options("merge");
    decision->add_options("cut");
    decision->set_graph(1);
    decision->set_sites(1);
  }
  workload.set_default_signature(Signature({}));
  workload.set_default_peak_bytes(1 << 20);
  workload.set_default_step_ns(static_cast<uint64_t>(default_step_ns));
  workload.set_default_build_ns(build_ns);
  workload.set_fingerprint(WorkloadFingerprint(workload));
  return workload;
}

std::string SyntheticHost::Signature(const ProtoPlan& plan) const {
  std::string text = name + "/runs";
  for (const auto& [decision, option] : plan) {
    if (not_honoured.count(decision) == 0) absl::StrAppend(&text, "/", decision, "=", option);
  }
  return TestDigest(text);
}

double SyntheticHost::StepNs(const ProtoPlan& plan) const {
  double step = default_step_ns;
  for (const auto& [decision, option] : plan) {
    if (not_honoured.count(decision) == 0) step -= default_step_ns * saving.at(decision);
  }
  return step;
}

bool SyntheticHost::Builds(const ProtoPlan& plan) const {
  return std::none_of(plan.begin(), plan.end(),
                      [this](const auto& choice) { return unbuildable.count(choice.first) > 0; });
}

bool SyntheticHost::Correct(const ProtoPlan& plan) const {
  return std::none_of(plan.begin(), plan.end(),
                      [this](const auto& choice) { return wrong.count(choice.first) > 0; });
}

}  // namespace blazed::fakes
