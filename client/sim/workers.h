// Runs spread over threads. Each run has a seed and a slot of its own, so results do not depend on
// the number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "client/sim/scenarios.h"

namespace blazed::sim {

class Workers {
 public:
  // `all`: runs of the whole scenario, of which progress tells the share that is done.
  Workers(const Request& request, uint64_t all) : request_(request), all_(all) {}

  // body(i) for every i below `count`; the results in order.
  template <class Result, class Body>
  std::vector<Result> Each(uint64_t count, const Body& body) {
    std::vector<Result> results(count);
    Spread(count, [&](uint64_t i) { results[i] = body(i); });
    return results;
  }

 private:
  void Spread(uint64_t count, const std::function<void(uint64_t)>& body);
  void Take(uint64_t count, std::atomic<uint64_t>& next, const std::function<void(uint64_t)>& body);

  const Request& request_;
  uint64_t all_;
  std::mutex progress_;  // guards done_ and the caller's progress
  uint64_t done_ = 0;
};

// The seed of one run; runs of neighbouring seeds share nothing.
inline uint64_t SeedOf(uint64_t seed, uint64_t run) { return seed * 1000003 + run * 31; }

}  // namespace blazed::sim
