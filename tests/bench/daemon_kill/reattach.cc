#include "tests/bench/daemon_kill/reattach.h"

#include <chrono>
#include <memory>

#include "tests/bench/support/child_process.h"
#include "tests/bench/support/even_host.h"
#include "tests/fakes/private_daemon.h"

namespace blazed::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kStepNs = 1'000'000;
constexpr auto kPatience = std::chrono::minutes(1);

// A host with one session that trains all the while.
class TrainingHost {
 public:
  explicit TrainingHost(const std::string& socket) : host_(EvenHost::Calibrate(kStepNs)) {
    const blz_options options = host_.Options(socket);
    ops_ = host_.Ops();
    blz_attach(&options, &ops_, &session_);
    host_.Describe(session_, 4);
  }
  ~TrainingHost() { blz_close(session_); }

  template <typename Done>
  void TrainUntil(Done done) {
    const auto give_up = Clock::now() + kPatience;
    while (!done()) {
      if (Clock::now() > give_up) Fail(std::string("waited in vain: ") + blz_reason(session_));
      host_.Step(session_);
    }
  }

  bool Is(blz_state state) const {
    blz_status_info status{};
    status.struct_size = sizeof(status);
    blz_status(session_, &status);
    return status.state == state;
  }

 private:
  EvenHost host_;
  blz_host_ops ops_{};
  blz_session* session_ = nullptr;
};

}  // namespace

std::vector<double> ReattachTimes(const std::string& folder, Ending ending, int restarts) {
  auto daemon = std::make_unique<fakes::PrivateDaemon>(folder);
  const std::string socket = daemon->socket();
  if (!daemon->WaitReady()) Fail("the daemon did not start: " + daemon->Log());
  TrainingHost host(socket);
  std::vector<double> took;
  for (int i = 0; i < restarts; ++i) {
    host.TrainUntil([&] { return host.Is(BLZ_STATE_ATTACHED); });
    ending == Ending::kKilled ? daemon->Kill() : static_cast<void>(daemon->Stop());
    host.TrainUntil([&] { return host.Is(BLZ_STATE_RECONNECTING); });
    daemon = std::make_unique<fakes::PrivateDaemon>(folder);
    host.TrainUntil([&] { return Listens(socket); });
    const Clock::time_point listens = Clock::now();
    host.TrainUntil([&] { return host.Is(BLZ_STATE_ATTACHED); });
    took.push_back(std::chrono::duration<double, std::milli>(Clock::now() - listens).count());
  }
  return took;
}

}  // namespace blazed::bench
