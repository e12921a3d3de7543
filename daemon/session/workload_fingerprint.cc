#include "daemon/session/workload_fingerprint.h"

#include <string>

#include "daemon/session/digest_bytes.h"

namespace blazed::session {
namespace {

void AppendNumber(std::string* bytes, uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) {
    bytes->push_back(static_cast<char>((value >> shift) & 0xff));
  }
}

void AppendDigest(std::string* bytes, const planner::Digest& digest) {
  bytes->append(digest.begin(), digest.end());
}

// The number that stands for a kind on the wire.
uint64_t WireKind(planner::DecisionKind kind) {
  return kind == planner::DecisionKind::kBoundary ? 1 : 2;
}

}  // namespace

planner::Digest WorkloadFingerprint(const storage::WorkloadRow& workload) {
  std::string bytes;
  AppendNumber(&bytes, workload.graphs.size());
  for (const planner::Digest& graph : workload.graphs) AppendDigest(&bytes, graph);
  AppendNumber(&bytes, workload.spec.decisions.size());
  for (const planner::DecisionSpec& decision : workload.spec.decisions) {
    AppendDigest(&bytes, decision.id);
    AppendNumber(&bytes, WireKind(decision.kind));
    AppendNumber(&bytes, decision.options.size());
    for (const std::string& option : decision.options) {
      AppendNumber(&bytes, option.size());
      bytes.append(option);
    }
    AppendNumber(&bytes, decision.graph);
    AppendNumber(&bytes, decision.sites);
  }
  return DigestBytes(bytes);
}

}  // namespace blazed::session
