// How `blazed` ends. Others rely on these.
#pragma once

namespace blazed {

enum ExitCode {
  kExitDone = 0,
  kExitFailed = 1,  // a part of the daemon failed while it ran
  kExitUsage = 2,   // a wrong flag, or a configuration that is no good
  kExitBusy = 3,    // the socket or the store belongs to another daemon or cannot be taken
};

}  // namespace blazed
