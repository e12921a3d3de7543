// What blazectl's exit says to scripts. The numbers are promised in docs/blazectl.md.
#pragma once

#include "absl/status/status.h"

namespace blazed::blazectl {

enum class ExitCode {
  kOk = 0,
  kError = 1,        // the daemon answered with an error
  kUsage = 2,        // wrong flags or arguments
  kUnreachable = 3,  // no daemon, or one that stays silent
  kUnhealthy = 4,    // the daemon says that it does not serve
  kDenied = 5,       // the socket or the daemon refused this user
};

// `status` must not be OK.
ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace blazed::blazectl
