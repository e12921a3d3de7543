#include "kernels/cpu/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/cpu/lower.h"
#include "tests/unit/kernels/support/plans.h"

namespace blazed::cpu {
namespace {

using graph::GraphBuilder;
using graph::OpKind;
using graph::Regime;
using graph::ValueId;

// First and last block in which a tensor must stay.
std::pair<size_t, size_t> Life(const graph::Graph& graph, const Program& program, ValueId id) {
  std::pair<size_t, size_t> life = {program.blocks.size(), 0};
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    for (const graph::NodeId node : program.blocks[b].nodes) {
      const auto& in = graph.node(node).inputs;
      const auto& out = graph.node(node).outputs;
      const bool made = std::find(out.begin(), out.end(), id) != out.end();
      const bool read = std::find(in.begin(), in.end(), id) != in.end();
      if (made) life.first = b;
      if (made || read) life.second = b;
    }
  }
  return life;
}

TEST(MemoryPlan, NeverLetsTwoLivingTensorsShareMemory) {
  GraphBuilder b(Regime::kForward);
  std::mt19937_64 random(77);
  std::vector<ValueId> values = {b.Input("x", {16, 8})};
  for (int i = 0; i < 60; ++i) {
    values.push_back(
        b.Binary(OpKind::kAdd, values[random() % values.size()], values[random() % values.size()]));
  }
  testing::Rig rig = testing::MakeRig(std::move(b), 1);
  for (int round = 0; round < 20; ++round) {
    const fuse::Plan plan = testing::RandomPlan(rig.space, testing::Bits::kAny, 0.5, &random);
    const Program program = Lower(*rig.graph, rig.space, plan, {}, KernelsFor(0));
    for (ValueId a = 1; a < 61; ++a) {
      for (ValueId c = a + 1; c < 61; ++c) {
        const int64_t left = program.offset[static_cast<size_t>(a)];
        const int64_t right = program.offset[static_cast<size_t>(c)];
        if (left < 0 || right < 0 || left + 128 <= right || right + 128 <= left) continue;
        const auto first = Life(*rig.graph, program, a);
        const auto second = Life(*rig.graph, program, c);
        EXPECT_TRUE(first.second < second.first || second.second < first.first)
            << "tensors " << a << " and " << c << " in round " << round;
      }
    }
  }
}

TEST(MemoryPlan, ReusesTheMemoryOfDeadTensors) {
  GraphBuilder b(Regime::kForward);
  ValueId x = b.Input("x", {64, 64});
  for (int i = 0; i < 20; ++i) x = b.Unary(OpKind::kTanh, x);
  testing::Rig rig = testing::MakeRig(std::move(b), 1);
  const Program program =
      Lower(*rig.graph, rig.space, testing::AllCut(rig.space), {}, KernelsFor(0));
  EXPECT_EQ(program.arena_floats, 2 * 64 * 64);
}

}  // namespace
}  // namespace blazed::cpu
