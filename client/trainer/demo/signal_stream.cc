#include "client/trainer/demo/signal_stream.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace blazed::trainer {

SignalStream::SignalStream() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&taken, signal);
  sigprocmask(SIG_BLOCK, &taken, nullptr);
  descriptor_ = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

SignalStream::~SignalStream() { close(descriptor_); }

bool SignalStream::Drain() {
  bool to_hand_on = false;
  signalfd_siginfo info = {};
  while (read(descriptor_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    ++count_;
    // Ctrl-C comes from the kernel and reaches the whole foreground group, the child included.
    if (info.ssi_code != SI_KERNEL) to_hand_on = true;
  }
  return to_hand_on;
}

bool SignalStream::Asked() {
  Drain();
  return count_ > 0;
}

void SignalStream::WaitFor(ChildProcess* child) {
  while (!child->EndedWithin(absl::ZeroDuration())) {
    pollfd waiting[2] = {{child->descriptor(), POLLIN, 0}, {descriptor_, POLLIN, 0}};
    poll(waiting, 2, -1);
    const bool to_hand_on = Drain();
    if (count_ > 1) {
      child->Signal(SIGKILL);
    } else if (to_hand_on) {
      child->Signal(SIGTERM);
    }
  }
}

}  // namespace blazed::trainer
