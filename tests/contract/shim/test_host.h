// A small host on the installed interface: one choice of three options, a check computation of 256
// numbers, steps that take no time.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "blazed/blazed.hpp"

namespace blazed::contract {

class TestHost : public Host {
 public:
  int Build(std::span<const blz_choice> choices, blz_built& built) override {
    built.handle = ++last_handle;
    built.signature[0] = static_cast<uint8_t>(10 + built.handle);
    live[built.handle] = choices.empty() ? 0 : choices[0].option;
    return BLZ_BUILD_OK;
  }
  void Drop(uint64_t handle) override { live.erase(handle); }
  bool Probe(uint64_t handle, ProbeSink& sink) override {
    std::vector<float> values(256, 1.5f);
    if (handle != 0 && live[handle] == 2) values[255] = 0;  // option 2 drops the last tile
    sink.Tensor("output", BLZ_OUTPUT, values);
    return true;
  }
  Digest Signature(uint64_t handle) override {
    return {static_cast<uint8_t>(handle == 0 ? 1 : 10 + handle)};
  }

  bool TellsKernels() const override { return true; }
  void WantKernels(uint64_t handle) override { wanted_kernels = handle; }

  void Describe(Session& session) {
    ASSERT_EQ(session.DescribeGraph({7}, BLZ_REGIME_TRAINING, "graph", 3), BLZ_OK);
    Workload workload;
    workload.name = "workload";
    workload.graphs = {{7}};
    workload.decisions.push_back({{1}, "choice", BLZ_CHOICE, {"host", "good", "bad"}, 1});
    workload.default_signature = {1};
    ASSERT_EQ(session.DescribeWorkload(workload), BLZ_OK);
  }

  uint64_t Step(Session& session) {
    const uint64_t handle = session.StepBegin();
    EXPECT_TRUE(handle == 0 || live.count(handle) == 1);
    session.StepEnd();
    return handle;
  }

  // Runs steps until `done`; fails the test after 20 seconds.
  bool StepUntil(Session& session, const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "did not happen; reason: " << session.Reason();
        return false;
      }
      Step(session);
      sched_yield();
    }
    return true;
  }

  std::map<uint64_t, uint32_t> live;
  uint64_t last_handle = 0;
  uint64_t wanted_kernels = 0;
};

}  // namespace blazed::contract
