#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/fuse/decision.h"
#include "kernels/fuse/form.h"
#include "kernels/fuse/legality.h"
#include "kernels/fuse/names.h"
#include "kernels/fuse/runs.h"

namespace blazed::fuse {
namespace {

using graph::Graph;
using graph::Hash128;
using graph::Node;
using graph::NodeId;
using graph::OpKind;

const char* PhaseName(graph::Phase phase) {
  static constexpr const char* kNames[] = {"fwd", "bwd", "opt"};
  return kNames[static_cast<size_t>(phase)];
}

// Operation names are literals, so their data ends in a zero.
const char* Name(OpKind op) { return graph::OpName(op).data(); }

std::string ShapeText(const graph::Shape& shape) {
  return absl::StrCat(shape.rows, "x", shape.cols);
}

// Collects decisions; places of one class join one decision.
class Collector {
 public:
  Collector(const Graph& graph, DecisionSpace* space) : graph_(graph), space_(*space) {}

  void Boundaries(const std::vector<Run>& runs);
  void Choices(const std::vector<Run>& runs);
  void Names();

 private:
  Decision& Class(const std::string& print);
  void Boundary(const Run& run, size_t at);
  void Attention(NodeId id);
  void Epilogue(NodeId gemm, const Run& following);
  void GemmCall(NodeId id);
  std::string Facts(NodeId id) const;

  const Graph& graph_;
  DecisionSpace& space_;
  std::vector<NameParts> names_;  // by decision
  std::map<Hash128, size_t> by_id_;
};

Decision& Collector::Class(const std::string& print) {
  const Hash128 id = graph::HashText(print);
  const auto [at, fresh] = by_id_.try_emplace(id, space_.decisions.size());
  if (fresh) {
    space_.decisions.emplace_back();
    space_.decisions.back().id = id;
    names_.emplace_back();
  }
  return space_.decisions[at->second];
}

// The operation with its operands' shapes: what a class of GEMMs or attentions has in common.
std::string Collector::Facts(NodeId id) const {
  const Node& node = graph_.node(id);
  std::string text =
      absl::StrCat(Name(node.op), " ", node.attributes.heads, " ", node.attributes.period);
  for (const graph::ValueId in : node.inputs) {
    absl::StrAppend(&text, " ", ShapeText(graph_.value(in).shape));
  }
  return text;
}

void Collector::Boundary(const Run& run, size_t at) {
  const NodeId id = run.nodes[at];
  Decision& decision = Class(absl::StrCat("boundary ", at, "\n", run.print));
  decision.sites.push_back(id);
  if (decision.sites.size() > 1) return;
  const Node& node = graph_.node(id);
  const Node& before = graph_.node(run.nodes[at - 1]);
  decision.kind = DecisionKind::kBoundary;
  decision.topic = Topic::kMerge;
  names_.back() = {PhaseName(node.phase),
                   absl::StrCat(Name(before.op), "|", Name(node.op), " ",
                                ShapeText(graph_.value(node.outputs[0]).shape))};
  decision.description = "run both in one pass over tiles of rows, or each in a pass of its own";
  decision.options = {{"merge", Numerics::kSameBits, "one pass: what lies between stays in cache"},
                      {"cut", Numerics::kSameBits, "two passes through memory"}};
}

void Collector::Boundaries(const std::vector<Run>& runs) {
  for (size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    if (i > 0) {
      space_.refusals.push_back({run.nodes[0], WhyRunEnds(graph_, runs[i - 1], run.nodes[0])});
    }
    for (size_t at = 1; at < run.nodes.size(); ++at) Boundary(run, at);
  }
}

void Collector::Attention(NodeId id) {
  const Node& node = graph_.node(id);
  // The backward node joins its forward node's decision: the weights are saved or recomputed.
  const bool trains = graph_.regime() == graph::Regime::kTraining;
  Decision& decision =
      Class(absl::StrCat("attention ", node.attributes.heads, " ", node.attributes.period, " ",
                         ShapeText(graph_.value(node.inputs[0]).shape), trains ? " training" : ""));
  decision.sites.push_back(id);
  if (decision.sites.size() > 1) return;
  decision.kind = DecisionKind::kChoice;
  decision.topic = Topic::kAttention;
  names_.back() = {"", absl::StrCat("attention ", ShapeText(graph_.value(node.inputs[0]).shape),
                                    " heads ", node.attributes.heads)};
  decision.description = "whether the matrix of attention weights is written to memory";
  decision.options = {
      {"materialised", Numerics::kSameBits,
       "all weights are written, kept and read by the backward"},
      {"streamed", Numerics::kSameBits,
       "blocks of keys are visited in turn and weights are computed again in the backward"}};
}

void Collector::Epilogue(NodeId gemm, const Run& following) {
  if (!WhyNoEpilogue(graph_, gemm, following.nodes[0]).empty()) return;
  Decision& decision = Class(absl::StrCat("epilogue ", Facts(gemm), "\n", following.print));
  decision.sites.push_back(gemm);
  if (decision.sites.size() > 1) return;
  const Node& node = graph_.node(gemm);
  decision.kind = DecisionKind::kChoice;
  decision.topic = Topic::kEpilogue;
  names_.back() = {PhaseName(node.phase),
                   absl::StrCat(Name(node.op), " ", ShapeText(graph_.value(node.outputs[0]).shape),
                                " epilogue")};
  decision.description = "where the block that follows the product runs";
  decision.options = {
      {"after", Numerics::kSameBits, "a pass over the finished product"},
      {"inside", Numerics::kSameBits, "on each panel of rows while it is in cache"}};
}

void Collector::GemmCall(NodeId id) {
  const Node& node = graph_.node(id);
  const int64_t rows = graph_.value(node.inputs[0]).shape.rows;
  const bool transposed = node.op == OpKind::kGemmTN;
  std::vector<Option> options;
  options.push_back(
      transposed ? Option{"segments", Numerics::kSameBits, "fixed segments of rows, ascending"}
                 : Option{"panels", Numerics::kSameBits, "fixed panels of rows"});
  if (rows > (transposed ? kGemmSegmentRows : kGemmPanelRows)) {
    options.push_back({"whole", Numerics::kReordersSums, "one library call; may reorder sums"});
  }
  if (!transposed && graph_.value(node.inputs[0]).shape.cols >= kSplitMinimum) {
    options.push_back({"split_k", Numerics::kReordersSums,
                       "panels over two parts of the inner dimension; reorders sums"});
  }
  if (options.size() < 2) return;
  Decision& decision = Class(absl::StrCat("gemm_call ", Facts(id)));
  decision.sites.push_back(id);
  if (decision.sites.size() > 1) return;
  decision.kind = DecisionKind::kChoice;
  decision.topic = Topic::kGemmCall;
  names_.back() = {PhaseName(node.phase),
                   absl::StrCat(Name(node.op), " ", ShapeText(graph_.value(node.inputs[0]).shape),
                                " by ", ShapeText(graph_.value(node.inputs[1]).shape), " call")};
  decision.description = "how the library is called for this product";
  decision.options = std::move(options);
}

void Collector::Choices(const std::vector<Run>& runs) {
  for (size_t i = 0; i < runs.size(); ++i) {
    const NodeId id = runs[i].nodes[0];
    switch (graph::FormOf(graph_.node(id).op)) {
      case graph::OpForm::kAttention:
        Attention(id);
        break;
      case graph::OpForm::kContraction:
        GemmCall(id);
        if (i + 1 < runs.size()) Epilogue(id, runs[i + 1]);
        break;
      default:
        break;
    }
  }
}

void Collector::Names() {
  std::vector<std::vector<std::string>> places;
  for (const Decision& decision : space_.decisions) {
    places.emplace_back();
    for (const NodeId site : decision.sites) places.back().push_back(graph_.node(site).place);
  }
  const std::vector<std::string> names = UniqueNames(names_, places);
  for (size_t i = 0; i < names.size(); ++i) space_.decisions[i].name = names[i];
}

}  // namespace

absl::Status Enumerate(const Graph& graph, DecisionSpace* space) {
  space->decisions.clear();
  space->refusals.clear();
  const std::vector<Run> runs = FindRuns(graph);
  Collector collector(graph, space);
  collector.Boundaries(runs);
  collector.Choices(runs);
  collector.Names();
  if (space->decisions.size() > static_cast<size_t>(kMaxDecisions)) {
    return absl::InvalidArgumentError(absl::StrCat("the graph has ", space->decisions.size(),
                                                   " decisions, more than ", kMaxDecisions,
                                                   "; use fewer layers of distinct sizes"));
  }
  return absl::OkStatus();
}

int DecisionSpace::Find(const Hash128& id) const {
  for (size_t i = 0; i < decisions.size(); ++i) {
    if (decisions[i].id == id) return static_cast<int>(i);
  }
  return -1;
}

absl::Status CheckPlan(const DecisionSpace& space, const Plan& plan) {
  int before = -1;
  for (const PlanEntry& entry : plan) {
    if (entry.decision <= before || entry.decision >= static_cast<int>(space.decisions.size())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "plan entry for decision ", entry.decision,
          " is out of order or out of range; list each decision of the graph once, ascending"));
    }
    const Decision& decision = space.decisions[static_cast<size_t>(entry.decision)];
    if (entry.option < 1 || entry.option >= static_cast<int>(decision.options.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("option ", entry.option, " of decision ", entry.decision, " (",
                       decision.name, ") is not one of 1 to ", decision.options.size() - 1));
    }
    before = entry.decision;
  }
  return absl::OkStatus();
}

int OptionOf(const Plan& plan, int decision) {
  for (const PlanEntry& entry : plan) {
    if (entry.decision == decision) return entry.option;
  }
  return 0;
}

}  // namespace blazed::fuse
