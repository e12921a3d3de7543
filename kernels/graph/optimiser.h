#pragma once

#include "kernels/graph/autodiff.h"
#include "kernels/graph/builder.h"

namespace blazed::graph {

struct AdamOptions {
  float rate = 1e-3f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
};

// Appends Adam (Kingma and Ba, 2015, the efficient form at the end of section 2: the bias
// correction goes into the rate) as a chain of elementwise operations a parameter, in the order of
// `gradients`. The powers of the betas are state, so a step needs no function of the step number.
void AppendAdam(GraphBuilder* builder, const Gradients& gradients, const AdamOptions& options);

// Appends p - rate * g for every parameter.
void AppendSgd(GraphBuilder* builder, const Gradients& gradients, float rate);

}  // namespace blazed::graph
