// A folder of a test's own, removed with it. In memory where the machine has such a place: no test
// here proves anything by a real disk's sync, and a hundred stores would wait for one.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "gtest/gtest.h"

namespace blazed::storage {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const std::filesystem::path shared = "/dev/shm";
    std::error_code error;
    const bool in_memory =
        std::filesystem::is_directory(shared, error) && access(shared.c_str(), W_OK) == 0;
    const std::filesystem::path place = in_memory ? shared : std::filesystem::temp_directory_path();
    std::string pattern = (place / "blazed-store-XXXXXX").string();
    const char* made = mkdtemp(pattern.data());
    EXPECT_NE(made, nullptr) << "cannot make a temporary folder";
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code error;  // a folder left behind in the temporary place harms nobody
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace blazed::storage
