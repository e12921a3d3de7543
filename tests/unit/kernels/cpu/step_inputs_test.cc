#include "kernels/cpu/step_inputs.h"

#include <gtest/gtest.h>

#include "kernels/graph/builder.h"

namespace blazed::cpu {
namespace {

TEST(StepInputs, HoldsEveryInputInItsDtype) {
  graph::GraphBuilder b(graph::Regime::kForward);
  const graph::ValueId x = b.Input("x", {2, 3});
  const graph::ValueId ids = b.InputIds("ids", 2, 5);
  b.Binary(graph::OpKind::kGather, x, ids);
  StepInputs inputs(b.graph());
  EXPECT_EQ(inputs.F32(0).size(), 6u);
  EXPECT_EQ(inputs.I32(1).size(), 2u);
  EXPECT_TRUE(inputs.F32(1).empty());
  EXPECT_EQ(inputs.data(0), inputs.F32(0).data());
}

TEST(StepInputs, RefusesIdsOutsideTheTable) {
  graph::GraphBuilder b(graph::Regime::kForward);
  const graph::ValueId table = b.Input("table", {5, 3});
  b.Binary(graph::OpKind::kGather, table, b.InputIds("ids", 2, 5));
  StepInputs inputs(b.graph());
  EXPECT_TRUE(inputs.Check().ok());
  for (const int32_t id : {5, -1, INT32_MAX}) {
    inputs.I32(1)[1] = id;
    EXPECT_EQ(inputs.Check().code(), absl::StatusCode::kInvalidArgument) << id;
  }
}

}  // namespace
}  // namespace blazed::cpu
