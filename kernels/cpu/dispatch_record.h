#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/graph/hash128.h"

namespace blazed::cpu {

// What a variant really ran, one line a block, written by the code that ran it while it ran:
// the block's kind, its operations, rows walked, rows a tile, which implementation of a choice,
// which library call with which sizes. Holds no address, time or name, so equal work gives equal
// text in any process.
class DispatchRecord {
 public:
  void Clear() { lines_.clear(); }
  void Add(std::string line) { lines_.push_back(std::move(line)); }
  const std::vector<std::string>& lines() const { return lines_; }

  // Digest of all lines. Equal signatures are one plan.
  graph::Hash128 Signature() const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace blazed::cpu
