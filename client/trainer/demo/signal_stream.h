#pragma once

#include <optional>

#include "client/trainer/demo/child_process.h"

namespace blazed::trainer {

// SIGINT, SIGTERM, SIGHUP and SIGQUIT of this process as a stream to poll, so that none is lost
// between a look and a wait. Make one, on the main thread, before any other thread or child.
class SignalStream {
 public:
  SignalStream();
  ~SignalStream();
  SignalStream(const SignalStream&) = delete;
  SignalStream& operator=(const SignalStream&) = delete;

  // Waits for the child's end. Hands a signal on to it unless the terminal has already done so;
  // the second one ends it at once.
  void WaitFor(ChildProcess* child);

  // A signal came at some time, also between waits.
  bool Asked();

 private:
  // Takes the waiting signals in; true when one of them did not come from the terminal.
  bool Drain();

  int descriptor_ = -1;
  int count_ = 0;
};

}  // namespace blazed::trainer
