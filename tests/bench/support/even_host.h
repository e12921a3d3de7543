// A host whose plans all take the same time: a fixed amount of arithmetic a step. What its steps
// differ by is blazed's.
#pragma once

#include <cstdint>
#include <string>

#include "blazed/blazed.h"

namespace blazed::bench {

class EvenHost {
 public:
  // `rounds`: arithmetic of a step; see Calibrate.
  explicit EvenHost(uint64_t rounds) : rounds_(rounds) {}

  // Rounds that take about `step_ns` on this machine.
  static uint64_t Calibrate(uint64_t step_ns);

  // Options and callbacks for blz_attach; the host outlives the session.
  blz_options Options(const std::string& socket) const;
  blz_host_ops Ops();
  // Describes one graph with `decisions` boundaries. Another `workload` is another graph.
  void Describe(blz_session* session, uint32_t decisions, uint32_t workload = 1);

  // One whole step: begin, arithmetic, end. `session` may be null.
  void Step(blz_session* session);
  // The arithmetic alone.
  void Work();

 private:
  uint64_t rounds_;
  uint64_t next_handle_ = 1;
  double sink_ = 1.0;
};

}  // namespace blazed::bench
