#include "kernels/cpu/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cpu/counter_random.h"
#include "kernels/graph/builder.h"

namespace blazed::cpu {
namespace {

std::shared_ptr<const graph::Graph> OneParameter() {
  graph::GraphBuilder b(graph::Regime::kForward);
  const graph::ValueId p = b.Parameter("p", {50, 60}, {graph::Initial::Kind::kNormal, 2.0f});
  b.Unary(graph::OpKind::kTanh, p);
  std::string error;
  return std::make_shared<const graph::Graph>(*b.Finish(&error));
}

TEST(Model, StartsTheSameFromTheSameSeed) {
  const auto graph = OneParameter();
  EXPECT_EQ((*Model::Create(graph, 1))->Digest(), (*Model::Create(graph, 1))->Digest());
  EXPECT_NE((*Model::Create(graph, 1))->Digest(), (*Model::Create(graph, 2))->Digest());
}

TEST(Model, NoticesOneFlippedBitInItsDigest) {
  auto model = *Model::Create(OneParameter(), 1);
  const graph::Hash128 before = model->Digest();
  float& x = model->Data(0)[17];
  x = std::nextafter(x, 10.0f);
  EXPECT_NE(model->Digest(), before);
}

TEST(Model, DrawsParametersWithTheAskedSpread) {
  auto model = *Model::Create(OneParameter(), 1);
  double sum = 0.0, squares = 0.0;
  for (const float x : model->Data(0)) {
    sum += x;
    squares += static_cast<double>(x) * x;
  }
  EXPECT_NEAR(sum / 3000, 0.0, 0.15);
  EXPECT_NEAR(std::sqrt(squares / 3000), 2.0, 0.1);
}

TEST(CounterRandom, DoesNotDependOnWhatWasDrawnBefore) {
  const float later = UniformAt(7, 3, 1000);
  for (uint64_t i = 0; i < 10; ++i) UniformAt(7, 3, i);
  EXPECT_EQ(UniformAt(7, 3, 1000), later);
  EXPECT_NE(UniformAt(7, 4, 1000), later);
}

}  // namespace
}  // namespace blazed::cpu
