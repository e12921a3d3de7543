#include "client/blazectl/exit_code.h"

namespace blazed::blazectl {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return ExitCode::kUnreachable;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return ExitCode::kDenied;
    default:
      return ExitCode::kError;
  }
}

}  // namespace blazed::blazectl
