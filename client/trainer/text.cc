#include "client/trainer/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace blazed::trainer {
namespace {

constexpr size_t kReadBytes = 256 * 1024;

absl::Status CannotRead(const std::string& path, int error) {
  const std::string sentence =
      absl::StrCat("cannot read the text ", path, ": ", std::strerror(error),
                   "; name a readable file with --text");
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(sentence);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(sentence);
  return absl::FailedPreconditionError(sentence);
}

absl::Status AppendFile(const std::string& path, std::string* text) {
  // Non-blocking, so that a named pipe without a writer is refused below instead of hanging here.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return CannotRead(path, errno);
  const absl::Cleanup closer = [fd] { close(fd); };
  struct stat info = {};
  if (fstat(fd, &info) != 0) return CannotRead(path, errno);
  if (S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the text ", path, " is a folder; name the files in it with --text"));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the text ", path, " is not a regular file; name a readable file with --text"));
  }
  std::string block(kReadBytes, '\0');
  while (true) {
    const ssize_t count = read(fd, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotRead(path, errno);
    if (count == 0) return absl::OkStatus();
    text->append(block, 0, static_cast<size_t>(count));
    if (static_cast<int64_t>(text->size()) > kMaxTextBytes) {
      return absl::ResourceExhaustedError(absl::StrCat("the text is larger than ",
                                                       kMaxTextBytes >> 20, " MiB at ", path,
                                                       "; name a shorter one with --text"));
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> TextsIn(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;  // a file that vanished meanwhile is no text
    if (it->is_symlink(ignored) || !it->is_regular_file(ignored)) continue;
    paths.push_back(it->path().string());
  }
  if (error || paths.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no text found in ", folder, "; name a readable file with --text"));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

absl::StatusOr<std::string> ReadTexts(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    const size_t before = text.size();
    if (absl::Status status = AppendFile(path, &text); !status.ok()) return status;
    if (text.size() == before) {
      return absl::FailedPreconditionError(
          absl::StrCat("the text ", path, " is empty; name one with content with --text"));
    }
    if (text.back() != '\n' && &path != &paths.back()) text.push_back('\n');
  }
  return text;
}

}  // namespace blazed::trainer
