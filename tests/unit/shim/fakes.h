// A host, a clock and a daemon that do as the test says.
#pragma once

#include <blazed/v1/tuner.pb.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/engine/engine.h"
#include "client/cpp/transport/fork_guard.h"

namespace blazed::shim {

class FakeClock final : public Clock {
 public:
  uint64_t Now() override { return now; }
  uint64_t now = 1'000'000;
};

inline Digest DigestOf(uint8_t value) {
  Digest digest{};
  digest.fill(value);
  return digest;
}

// What the plan with this first option does. The workload of the fixture has options 0..9.
enum class Behaviour : uint32_t {
  kGood = 1,           // same bits, own signature
  kRounded = 2,        // one ulp off
  kDropsTile = 3,      // the last elements are missing
  kNan = 4,            // one NaN
  kFaults = 5,         // its probe returns an error
  kSameSignature = 6,  // runs as the default
  kBuildFails = 7,
  kHungry = 8,  // needs more memory
  kAlsoGood = 9,
};

class FakeHost {
 public:
  explicit FakeHost(FakeClock* clock) : clock_(clock) {}

  blz_host_ops Ops() {
    blz_host_ops ops{};
    ops.struct_size = sizeof ops;
    ops.user = this;
    ops.build = [](void* user, const blz_choice* choices, size_t count, blz_built* out) {
      return Of(user).OnBuild(choices, count, out);
    };
    ops.drop = [](void* user, uint64_t handle) { Of(user).OnDrop(handle); };
    ops.probe = [](void* user, uint64_t handle, blz_probe_sink* sink) {
      return Of(user).OnProbe(handle, sink);
    };
    ops.signature = [](void* user, uint64_t handle, uint8_t out[16]) {
      const Digest digest = Of(user).signatures[handle];
      std::copy(digest.begin(), digest.end(), out);
    };
    return ops;
  }

  int OnBuild(const blz_choice* choices, size_t count, blz_built* out) {
    const auto behaviour = static_cast<Behaviour>(count > 0 ? choices[0].option : 1);
    ++builds;
    clock_->now += build_ns;
    if (behaviour == Behaviour::kBuildFails) {
      snprintf(out->message, sizeof out->message, "no kernel for this width");
      return BLZ_BUILD_FAILED;
    }
    out->handle = next_handle++;
    live[out->handle] = behaviour;
    const Digest signature = behaviour == Behaviour::kSameSignature
                                 ? signatures[0]
                                 : DigestOf(static_cast<uint8_t>(100 + out->handle));
    signatures[out->handle] = signature;
    if (names_signature) std::copy(signature.begin(), signature.end(), out->signature);
    out->peak_bytes = behaviour == Behaviour::kHungry ? 2000 : 1000;
    return BLZ_BUILD_OK;
  }

  void OnDrop(uint64_t handle) {
    EXPECT_EQ(live.erase(handle), 1u) << "dropped twice: " << handle;
    dropped.push_back(handle);
  }

  int OnProbe(uint64_t handle, blz_probe_sink* sink) {
    ++probes[handle];
    clock_->now += probe_ns;
    std::vector<float> values(64);
    for (size_t i = 0; i < values.size(); ++i) values[i] = 1.0f + 0.25f * (i % 7);
    const Behaviour behaviour = handle == 0 ? Behaviour::kGood : live.at(handle);
    if (behaviour == Behaviour::kRounded) values[3] = std::nextafter(values[3], 9.0f);
    if (behaviour == Behaviour::kDropsTile) values[63] = 0;
    if (behaviour == Behaviour::kNan) values[5] = NAN;
    if (behaviour == Behaviour::kFaults) return 1;
    const blz_tensor tensor{sizeof(blz_tensor), "gradient",    BLZ_F32, BLZ_GRADIENT,
                            values.size(),      values.data(), 0,       0};
    blz_probe_tensor(sink, &tensor);
    return 0;
  }

  std::map<uint64_t, Behaviour> live;
  std::map<uint64_t, Digest> signatures{{0, DigestOf(100)}};
  std::map<uint64_t, int> probes;
  std::vector<uint64_t> dropped;
  uint64_t next_handle = 1;
  int builds = 0;
  bool names_signature = true;
  uint64_t build_ns = 1000;
  uint64_t probe_ns = 1000;

 private:
  static FakeHost& Of(void* user) { return *static_cast<FakeHost*>(user); }
  FakeClock* clock_;
};

// Holds what a daemon would send until the engine takes it, and decodes what the engine sends.
class ScriptedDaemon final : public Channel {
 public:
  bool Send(Outgoing&& message) override {
    v1::ShimMessage decoded;
    if (message.kind == OutgoingKind::kWindow) {
      windows.push_back(message.window);
      return true;
    }
    EXPECT_TRUE(decoded.ParseFromString(message.body));
    sent.push_back(decoded);
    if (!message.can_wait) woke_for.push_back(decoded.body_case());
    return true;
  }
  bool Receive(Directive& directive) override {
    if (directives_.empty()) return false;
    directive = std::move(directives_.front());
    directives_.pop_front();
    return true;
  }
  bool TakeLinkState(LinkState& state) override {
    if (!link_changed_) return false;
    link_changed_ = false;
    state = link;
    return true;
  }
  bool TakeStand(StandOrder& stand) override {
    if (!has_stand_ || holds_stand) return false;
    has_stand_ = false;
    stand = stand_;
    return true;
  }
  bool TakeProgress(Progress& progress) override {
    if (!has_progress_) return false;
    has_progress_ = false;
    progress = progress_;
    return true;
  }

  void Welcomes(WireMode mode = WireMode::kTune, uint8_t token = 1) {
    if (link.generation == 0 || link.welcome.session != DigestOf(token)) ++link.generation;
    link.stage = LinkStage::kUp;
    link.welcome.session = DigestOf(token);
    link.welcome.has_session = true;
    link.welcome.mode = mode;
    Changed();
  }
  void Loses(const std::string& reason) {
    link.stage = LinkStage::kTrying;
    link.reason = reason;
    Changed();
  }
  // Not inlined: g++ 12 takes the moved variant's other members for uninitialised ones.
  [[gnu::noinline]] void Orders(DaemonBody body) {
    directives_.push_back({std::move(body), clock->now, link.generation, ++order_});
    Attention();
  }
  void OrdersStand(uint32_t reason) {
    stand_ = {{reason, ""}, link.generation, ++order_};
    has_stand_ = true;
    Attention();
  }
  void Reports(Progress progress) {
    progress_ = std::move(progress);
    has_progress_ = true;
    Attention();
  }

  // The messages of one kind, in order.
  std::vector<v1::ShimMessage> Sent(v1::ShimMessage::BodyCase kind) const {
    std::vector<v1::ShimMessage> found;
    for (const auto& message : sent) {
      if (message.body_case() == kind) found.push_back(message);
    }
    return found;
  }
  std::vector<v1::DirectiveRefused> Refusals() const {
    std::vector<v1::DirectiveRefused> found;
    for (const auto& message : Sent(v1::ShimMessage::kDirectiveRefused)) {
      found.push_back(message.directive_refused());
    }
    return found;
  }

  FakeClock* clock = nullptr;
  std::atomic<uint32_t>* hot = nullptr;
  LinkState link;
  std::vector<v1::ShimMessage> sent;
  std::vector<v1::ShimMessage::BodyCase> woke_for;  // sent with a system call
  std::vector<ServiceWindow> windows;
  bool holds_stand = false;  // it comes later than what was ordered behind it

 private:
  void Attention() {
    if (hot != nullptr) hot->fetch_or(kHotAttention);
  }
  void Changed() {
    link_changed_ = true;
    Attention();
  }
  std::deque<Directive> directives_;
  bool link_changed_ = false;
  StandOrder stand_;
  bool has_stand_ = false;
  Progress progress_;
  bool has_progress_ = false;
  uint64_t order_ = 0;
};

}  // namespace blazed::shim
