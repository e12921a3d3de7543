#include "daemon/base/quarantine.h"

#include <utility>

namespace blazed {

Entered Quarantine::Enter(absl::Status cause) {
  absl::MutexLock lock(&mutex_);
  if (!cause_.ok()) return Entered::kAlreadyIn;
  cause_ = std::move(cause);
  return Entered::kFirst;
}

absl::Status Quarantine::cause() const {
  absl::MutexLock lock(&mutex_);
  return cause_;
}

}  // namespace blazed
