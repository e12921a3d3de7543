#include "client/sim/workers.h"

#include <algorithm>
#include <thread>

namespace blazed::sim {

void Workers::Take(uint64_t count, std::atomic<uint64_t>& next,
                   const std::function<void(uint64_t)>& body) {
  for (uint64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
    body(i);
    const std::lock_guard<std::mutex> hold(progress_);
    ++done_;
    request_.progress(static_cast<double>(done_) / static_cast<double>(std::max(all_, done_)));
  }
}

void Workers::Spread(uint64_t count, const std::function<void(uint64_t)>& body) {
  std::atomic<uint64_t> next = 0;
  std::vector<std::thread> others;
  const uint64_t wanted = std::min<uint64_t>(std::max(1u, request_.threads), count);
  for (uint64_t t = 1; t < wanted; ++t) {
    others.emplace_back([&] { Take(count, next, body); });
  }
  Take(count, next, body);
  for (std::thread& other : others) other.join();
}

}  // namespace blazed::sim
