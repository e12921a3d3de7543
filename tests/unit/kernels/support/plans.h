#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/model.h"
#include "kernels/cpu/variant.h"
#include "kernels/fuse/decision.h"
#include "kernels/graph/builder.h"

namespace blazed::testing {

// A graph with its decisions, a model and inputs filled from a seed: what most tests of the
// executor start from.
struct Rig {
  std::shared_ptr<const graph::Graph> graph;
  fuse::DecisionSpace space;
  std::unique_ptr<cpu::Model> model;
  std::unique_ptr<cpu::StepInputs> inputs;

  std::unique_ptr<cpu::Variant> Build(const fuse::Plan& plan,
                                      const cpu::BuildOptions& options = {});
};

// Fails the test when the builder has an error.
Rig MakeRig(graph::GraphBuilder builder, uint64_t seed);
Rig MakeRig(std::shared_ptr<const graph::Graph> graph, uint64_t seed);

enum class Bits { kSame, kAny };

// A plan with each decision off its default with the given chance; with kSame only options that
// promise the same bits.
fuse::Plan RandomPlan(const fuse::DecisionSpace& space, Bits bits, double chance,
                      std::mt19937_64* random);

// Every boundary cut.
fuse::Plan AllCut(const fuse::DecisionSpace& space);

// The named option for every decision of `topic` that has it.
fuse::Plan Everywhere(const fuse::DecisionSpace& space, fuse::Topic topic,
                      const std::string& option);

// Names of tensors that are not equal bit for bit.
std::vector<std::string> Differences(const std::vector<cpu::ProbeTensor>& a,
                                     const std::vector<cpu::ProbeTensor>& b);

const cpu::ProbeTensor& Find(const std::vector<cpu::ProbeTensor>& tensors, const std::string& name,
                             graph::Role role);

}  // namespace blazed::testing
