#include "client/trainer/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace blazed::trainer {
namespace {

// In a process of its own: handlers are the process's, and the wish to end stays.
void RaiseAndLook(int signal) {
  InstallSignals();
  std::raise(signal);
  _exit(EndAsked() == signal ? 0 : 1);
}

TEST(Signals, TheFirstOneAsksForAnEndAndEndsNothing) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    EXPECT_EXIT(RaiseAndLook(signal), testing::ExitedWithCode(0), "") << signal;
  }
}

TEST(Signals, TheSecondOneEndsTheProcess) {
  const auto twice = [] {
    InstallSignals();
    std::raise(SIGTERM);
    std::raise(SIGTERM);
    _exit(0);
  };
  EXPECT_EXIT(twice(), testing::KilledBySignal(SIGTERM), "");
}

TEST(Signals, AClosedReaderAndAFullFileAreErrorsOfTheWrite) {
  const auto ignored = [] {
    InstallSignals();
    std::raise(SIGPIPE);
    std::raise(SIGXFSZ);
    _exit(EndAsked() == 0 ? 0 : 1);
  };
  EXPECT_EXIT(ignored(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace blazed::trainer
