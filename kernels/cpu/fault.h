#pragma once

#include <cstdint>

#include "kernels/graph/hash128.h"

namespace blazed::cpu {

// A wrong variant, for tests of what must catch it: set in BuildOptions by test code only, no
// program and no option of a program sets it.
struct Fault {
  enum class Kind : uint8_t {
    kDropLastTile,    // blocks over rows leave their last tile undone
    kNan,             // the first element of the loss and of every output and gradient is NaN
    kReorderSums,     // row sums run from the last column to the first
    kForgeSignature,  // computes rightly and claims another variant's signature
  };
  Kind kind = Kind::kDropLastTile;
  graph::Hash128 claimed_signature;  // kForgeSignature
};

}  // namespace blazed::cpu
