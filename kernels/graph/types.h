#pragma once

#include <compare>
#include <cstdint>

namespace blazed::graph {

// Indices into Graph::values() and Graph::nodes(). -1 is "none".
using ValueId = int32_t;
using NodeId = int32_t;
inline constexpr int32_t kNone = -1;

enum class DType : uint8_t {
  kF32,
  kI32,  // token ids and class labels only
};

// Every tensor is a dense row-major matrix. A row vector is [1, cols], one number a row is
// [rows, 1], a scalar is [1, 1].
struct Shape {
  int64_t rows = 0;
  int64_t cols = 0;

  int64_t elements() const { return rows * cols; }
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

// Where a value comes from and who owns its memory.
enum class ValueKind : uint8_t {
  kInput,      // filled by the host before each step
  kParameter,  // owned by the model, changed by the optimiser
  kState,      // optimiser state, owned by the model
  kComputed,   // made by a node; a variant owns its memory
};

// The part of a step a node belongs to. Program order is forward, backward, optimiser.
enum class Phase : uint8_t { kForward, kBackward, kOptimiser };

enum class Regime : uint8_t {
  kTraining,  // forward, backward and optimiser
  kForward,   // forward only
};

// What a probe compares a value as (see cpu::ProbeTensor).
enum class Role : uint8_t { kOutput, kGradient, kPrediction, kLoss };

}  // namespace blazed::graph
