#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace blazed::trainer {

enum class Keep { kNo, kYes };

// A folder only this user can enter, for a private daemon's socket, store and log. Removed at the
// end unless it is kept.
class PrivatePlace {
 public:
  // Under $XDG_RUNTIME_DIR where there is one, else $TMPDIR, else the system's temporary folder.
  // UNAVAILABLE with the folder that could not be used.
  static absl::StatusOr<PrivatePlace> Make(Keep keep);

  ~PrivatePlace();
  PrivatePlace(PrivatePlace&& other) noexcept;
  PrivatePlace& operator=(PrivatePlace&&) = delete;

  const std::string& path() const { return path_; }
  std::string At(const std::string& name) const { return path_ + "/" + name; }

 private:
  PrivatePlace(std::string path, Keep keep) : path_(std::move(path)), keep_(keep) {}

  std::string path_;
  Keep keep_ = Keep::kNo;
};

}  // namespace blazed::trainer
