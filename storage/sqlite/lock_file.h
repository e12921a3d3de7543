// One daemon a store. The lock is the kernel's (flock) and ends with the process, however it ends.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace blazed::storage {

class LockFile {
 public:
  // FAILED_PRECONDITION naming the holder's pid where another daemon has the store.
  static absl::StatusOr<std::unique_ptr<LockFile>> Take(const std::string& path);
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

 private:
  explicit LockFile(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace blazed::storage
