#include "client/trainer/host/describe.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "blazed_version.h"
#include "kernels/cpu/blas.h"
#include "kernels/graph/fingerprint.h"

namespace blazed::trainer {
namespace {

constexpr size_t kLongestName = 96;    // the protocol's limit for names
constexpr size_t kLongestValue = 160;  // and for environment values
constexpr size_t kLongestDescription = 4096;

// Printable ASCII within the limit, never empty.
std::string Name(absl::string_view text, size_t limit = kLongestName) {
  std::string out(text.substr(0, limit));
  for (char& byte : out) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(byte))) byte = '?';
  }
  return out.empty() ? "?" : out;
}

std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || line.rfind("model name", 0) != 0) continue;
    return std::string(absl::StripAsciiWhitespace(absl::string_view(line).substr(colon + 1)));
  }
  return "unknown";
}

std::string CacheBytes(int name) { return absl::StrCat(std::max(0L, sysconf(name))); }

std::string GraphDescription(const workloads::Workload& workload) {
  const workloads::WorkloadOptions& options = workload.options;
  std::string text = absl::StrCat(workload.name, ": width ", options.width, ", batch ",
                                  options.batch, ", layers ", options.layers);
  if (workloads::NeedsText(workload)) absl::StrAppend(&text, ", sequence ", options.seq);
  return text.substr(0, kLongestDescription);
}

Decision DecisionOf(const fuse::Decision& from) {
  Decision to;
  to.id = ToDigest(from.id);
  to.name = Name(from.name);
  to.kind = from.kind == fuse::DecisionKind::kBoundary ? BLZ_BOUNDARY : BLZ_CHOICE;
  to.graph = from.sites.empty() ? 0 : 1;  // the whole step's has none
  to.sites = static_cast<uint32_t>(std::clamp<size_t>(from.sites.size(), 1, 65535));
  for (const fuse::Option& option : from.options) {
    to.options.push_back(Name(option.name));
    if (option.numerics == fuse::Numerics::kReordersSums) to.reorders_sums = true;
  }
  return to;
}

}  // namespace

std::map<std::string, std::string> DescribeEnvironment(int threads) {
  std::map<std::string, std::string> out = {
      {"device", "cpu"},
      {"host", absl::StrCat("blaze-train ", BLAZED_VERSION)},
      {"cpu.model", ProcessorName()},
      {"cpu.l1d_bytes", CacheBytes(_SC_LEVEL1_DCACHE_SIZE)},
      {"cpu.l2_bytes", CacheBytes(_SC_LEVEL2_CACHE_SIZE)},
      {"cpu.l3_bytes", CacheBytes(_SC_LEVEL3_CACHE_SIZE)},
      {"blas.kernels", cpu::LoadedBlas().kernels},
      {"threads", absl::StrCat(threads)},
  };
  for (auto& [key, value] : out) value = Name(absl::StripAsciiWhitespace(value), kLongestValue);
  return out;
}

void Describe(const workloads::Workload& workload, const ExecutorHost& host, Session* session) {
  const Digest fingerprint = ToDigest(graph::Fingerprint(*workload.graph));
  session->DescribeGraph(fingerprint,
                         workload.options.regime == graph::Regime::kTraining ? BLZ_REGIME_TRAINING
                                                                             : BLZ_REGIME_FORWARD,
                         Name(workload.name), static_cast<uint32_t>(workload.graph->nodes().size()),
                         GraphDescription(workload));
  Workload out;
  out.name = Name(workload.name);
  out.graphs.push_back(fingerprint);
  for (const fuse::Decision& decision : workload.space.decisions) {
    out.decisions.push_back(DecisionOf(decision));
  }
  out.default_signature = ToDigest(host.base().signature());
  out.default_peak_bytes = static_cast<uint64_t>(host.base().peak_bytes());
  out.default_step_ns = static_cast<uint64_t>(absl::ToInt64Nanoseconds(host.base_step()));
  out.default_build_ns = static_cast<uint64_t>(host.base().build_ns());
  session->DescribeWorkload(out);
}

std::vector<std::string> PlanNames(const fuse::DecisionSpace& space, const fuse::Plan& plan) {
  std::vector<std::string> names;
  for (const fuse::PlanEntry& entry : plan) {
    const auto decision = static_cast<size_t>(entry.decision);
    const auto option = static_cast<size_t>(entry.option);
    if (decision >= space.decisions.size() || option >= space.decisions[decision].options.size()) {
      names.push_back(absl::StrCat(entry.decision, "=", entry.option));
      continue;
    }
    names.push_back(absl::StrCat(space.decisions[decision].name, "=",
                                 space.decisions[decision].options[option].name));
  }
  return names;
}

fuse::Plan AllCut(const fuse::DecisionSpace& space) {
  fuse::Plan plan;
  for (size_t i = 0; i < space.decisions.size(); ++i) {
    if (space.decisions[i].kind == fuse::DecisionKind::kBoundary) {
      plan.push_back({static_cast<int32_t>(i), 1});
    }
  }
  return plan;
}

int BoundaryCount(const fuse::DecisionSpace& space) {
  return static_cast<int>(std::count_if(space.decisions.begin(), space.decisions.end(),
                                        [](const fuse::Decision& decision) {
                                          return decision.kind == fuse::DecisionKind::kBoundary;
                                        }));
}

}  // namespace blazed::trainer
