// Messages of a shim, checked and turned into values.
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/rpc/checks.h"
#include "daemon/rpc/convert.h"
#include "daemon/rpc/unique_names.h"

namespace blazed::rpc {
namespace {

using session::Inbound;

// The limits of tuner.proto and plan.proto.
constexpr int kMostDecisions = 512;
constexpr int kMostGraphs = 64;
constexpr int kMostEnvironment = 32;
constexpr int kMostUnits = 256;
constexpr uint64_t kMostVariant = uint64_t{1} << 31;
// Beyond every real build; one more would spend a search's whole budget.
constexpr uint64_t kLongestBuildNs = 3'600'000'000'000;
constexpr uint64_t kMostPeakBytes = uint64_t{1} << 50;
constexpr uint64_t kMostRanks = 1 << 20;
constexpr uint32_t kUnitFlags = 127;
constexpr size_t kMostKernels = 512;
constexpr size_t kMostKernelName = 256;
constexpr uint64_t kMostLaunches = UINT32_MAX;
constexpr uint64_t kMostOfAThread = INT32_MAX;

#define BLAZED_RETURN_IF_ERROR(expr)                \
  do {                                              \
    if (absl::Status s = (expr); !s.ok()) return s; \
  } while (false)

#define BLAZED_ASSIGN_DIGEST(target, field, bytes)                      \
  do {                                                                  \
    absl::StatusOr<planner::Digest> digest = CheckDigest(field, bytes); \
    if (!digest.ok()) return digest.status();                           \
    target = *digest;                                                   \
  } while (false)

std::optional<planner::Mode> ToMode(v1::Mode mode) {
  switch (mode) {
    case v1::MODE_OBSERVE:
      return planner::Mode::kObserve;
    case v1::MODE_TUNE:
      return planner::Mode::kTune;
    case v1::MODE_PINNED:
      return planner::Mode::kPinned;
    default:
      return std::nullopt;
  }
}

// A contract this version does not know is read as the strictest one.
planner::Contract ToContract(v1::Contract contract) {
  switch (contract) {
    case v1::CONTRACT_UNSPECIFIED:
    case v1::CONTRACT_ROUNDING:
      return planner::Contract::kRounding;
    case v1::CONTRACT_PREDICTION:
      return planner::Contract::kPrediction;
    default:
      return planner::Contract::kBitwise;
  }
}

absl::StatusOr<Inbound> From(const v1::Hello& in) {
  session::Hello out;
  if (!in.resume().empty()) {
    out.resume = ParseBytes16(in.resume());
    if (!out.resume) {
      return absl::InvalidArgumentError(
          absl::StrCat("Hello.resume has ", in.resume().size(),
                       " bytes; send the 16 of Welcome.session or none"));
    }
  }
  BLAZED_RETURN_IF_ERROR(CheckText("Hello.job", in.job(), 96));
  BLAZED_RETURN_IF_ERROR(CheckText("Hello.host_name", in.host_name(), 96));
  BLAZED_RETURN_IF_ERROR(CheckText("Hello.shim_version", in.shim_version(), 48));
  BLAZED_RETURN_IF_ERROR(CheckName("Hello.device", in.device(), 1, 96));
  BLAZED_RETURN_IF_ERROR(CheckCount("Hello.world_size", in.world_size(), 0, kMostRanks));
  BLAZED_RETURN_IF_ERROR(
      CheckCount("Hello.rank", in.rank(), 0, in.world_size() == 0 ? 0 : in.world_size() - 1));
  BLAZED_RETURN_IF_ERROR(CheckCount("entries of Hello.environment",
                                    static_cast<uint64_t>(in.environment_size()), 0,
                                    kMostEnvironment));
  for (const v1::EnvironmentEntry& entry : in.environment()) {
    BLAZED_RETURN_IF_ERROR(CheckName("a key of Hello.environment", entry.key(), 1, 48));
    BLAZED_RETURN_IF_ERROR(CheckText("a value of Hello.environment", entry.value(), 160));
    if (!out.environment.emplace(entry.key(), entry.value()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("Hello.environment says ", entry.key(), " twice; say it once"));
    }
  }
  out.resume_epoch = in.resume_epoch();
  out.mode = ToMode(in.mode());
  out.contract = ToContract(in.contract());
  out.job = in.job();
  out.rank = in.rank();
  out.world_size = in.world_size() == 0 ? 1 : in.world_size();
  out.host_name = in.host_name();
  out.shim_version = in.shim_version();
  out.device = in.device();
  out.extra_memory_bytes = in.extra_memory_bytes();
  out.tune_until_steps = in.tune_until_steps();
  out.tune_until_ns = in.tune_until_ns();
  return Inbound(std::move(out));
}

absl::StatusOr<Inbound> From(const v1::GraphSeen& in) {
  session::GraphSeen out;
  BLAZED_ASSIGN_DIGEST(out.row.fingerprint, "GraphSeen.fingerprint", in.fingerprint());
  BLAZED_RETURN_IF_ERROR(CheckText("GraphSeen.name", in.name(), 96));
  BLAZED_RETURN_IF_ERROR(CheckText("GraphSeen.description", in.description(), 4096));
  out.row.name = in.name();
  out.row.description = in.description();
  out.row.nodes = in.nodes();
  out.row.regime =
      in.regime() == v1::REGIME_FORWARD ? storage::Regime::kForward : storage::Regime::kTraining;
  return Inbound(std::move(out));
}

absl::StatusOr<planner::DecisionSpec> From(const v1::Decision& in, int graphs) {
  planner::DecisionSpec out;
  BLAZED_ASSIGN_DIGEST(out.id, "Decision.id", in.id());
  BLAZED_RETURN_IF_ERROR(CheckName("Decision.name", in.name(), 1, 96));
  BLAZED_RETURN_IF_ERROR(
      CheckCount("options of a decision", static_cast<uint64_t>(in.options_size()), 2, 16));
  for (const std::string& option : in.options()) {
    BLAZED_RETURN_IF_ERROR(CheckName("an option of a decision", option, 1, 96));
    out.options.push_back(option);
  }
  BLAZED_RETURN_IF_ERROR(
      CheckCount("Decision.graph", in.graph(), 0, static_cast<uint64_t>(graphs)));
  BLAZED_RETURN_IF_ERROR(CheckCount("Decision.sites", in.sites(), 1, 65535));
  if (in.kind() != v1::DECISION_KIND_BOUNDARY && in.kind() != v1::DECISION_KIND_CHOICE) {
    return absl::InvalidArgumentError("Decision.kind must be boundary or choice");
  }
  out.name = in.name();
  out.kind = in.kind() == v1::DECISION_KIND_BOUNDARY ? planner::DecisionKind::kBoundary
                                                     : planner::DecisionKind::kChoice;
  out.graph = in.graph();
  out.sites = in.sites();
  out.reorders_sums = in.reorders_sums() != 0;
  return out;
}

absl::Status TakeBuildTimes(const v1::Decision& in, size_t decision, std::vector<uint64_t>* out) {
  if (in.build_ns_size() == 0) return absl::OkStatus();
  if (in.build_ns_size() != in.options_size()) {
    return absl::InvalidArgumentError("Decision.build_ns has not one time for each option");
  }
  for (int option = 1; option < in.build_ns_size(); ++option) {
    if (in.build_ns(option) == 0) continue;
    out->resize(decision * planner::kMostOptions + static_cast<size_t>(option) + 1);
    out->back() = in.build_ns(option);
  }
  return absl::OkStatus();
}

absl::StatusOr<Inbound> From(const v1::WorkloadSeen& in) {
  if (in.decisions_size() > kMostDecisions) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the workload has ", in.decisions_size(), " decisions and ", kMostDecisions,
                     " are taken; let identical layers share a decision"));
  }
  if (in.graphs_size() > kMostGraphs) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the workload has ", in.graphs_size(), " graphs and ", kMostGraphs,
                     " are taken; tune a smaller part of the step"));
  }
  session::WorkloadSeen out;
  BLAZED_ASSIGN_DIGEST(out.row.spec.fingerprint, "WorkloadSeen.fingerprint", in.fingerprint());
  BLAZED_RETURN_IF_ERROR(CheckText("WorkloadSeen.name", in.name(), 96));
  BLAZED_RETURN_IF_ERROR(CheckCount("graphs of WorkloadSeen",
                                    static_cast<uint64_t>(in.graphs_size()), 1, kMostGraphs));
  BLAZED_ASSIGN_DIGEST(out.default_signature, "WorkloadSeen.default_signature",
                       in.default_signature());
  out.row.spec.name = in.name();
  for (const std::string& bytes : in.graphs()) {
    planner::Digest graph;
    BLAZED_ASSIGN_DIGEST(graph, "a graph of WorkloadSeen", bytes);
    out.row.graphs.push_back(graph);
  }
  for (const v1::Decision& decision : in.decisions()) {
    absl::StatusOr<planner::DecisionSpec> spec = From(decision, in.graphs_size());
    if (!spec.ok()) return spec.status();
    for (const planner::DecisionSpec& earlier : out.row.spec.decisions) {
      if (earlier.id == spec->id) {
        return absl::InvalidArgumentError(absl::StrCat(
            "two decisions have the id ", ToHex(spec->id), "; equal ids are one class"));
      }
    }
    out.row.spec.decisions.push_back(*std::move(spec));
    BLAZED_RETURN_IF_ERROR(
        TakeBuildTimes(decision, out.row.spec.decisions.size() - 1, &out.build_ns));
  }
  NumberEqualNames(&out.row.spec.decisions);
  out.default_peak_bytes = in.default_peak_bytes();
  out.default_step_ns = in.default_step_ns();
  out.default_build_ns = in.default_build_ns();
  out.queued = in.queued() != 0;
  return Inbound(std::move(out));
}

absl::StatusOr<Inbound> From(const v1::VariantBuilt& in) {
  planner::VariantBuilt out;
  BLAZED_RETURN_IF_ERROR(CheckText("VariantBuilt.reason", in.reason(), 256));
  BLAZED_RETURN_IF_ERROR(CheckCount("VariantBuilt.variant", in.variant(), 1, kMostVariant));
  BLAZED_RETURN_IF_ERROR(CheckCount("VariantBuilt.build_ns", in.build_ns(), 0, kLongestBuildNs));
  BLAZED_RETURN_IF_ERROR(CheckCount("VariantBuilt.peak_bytes", in.peak_bytes(), 0, kMostPeakBytes));
  out.build = in.build_id();
  out.variant = in.variant();
  out.status = in.status() == v1::BUILD_STATUS_OK       ? planner::BuildStatus::kOk
               : in.status() == v1::BUILD_STATUS_MEMORY ? planner::BuildStatus::kMemory
                                                        : planner::BuildStatus::kFailed;
  if (out.status == planner::BuildStatus::kOk) {
    BLAZED_ASSIGN_DIGEST(out.signature, "VariantBuilt.signature", in.signature());
  }
  out.reason = in.reason();
  out.build_ns = in.build_ns();
  out.peak_bytes = in.peak_bytes();
  return Inbound(std::move(out));
}

// An equivalence this version does not know proves nothing.
planner::Equivalence ToEquivalence(v1::Equivalence equivalence) {
  switch (equivalence) {
    case v1::EQUIVALENCE_NOTHING_TO_CHECK:
      return planner::Equivalence::kNothingToCheck;
    case v1::EQUIVALENCE_IDENTICAL:
      return planner::Equivalence::kIdentical;
    case v1::EQUIVALENCE_ROUNDING:
      return planner::Equivalence::kRounding;
    case v1::EQUIVALENCE_REJECTED_DIFFERENT:
      return planner::Equivalence::kRejectedDifferent;
    case v1::EQUIVALENCE_REJECTED_BROKEN:
      return planner::Equivalence::kRejectedBroken;
    default:
      return planner::Equivalence::kInconclusive;
  }
}

absl::StatusOr<planner::ComparisonSummary> From(const v1::ComparisonSummary& in) {
  planner::ComparisonSummary out;
  BLAZED_RETURN_IF_ERROR(CheckReal("ComparisonSummary.max_abs", in.max_abs()));
  BLAZED_RETURN_IF_ERROR(CheckReal("ComparisonSummary.max_rel", in.max_rel()));
  BLAZED_RETURN_IF_ERROR(CheckReal("ComparisonSummary.own_max_rel", in.own_max_rel()));
  BLAZED_RETURN_IF_ERROR(CheckReal("ComparisonSummary.allowed_max_rel", in.allowed_max_rel()));
  BLAZED_RETURN_IF_ERROR(CheckText("ComparisonSummary.worst_tensor", in.worst_tensor(), 96));
  // A probe that could not run has no digests.
  if (!in.digest_default().empty()) {
    BLAZED_ASSIGN_DIGEST(out.digest_default, "ComparisonSummary.digest_default",
                         in.digest_default());
  }
  if (!in.digest_variant().empty()) {
    BLAZED_ASSIGN_DIGEST(out.digest_variant, "ComparisonSummary.digest_variant",
                         in.digest_variant());
  }
  out.equivalence = ToEquivalence(in.equivalence());
  out.elements = in.elements();
  out.mismatches = in.mismatches();
  out.max_abs = in.max_abs();
  out.max_rel = in.max_rel();
  out.max_ulp = in.max_ulp();
  out.nan_default = in.nan_default();
  out.nan_variant = in.nan_variant();
  out.inf_default = in.inf_default();
  out.inf_variant = in.inf_variant();
  out.prediction_disagreements = in.prediction_disagreements();
  out.own_max_rel = in.own_max_rel();
  out.allowed_max_rel = in.allowed_max_rel();
  out.worst_tensor = in.worst_tensor();
  return out;
}

absl::StatusOr<Inbound> From(const v1::ProbeDone& in) {
  planner::ProbeDone out;
  absl::StatusOr<planner::ComparisonSummary> summary = From(in.summary());
  if (!summary.ok()) return summary.status();
  BLAZED_RETURN_IF_ERROR(CheckCount("ProbeDone.variant", in.variant(), 0, kMostVariant));
  out.probe = in.probe_id();
  out.variant = in.variant();
  out.summary = *std::move(summary);
  out.probe_ns = in.probe_ns();
  out.passed_batches = in.passed_batches();
  return Inbound(std::move(out));
}

absl::StatusOr<Inbound> From(const v1::StepsDone& in) {
  planner::LeaseDone out;
  BLAZED_RETURN_IF_ERROR(
      CheckCount("units of StepsDone", static_cast<uint64_t>(in.units_size()), 0, kMostUnits));
  for (const v1::UnitTime& unit : in.units()) {
    // Flags this version does not know are some event: the pair does not count.
    const uint32_t known = unit.flags() & kUnitFlags;
    const uint32_t unknown = unit.flags() & ~kUnitFlags;
    out.units.push_back({unit.host_ns(), unit.device_ns(),
                         unknown != 0 ? known | v1::UNIT_FLAG_CLOCK_EVENT : known});
  }
  out.lease = in.lease_id();
  out.first_step = in.first_step();
  out.drain_ns = in.drain_ns();
  out.complete = in.complete() != 0;
  if (in.has_run_ahead()) out.run_ahead = in.run_ahead();
  return Inbound(std::move(out));
}

planner::Refusal ToRefusal(v1::RefusalReason reason) {
  switch (reason) {
    case v1::REFUSAL_REASON_NOT_PROVEN:
      return planner::Refusal::kNotProven;
    case v1::REFUSAL_REASON_UNKNOWN_VARIANT:
      return planner::Refusal::kUnknownVariant;
    case v1::REFUSAL_REASON_OVER_LIMIT:
      return planner::Refusal::kOverLimit;
    case v1::REFUSAL_REASON_NOT_TUNING:
      return planner::Refusal::kNotTuning;
    case v1::REFUSAL_REASON_MEMORY:
      return planner::Refusal::kMemory;
    case v1::REFUSAL_REASON_REJECTED_EARLIER:
      return planner::Refusal::kRejectedEarlier;
    default:
      return planner::Refusal::kMalformed;
  }
}

absl::StatusOr<Inbound> From(const v1::DirectiveRefused& in) {
  planner::DirectiveRefused out;
  BLAZED_RETURN_IF_ERROR(CheckText("DirectiveRefused.detail", in.detail(), 256));
  BLAZED_RETURN_IF_ERROR(CheckCount("DirectiveRefused.variant", in.variant(), 0, kMostVariant));
  out.directive = in.directive_id();
  out.variant = in.variant();
  out.reason = ToRefusal(in.reason());
  out.detail = in.detail();
  return Inbound(std::move(out));
}

absl::StatusOr<Inbound> From(const v1::ServiceWindow& in) {
  planner::ServiceWindow out;
  BLAZED_RETURN_IF_ERROR(CheckCount("ServiceWindow.variant", in.variant(), 0, kMostVariant));
  out.variant = in.variant();
  out.first_step = in.first_step();
  out.steps = in.steps();
  out.host_ns = in.host_ns();
  out.median_step_ns = in.median_step_ns();
  return Inbound(std::move(out));
}

absl::StatusOr<Inbound> From(const v1::Adopted& in) {
  planner::VariantAdopted out;
  BLAZED_RETURN_IF_ERROR(CheckCount("Adopted.variant", in.variant(), 0, kMostVariant));
  out.adopt = in.adopt_id();
  out.variant = in.variant();
  out.from_step = in.from_step();
  return Inbound(std::move(out));
}

// Of a number that may be absent.
#define BLAZED_TAKE_COUNT(out, in, field, most)                                      \
  do {                                                                               \
    BLAZED_RETURN_IF_ERROR(CheckCount("a kernel's " #field, (in).field(), 0, most)); \
    if ((in).has_##field()) (out).field = (in).field();                              \
  } while (false)

absl::StatusOr<storage::KernelUse> From(const v1::KernelUse& in) {
  storage::KernelUse out;
  if (in.name().empty()) return absl::InvalidArgumentError("a kernel has no name; send one");
  BLAZED_RETURN_IF_ERROR(CheckText("a kernel's name", in.name(), kMostKernelName));
  out.name = in.name();
  BLAZED_TAKE_COUNT(out, in, launches, kMostLaunches);
  BLAZED_TAKE_COUNT(out, in, time_ns, kLongestBuildNs);
  BLAZED_TAKE_COUNT(out, in, read_bytes, kMostPeakBytes);
  BLAZED_TAKE_COUNT(out, in, written_bytes, kMostPeakBytes);
  BLAZED_TAKE_COUNT(out, in, registers, kMostOfAThread);
  BLAZED_TAKE_COUNT(out, in, spill_bytes, kMostOfAThread);
  BLAZED_TAKE_COUNT(out, in, shared_bytes, kMostOfAThread);
  return out;
}

absl::StatusOr<storage::StepKernels> From(const v1::StepKernels& in) {
  storage::StepKernels out;
  BLAZED_TAKE_COUNT(out.totals, in.totals(), step_ns, kLongestBuildNs);
  BLAZED_TAKE_COUNT(out.totals, in.totals(), busy_ns, kLongestBuildNs);
  BLAZED_TAKE_COUNT(out.totals, in.totals(), kernel_launches, kMostLaunches);
  BLAZED_TAKE_COUNT(out.totals, in.totals(), host_launches, kMostLaunches);
  BLAZED_RETURN_IF_ERROR(
      CheckCount("kernels of a step", static_cast<uint64_t>(in.kernels_size()), 0, kMostKernels));
  std::set<std::string_view> names;
  for (const v1::KernelUse& kernel : in.kernels()) {
    absl::StatusOr<storage::KernelUse> use = From(kernel);
    if (!use.ok()) return use.status();
    if (!names.insert(kernel.name()).second) {
      return absl::InvalidArgumentError(
          "two kernels of a step have one name; send all launches of a name together");
    }
    out.kernels.push_back(*std::move(use));
  }
  return out;
}

#undef BLAZED_TAKE_COUNT

absl::StatusOr<Inbound> From(const v1::KernelsSeen& in) {
  session::KernelsSeen out;
  BLAZED_RETURN_IF_ERROR(CheckCount("KernelsSeen.variant", in.variant(), 1, kMostVariant));
  out.variant = in.variant();
  absl::StatusOr<storage::StepKernels> before = From(in.before());
  if (!before.ok()) return before.status();
  absl::StatusOr<storage::StepKernels> after = From(in.after());
  if (!after.ok()) return after.status();
  out.before = *std::move(before);
  out.after = *std::move(after);
  return Inbound(std::move(out));
}

absl::StatusOr<Inbound> From(const v1::Bye& in) {
  session::Bye out;
  BLAZED_RETURN_IF_ERROR(CheckText("Bye.reason", in.reason(), 96));
  out.steps = in.steps();
  out.reason = in.reason();
  return Inbound(std::move(out));
}

#undef BLAZED_RETURN_IF_ERROR
#undef BLAZED_ASSIGN_DIGEST

absl::StatusOr<std::optional<Inbound>> Some(absl::StatusOr<Inbound> message) {
  if (!message.ok()) return message.status();
  return std::optional<Inbound>(*std::move(message));
}

}  // namespace

absl::StatusOr<std::optional<Inbound>> FromProto(const v1::ShimMessage& message) {
  switch (message.body_case()) {
    case v1::ShimMessage::kHello:
      return Some(From(message.hello()));
    case v1::ShimMessage::kGraphSeen:
      return Some(From(message.graph_seen()));
    case v1::ShimMessage::kWorkloadSeen:
      return Some(From(message.workload_seen()));
    case v1::ShimMessage::kVariantBuilt:
      return Some(From(message.variant_built()));
    case v1::ShimMessage::kProbeDone:
      return Some(From(message.probe_done()));
    case v1::ShimMessage::kStepsDone:
      return Some(From(message.steps_done()));
    case v1::ShimMessage::kDirectiveRefused:
      return Some(From(message.directive_refused()));
    case v1::ShimMessage::kServiceWindow:
      return Some(From(message.service_window()));
    case v1::ShimMessage::kAdopted:
      return Some(From(message.adopted()));
    case v1::ShimMessage::kKernelsSeen:
      return Some(From(message.kernels_seen()));
    case v1::ShimMessage::kBye:
      return Some(From(message.bye()));
    case v1::ShimMessage::BODY_NOT_SET:
      break;
  }
  return std::optional<Inbound>();
}

}  // namespace blazed::rpc
