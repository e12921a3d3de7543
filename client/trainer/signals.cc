#include "client/trainer/signals.h"

#include <atomic>
#include <csignal>

#include "client/trainer/terminal.h"

namespace blazed::trainer {
namespace {

std::atomic<int> asked{0};
static_assert(std::atomic<int>::is_always_lock_free);

void OnSignal(int signal) {
  int none = 0;
  if (asked.compare_exchange_strong(none, signal)) return;
  ShowCursorFromSignal();
  // By the default action, so that the parent sees what ended this process. It is delivered when
  // this handler returns.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void InstallSignals() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaction(signal, &action, nullptr);
  IgnoreWriteSignals();
}

void IgnoreWriteSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int EndAsked() { return asked.load(std::memory_order_relaxed); }

}  // namespace blazed::trainer
