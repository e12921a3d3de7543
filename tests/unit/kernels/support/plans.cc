#include "tests/unit/kernels/support/plans.h"

#include <gtest/gtest.h>

#include <cstring>

namespace blazed::testing {

std::unique_ptr<cpu::Variant> Rig::Build(const fuse::Plan& plan, const cpu::BuildOptions& options) {
  auto variant = cpu::Variant::Build(model.get(), space, plan, options);
  EXPECT_TRUE(variant.ok()) << variant.status();
  return variant.ok() ? *std::move(variant) : nullptr;
}

Rig MakeRig(std::shared_ptr<const graph::Graph> graph, uint64_t seed) {
  Rig rig;
  rig.graph = std::move(graph);
  EXPECT_TRUE(fuse::Enumerate(*rig.graph, &rig.space).ok());
  auto model = cpu::Model::Create(rig.graph, seed);
  EXPECT_TRUE(model.ok()) << model.status();
  rig.model = *std::move(model);
  rig.inputs = std::make_unique<cpu::StepInputs>(*rig.graph);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  for (size_t i = 0; i < rig.graph->inputs().size(); ++i) {
    const graph::Value& value = rig.graph->value(rig.graph->inputs()[i]);
    for (float& x : rig.inputs->F32(static_cast<int>(i))) x = uniform(random);
    for (int32_t& x : rig.inputs->I32(static_cast<int>(i))) {
      x = static_cast<int32_t>(random() % static_cast<uint64_t>(value.id_limit));
    }
  }
  return rig;
}

Rig MakeRig(graph::GraphBuilder builder, uint64_t seed) {
  std::string error;
  auto graph = builder.Finish(&error);
  EXPECT_TRUE(graph.has_value()) << error;
  return MakeRig(std::make_shared<const graph::Graph>(*std::move(graph)), seed);
}

fuse::Plan RandomPlan(const fuse::DecisionSpace& space, Bits bits, double chance,
                      std::mt19937_64* random) {
  fuse::Plan plan;
  std::bernoulli_distribution leaves(chance);
  for (size_t d = 0; d < space.decisions.size(); ++d) {
    const auto& options = space.decisions[d].options;
    const auto option = static_cast<int>(1 + (*random)() % (options.size() - 1));
    const bool same = options[static_cast<size_t>(option)].numerics == fuse::Numerics::kSameBits;
    if (leaves(*random) && (bits == Bits::kAny || same)) {
      plan.push_back({static_cast<int>(d), option});
    }
  }
  return plan;
}

fuse::Plan AllCut(const fuse::DecisionSpace& space) {
  return Everywhere(space, fuse::Topic::kMerge, "cut");
}

fuse::Plan Everywhere(const fuse::DecisionSpace& space, fuse::Topic topic,
                      const std::string& option) {
  fuse::Plan plan;
  for (size_t d = 0; d < space.decisions.size(); ++d) {
    if (space.decisions[d].topic != topic) continue;
    const auto& options = space.decisions[d].options;
    for (size_t o = 1; o < options.size(); ++o) {
      if (options[o].name == option) plan.push_back({static_cast<int>(d), static_cast<int>(o)});
    }
  }
  return plan;
}

std::vector<std::string> Differences(const std::vector<cpu::ProbeTensor>& a,
                                     const std::vector<cpu::ProbeTensor>& b) {
  std::vector<std::string> names;
  EXPECT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const bool same =
        a[i].name == b[i].name && a[i].f32.size() == b[i].f32.size() && a[i].i32 == b[i].i32 &&
        (a[i].f32.empty() ||
         std::memcmp(a[i].f32.data(), b[i].f32.data(), a[i].f32.size() * sizeof(float)) == 0);
    if (!same) names.push_back(a[i].name);
  }
  return names;
}

const cpu::ProbeTensor& Find(const std::vector<cpu::ProbeTensor>& tensors, const std::string& name,
                             graph::Role role) {
  for (const cpu::ProbeTensor& tensor : tensors) {
    if (tensor.name == name && tensor.role == role) return tensor;
  }
  ADD_FAILURE() << "the probe has no " << name;
  static const cpu::ProbeTensor none;
  return none;
}

}  // namespace blazed::testing
