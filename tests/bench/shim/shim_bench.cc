// The shim's own cost a step, in each state, against a step of nothing. The daemon's side is a
// queue in memory, so that the exploring arm holds leases without end.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "client/cpp/session.h"
#include "kernels/equivalence/compare.h"

namespace blazed::shim {
namespace {

// Welcomes once; hands out a lease of 128 pairs of the default against itself whenever it is asked
// for more, where the arm explores.
class EndlessDaemon final : public Channel {
 public:
  explicit EndlessDaemon(bool leases) : leases_(leases) {}
  bool Send(Outgoing&& message) override {
    if (message.kind == OutgoingKind::kAnswer) owed_ = leases_;
    return true;
  }
  bool Receive(Directive& directive) override {
    if (!owed_) return false;
    owed_ = false;
    directive.body = RunPairs{++lease_, 0, 0, 128, std::vector<uint8_t>(16, 0x5a), 0, 1, 0, 0};
    directive.generation = 1;
    directive.received_ns = MonotonicNs();
    return true;
  }
  bool TakeLinkState(LinkState& state) override {
    if (welcomed_) return false;
    welcomed_ = true;
    state.stage = LinkStage::kUp;
    state.generation = 1;
    state.welcome.mode = WireMode::kTune;
    return true;
  }
  bool TakeStand(StandOrder&) override { return false; }
  bool TakeProgress(Progress&) override { return false; }

 private:
  const bool leases_;
  bool owed_ = true;
  bool welcomed_ = false;
  uint64_t lease_ = 0;
};

// A session put together without a link.
class Bench {
 public:
  explicit Bench(bool leases) : daemon_(leases) {
    session.guard = ForkGuard::Create();
    session.hot = &session.guard->hot();
    session.hot->store(kHotAlive);
    blz_host_ops ops{};
    ops.signature = [](void*, uint64_t, uint8_t* out) {
      std::fill_n(out, 16, uint8_t{0});
      out[0] = 1;
    };
    session.engine = std::make_unique<Engine>(Config{}, ops, session.clock, *session.hot, daemon_);
    session.timer = &session.engine->timer();
    Describe();
    if (leases) session.hot->fetch_or(kHotAttention);
  }
  ~Bench() { session.hot = &session.off_word; }

  blz_session session;

 private:
  void Describe() {
    blz_graph graph{};
    graph.struct_size = sizeof graph;
    graph.regime = BLZ_REGIME_TRAINING;
    session.engine->DescribeGraph(&graph);
    static const char* const kOptions[] = {"host", "other"};
    blz_decision decision{};
    decision.name = "choice";
    decision.kind = BLZ_CHOICE;
    decision.options = kOptions;
    decision.option_count = 2;
    decision.sites = 1;
    blz_workload workload{};
    workload.struct_size = sizeof workload;
    workload.graphs = &graph.fingerprint;
    workload.graph_count = 1;
    workload.decisions = &decision;
    workload.decision_bytes = sizeof decision;
    workload.decision_count = 1;
    workload.default_signature[0] = 1;
    session.engine->DescribeWorkload(&workload);
  }
  EndlessDaemon daemon_;
};

void Step(blz_session* session) {
  benchmark::DoNotOptimize(blz_step_begin(session));
  blz_step_end(session, 0);
}

void Off(benchmark::State& state) {
  blz_session session;
  for (auto _ : state) Step(&session);
}
BENCHMARK(Off)->Name("off");

void Settled(benchmark::State& state) {
  Bench bench(false);
  Step(&bench.session);  // takes the welcome
  for (auto _ : state) Step(&bench.session);
  if (bench.session.hot->load() != kHotAlive) state.SkipWithError("the session is not settled");
}
BENCHMARK(Settled)->Name("settled");

void Exploring(benchmark::State& state) {
  Bench bench(true);
  for (auto _ : state) {
    // The link would raise it with each directive.
    bench.session.hot->fetch_or(kHotAttention, std::memory_order_relaxed);
    Step(&bench.session);
  }
  blz_status_info info{};
  bench.session.engine->FillStatus(info);
  if (info.units + 1 < static_cast<uint64_t>(state.iterations())) {
    state.SkipWithError("steps were not part of leases");
  }
}
BENCHMARK(Exploring)->Name("exploring");

// A probe's comparison, for a million f32: equal, and with every element a neighbour.
void Compare(benchmark::State& state, bool equal) {
  std::vector<float> a(1 << 20, 1.0f);
  std::vector<float> b(1 << 20, equal ? 1.0f : 1.0f + 0x1p-23f);
  const equivalence::TensorView x{
      "t", equivalence::Dtype::kF32, equivalence::Role::kOutput, a.size(), a.data(), 0};
  equivalence::TensorView y = x;
  y.data = b.data();
  for (auto _ : state) benchmark::DoNotOptimize(equivalence::Compare(x, y, 0));
}
BENCHMARK_CAPTURE(Compare, equal, true)->Name("compare_1Mi_equal")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Compare, rounded, false)
    ->Name("compare_1Mi_rounded")
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace blazed::shim
