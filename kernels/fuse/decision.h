#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernels/fuse/plan.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/hash128.h"

namespace blazed::fuse {

inline constexpr int kMaxDecisions = 512;
inline constexpr int kMaxOptions = 16;
inline constexpr size_t kLongestName = 96;

enum class DecisionKind : uint8_t {
  kBoundary,  // option 0 `merge`, option 1 `cut`
  kChoice,    // one of n named options
};

// What a decision is about.
enum class Topic : uint8_t {
  kMerge,      // a boundary between two neighbours
  kAttention,  // `materialised`, `streamed`
  kEpilogue,   // of a GEMM: `after`, `inside`
  kGemmCall,   // `panels` (or `segments`), `whole`, `split_k`
  kThreads,    // of the whole step: how many share its rows
};

// Whether an option can change a bit of the result.
enum class Numerics : uint8_t {
  kSameBits,      // promised: bit-identical to option 0
  kReordersSums,  // differs by what re-ordering f32 additions explains
};

struct Option {
  std::string name;
  Numerics numerics = Numerics::kSameBits;
  std::string description;  // one sentence, says "reorders sums" where it does
};

// One place where the host could do otherwise, or a class of equal places. Owned by its space.
struct Decision {
  graph::Hash128 id;  // class hash: equal for equal places in any graph, process and machine
  DecisionKind kind = DecisionKind::kBoundary;
  Topic topic = Topic::kMerge;
  // For people, such as "bwd layer*/norm1 multiply|row_sum 512x128": no two of a space are equal,
  // at most kLongestName bytes.
  std::string name;
  std::string description;      // one sentence
  std::vector<Option> options;  // [0] is the host's own
  // For a boundary: the node after the boundary, one a site. For a choice: the node it is about
  // (attention lists the forward and the backward node). None where it is the whole step's.
  std::vector<graph::NodeId> sites;
};

// A boundary the host may never merge, with the reason.
struct Refusal {
  graph::NodeId node = graph::kNone;  // the node after the boundary
  std::string reason;
};

// All decisions of a graph, in program order of their first site.
struct DecisionSpace {
  std::vector<Decision> decisions;
  std::vector<Refusal> refusals;

  // Index of the decision with this id, or -1.
  int Find(const graph::Hash128& id) const;
};

// Every legal merge between neighbours in program order and every choice of `graph`.
//
// The host's fixed rule (option 0 everywhere): merge each pair of neighbours that may legally
// merge; call the library for a GEMM in fixed row panels and run what follows as a pass of its own;
// materialise attention. It is what frameworks with a greedy fuser do. Fails with
// INVALID_ARGUMENT when the graph has more than kMaxDecisions decisions: use fewer distinct layers.
absl::Status Enumerate(const graph::Graph& graph, DecisionSpace* space);

// INVALID_ARGUMENT with the offending entry unless `plan` is sorted, in range and without defaults.
absl::Status CheckPlan(const DecisionSpace& space, const Plan& plan);

// Option of `decision` under `plan`; 0 where the plan is silent.
int OptionOf(const Plan& plan, int decision);

}  // namespace blazed::fuse
