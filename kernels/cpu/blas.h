#pragma once

#include <cblas.h>

#include <string>

#include "absl/status/status.h"

namespace blazed::cpu {

// The two functions used of OpenBLAS, which is loaded at run time: its choice of kernels is made
// while it is loaded and can be steered only before. Version 0.3.21 does not know processors
// younger than itself and falls back to kernels of 2004 on them (on an Emerald Rapids, ten times
// slower).
struct Blas {
  decltype(&cblas_sgemm) sgemm = nullptr;
  std::string kernels;  // the library's name for the processor, such as "SkylakeX"
};

// Loads the library once a process, with one thread and, unless the user's OPENBLAS_CORETYPE says
// otherwise, kernels for what the processor can do. Changes the environment for the moment of
// loading, so the first call comes before threads that read it. NOT_FOUND with the package to
// install when the library is missing; asking again gives the same answer.
absl::Status LoadBlas();

// The loaded library; LoadBlas() must have succeeded.
const Blas& LoadedBlas();

}  // namespace blazed::cpu
