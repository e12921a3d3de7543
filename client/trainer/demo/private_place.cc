#include "client/trainer/demo/private_place.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace blazed::trainer {
namespace {

// The kernel takes 107 bytes of a socket's path; what is added below the folder is shorter than
// this.
constexpr size_t kLongestFolder = 70;

std::vector<std::string> Folders() {
  std::vector<std::string> folders;
  for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value == '/') folders.push_back(value);
  }
  folders.push_back("/tmp");
  return folders;
}

}  // namespace

absl::StatusOr<PrivatePlace> PrivatePlace::Make(Keep keep) {
  std::string last;
  for (const std::string& folder : Folders()) {
    if (folder.size() > kLongestFolder) {
      last = absl::StrCat(folder, ": the path is too long for a socket");
      continue;
    }
    std::string path = absl::StrCat(folder, "/blazed-demo.XXXXXX");
    if (mkdtemp(path.data()) != nullptr) return PrivatePlace(std::move(path), keep);
    last = absl::StrCat(folder, ": ", std::strerror(errno));
  }
  return absl::UnavailableError(
      absl::StrCat("cannot make a private folder in ", last, "; set TMPDIR to a writable folder"));
}

PrivatePlace::PrivatePlace(PrivatePlace&& other) noexcept
    : path_(std::exchange(other.path_, "")), keep_(other.keep_) {}

PrivatePlace::~PrivatePlace() {
  if (path_.empty() || keep_ == Keep::kYes) return;
  std::error_code ignored;  // the place is temporary: what stays, the system clears
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace blazed::trainer
