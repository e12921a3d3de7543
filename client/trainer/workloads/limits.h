// The largest sizes of a workload: they keep one tensor below 2^31 elements and a typing error from
// asking for the machine's memory. The smallest are 1.
#pragma once

namespace blazed::workloads {

inline constexpr int kMostWidth = 16384;
inline constexpr int kMostSeq = 4096;
inline constexpr int kMostBatch = 8192;
inline constexpr int kMostLayers = 32;
inline constexpr int kMostHeads = 64;
inline constexpr int kMostThreads = 64;

}  // namespace blazed::workloads
