// What blz_session is: the hot words of a step, and behind them link and engine.
#pragma once

#include <memory>
#include <string>

#include "client/cpp/base/clock.h"
#include "client/cpp/engine/engine.h"
#include "client/cpp/transport/fork_guard.h"
#include "client/cpp/transport/link.h"

// Off sessions have no guard, link or engine; their hot word is `off_word`, always zero.
struct blz_session {
  std::atomic<uint32_t>* hot = &off_word;
  uint64_t steps = 0;
  uint64_t handle = 0;  // valid while the hot word is kHotAlive alone
  blazed::shim::ServiceTimer* timer = nullptr;
  std::atomic<uint32_t> off_word{0};

  blazed::shim::Clock clock;
  std::unique_ptr<blazed::shim::ForkGuard> guard;
  std::unique_ptr<blazed::shim::Link> link;
  std::unique_ptr<blazed::shim::Engine> engine;
  std::string off_reason;
  bool inside = false;  // the engine is at work, perhaps inside a callback of the host

  bool InForkedChild() const { return guard != nullptr && guard->InForkedChild(); }
  // Off for good. Nothing is freed: the caller may be inside a callback of the engine.
  void TurnOff(std::string reason) {
    off_reason = std::move(reason);
    hot->store(0, std::memory_order_relaxed);
  }
  bool IsOff() const { return hot->load(std::memory_order_relaxed) == 0; }
};
