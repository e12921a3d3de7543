#include "daemon/session/grant.h"

#include "absl/strings/str_cat.h"

namespace blazed::session {

using planner::Mode;

int Rank(Mode mode) {
  switch (mode) {
    case Mode::kObserve:
      return 0;
    case Mode::kPinned:
      return 1;
    case Mode::kTune:
      return 2;
  }
  return 0;
}

Granted Grant(const Hello& hello, const Options& options, const absl::Status& device,
              const absl::Status& store) {
  if (!hello.mode.has_value())
    return {Mode::kObserve, "this daemon does not know the mode asked for"};
  if (*hello.mode == Mode::kObserve) return {Mode::kObserve, ""};
  if (!store.ok()) {
    return {Mode::kObserve, absl::StrCat("the store cannot keep evidence: ", store.message())};
  }
  if (options.pause == Pause::kOn) return {Mode::kObserve, "an operator has paused blazed"};
  if (hello.world_size > 1) {
    return {Mode::kObserve,
            absl::StrCat("the job has ", hello.world_size,
                         " ranks, which this version observes only; tune a job of one rank")};
  }
  if (!device.ok()) return {Mode::kObserve, std::string(device.message())};
  if (Rank(options.max_mode) < Rank(*hello.mode)) {
    return {options.max_mode, "policy.max_mode of the daemon's configuration allows no more"};
  }
  return {*hello.mode, ""};
}

}  // namespace blazed::session
