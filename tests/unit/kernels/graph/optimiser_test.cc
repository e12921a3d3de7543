#include "kernels/graph/optimiser.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/kernels/support/plans.h"

namespace blazed::graph {
namespace {

// loss = mean(p^2) (target zero), so the gradient is 2p/n.
GraphBuilder Bowl(ValueId* p, ValueId* loss) {
  GraphBuilder b(Regime::kTraining);
  *p = b.Parameter("p", {1, 3}, {Initial::Kind::kNormal, 1.0f});
  const ValueId squares = b.Unary(OpKind::kSquare, *p);
  *loss = b.ColumnSum(b.RowSum(squares, 1.0f / 3.0f), 1.0f);
  b.SetLoss(*loss);
  return b;
}

TEST(Adam, FollowsItsDefinitionOverManySteps) {
  ValueId p, loss;
  GraphBuilder b = Bowl(&p, &loss);
  const AdamOptions options = {.rate = 0.05f};
  AppendAdam(&b, AppendBackward(&b, loss), options);
  testing::Rig rig = testing::MakeRig(std::move(b), 3);
  double x[3], m[3] = {}, v[3] = {};
  for (int i = 0; i < 3; ++i) x[i] = rig.model->Data(p)[static_cast<size_t>(i)];
  const auto variant = rig.Build({});
  for (int step = 1; step <= 40; ++step) {
    variant->Run(*rig.inputs);
    for (int i = 0; i < 3; ++i) {
      const double g = 2.0 * x[i] / 3.0;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      const double rate = 0.05 * std::sqrt(1 - std::pow(0.999, step)) / (1 - std::pow(0.9, step));
      x[i] -= rate * m[i] / (std::sqrt(v[i]) + 1e-8);
      EXPECT_NEAR(rig.model->Data(p)[static_cast<size_t>(i)], x[i], 2e-4) << "step " << step;
    }
  }
}

TEST(Sgd, StepsAgainstTheGradient) {
  ValueId p, loss;
  GraphBuilder b = Bowl(&p, &loss);
  AppendSgd(&b, AppendBackward(&b, loss), 0.3f);
  testing::Rig rig = testing::MakeRig(std::move(b), 4);
  const float before = rig.model->Data(p)[1];
  rig.Build({})->Run(*rig.inputs);
  EXPECT_NEAR(rig.model->Data(p)[1], before - 0.3f * 2.0f * before / 3.0f, 1e-6f);
}

}  // namespace
}  // namespace blazed::graph
