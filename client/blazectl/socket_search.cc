#include "client/blazectl/socket_search.h"

#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace blazed::blazectl {
namespace {

constexpr size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1;

absl::StatusOr<std::string> CheckedPath(absl::string_view given, absl::string_view from) {
  absl::string_view path = given;
  if (absl::ConsumePrefix(&path, "unix:")) {
    if (absl::StartsWith(path, "//")) path.remove_prefix(2);
  } else if (absl::StrContains(path.substr(0, path.find('/')), ":")) {
    return absl::InvalidArgumentError(
        absl::StrCat(from, " is '", given, "'; give a path or a unix: URI"));
  }
  if (path.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(from, " names no path; give a path or a unix: URI"));
  }
  if (path.size() > kLongestPath) {
    return absl::InvalidArgumentError(absl::StrCat(
        from, " has ", path.size(), " bytes; a socket's path may have at most ", kLongestPath));
  }
  return std::string(path);
}

}  // namespace

Surroundings RealSurroundings() {
  Surroundings real;
  real.environment = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
  real.exists = [](const std::string& path) { return access(path.c_str(), F_OK) == 0; };
  return real;
}

absl::StatusOr<std::string> FindSocket(const std::string& flag, const Surroundings& surroundings) {
  if (!flag.empty()) return CheckedPath(flag, "--socket");
  if (const auto named = surroundings.environment("BLAZED_SOCKET")) {
    return CheckedPath(*named, "BLAZED_SOCKET");
  }
  std::vector<std::string> places = {"/run/blazed/blazed.sock"};
  if (const auto runtime = surroundings.environment("XDG_RUNTIME_DIR")) {
    places.push_back(absl::StrCat(*runtime, "/blazed/blazed.sock"));
  }
  for (const std::string& place : places) {
    if (surroundings.exists(place)) return CheckedPath(place, "the socket's path");
  }
  return absl::UnavailableError(absl::StrCat("no daemon's socket at ",
                                             absl::StrJoin(places, " or "),
                                             "; start blazed, or name its socket with --socket"));
}

}  // namespace blazed::blazectl
