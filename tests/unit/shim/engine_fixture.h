// An engine on a fake host under a scripted daemon, with a workload of one choice of ten options.
#pragma once

#include <memory>
#include <vector>

#include "tests/unit/shim/fakes.h"

namespace blazed::shim {

class EngineTest : public testing::Test {
 protected:
  EngineTest() {
    daemon.clock = &clock;
    daemon.hot = &hot;
    config.mode = BLZ_MODE_TUNE;
    config.point_budget_ns = 1'000'000;
    config.total_budget_ns = kNever;
    config.probe_memory_bytes = 1 << 20;
  }

  // Attached, described, nothing ordered yet.
  void Start(WireMode granted = WireMode::kTune) {
    if (!ops.build) ops = host.Ops();
    engine = std::make_unique<Engine>(config, ops, clock, hot, daemon);
    daemon.Welcomes(granted);
    Describe();
    engine->Poll();
  }

  void Describe() {
    blz_graph graph{};
    graph.struct_size = sizeof graph;
    graph.fingerprint[0] = 7;
    graph.regime = BLZ_REGIME_TRAINING;
    graph.name = "graph";
    ASSERT_EQ(engine->DescribeGraph(&graph), BLZ_OK);
    static const char* const kOptions[] = {"host", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    blz_decision decision{};
    decision.name = "choice";
    decision.kind = BLZ_CHOICE;
    decision.options = kOptions;
    decision.option_count = 10;
    decision.graph = 1;
    decision.sites = 1;
    blz_workload workload{};
    workload.struct_size = sizeof workload;
    workload.name = "workload";
    workload.graphs = &graph.fingerprint;
    workload.graph_count = 1;
    workload.decisions = &decision;
    workload.decision_bytes = sizeof decision;
    workload.decision_count = 1;
    std::fill(std::begin(workload.default_signature), std::end(workload.default_signature), 100);
    workload.default_peak_bytes = 1000;
    ASSERT_EQ(engine->DescribeWorkload(&workload), BLZ_OK);
  }

  // One step as api.cc would run it; returns the handle it ran.
  uint64_t Step(uint64_t ns = 1000, uint32_t flags = 0) {
    ++step;
    const uint64_t handle = engine->BeginStep(step);
    ran.push_back(handle);
    clock.now += ns;
    engine->EndStep(step, flags);
    return handle;
  }
  void Steps(int count) {
    for (int i = 0; i < count; ++i) Step();
  }

  static Plan PlanOf(Behaviour behaviour) { return {{0, static_cast<uint32_t>(behaviour)}}; }

  void OrderBuild(uint32_t variant, Behaviour behaviour, uint32_t rebuild_of = 0) {
    daemon.Orders(Build{1000 + variant, variant, PlanOf(behaviour), rebuild_of});
  }
  void OrderProbe(uint32_t variant, uint32_t batches = 3) {
    daemon.Orders(Probe{2000 + variant, {variant}, batches});
  }
  void OrderPairs(uint64_t lease, uint32_t champion, uint32_t challenger, uint32_t pairs = 2,
                  uint64_t abort_step_ns = 0) {
    RunPairs run;
    run.lease_id = lease;
    run.champion = champion;
    run.challenger = challenger;
    run.pairs = pairs;
    run.challenger_first.assign((pairs + 7) / 8, 0b10);
    run.timed_steps = 1;
    run.abort_step_ns = abort_step_ns;
    daemon.Orders(run);
  }
  void OrderAdopt(uint32_t variant, bool settled = false) {
    Adopt adopt;
    adopt.adopt_id = 4000 + variant;
    adopt.variant = variant;
    adopt.settled = settled;
    adopt.settlement = settled ? 1 : 0;
    daemon.Orders(adopt);
  }
  // Builds and proves a variant; its handle.
  uint64_t Prove(uint32_t variant, Behaviour behaviour) {
    OrderBuild(variant, behaviour);
    OrderProbe(variant);
    Steps(4);
    const auto done = daemon.Sent(v1::ShimMessage::kProbeDone);
    const bool proven = !done.empty() && done.back().probe_done().passed_batches() >= 3;
    EXPECT_TRUE(proven);
    ran.clear();
    return host.next_handle - 1;
  }
  v1::RefusalReason LastRefusal() const {
    const auto refusals = daemon.Refusals();
    return refusals.empty() ? v1::REFUSAL_REASON_UNSPECIFIED : refusals.back().reason();
  }
  v1::Equivalence LastVerdict() const {
    const auto done = daemon.Sent(v1::ShimMessage::kProbeDone);
    return done.empty() ? v1::EQUIVALENCE_UNSPECIFIED
                        : done.back().probe_done().summary().equivalence();
  }

  FakeClock clock;
  FakeHost host{&clock};
  ScriptedDaemon daemon;
  std::atomic<uint32_t> hot{kHotAlive};
  Config config;
  blz_host_ops ops{};
  std::unique_ptr<Engine> engine;
  uint64_t step = 0;
  std::vector<uint64_t> ran;
};

}  // namespace blazed::shim
