#include "storage/sqlite/identity_file.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "storage/sqlite/files.h"
#include "xxhash.h"

namespace blazed::storage {
namespace {

std::string Body(const Identity& identity) {
  return absl::StrCat("store ", identity.store, " epoch ", identity.epoch, " sessions ",
                      identity.sessions_reserved);
}

std::string Line(const Identity& identity) {
  const std::string body = Body(identity);
  return absl::StrCat(body, " xxh3 ", absl::Hex(XXH3_64bits(body.data(), body.size())), "\n");
}

}  // namespace

Identity ReadIdentity(const std::string& path) {
  const absl::StatusOr<std::string> content = ReadWholeFile(path);
  if (!content.ok()) return {};
  const std::vector<std::string> words = absl::StrSplit(*content, ' ');
  Identity identity;
  if (words.size() != 8 || !absl::SimpleAtoi(words[1], &identity.store) ||
      !absl::SimpleAtoi(words[3], &identity.epoch) ||
      !absl::SimpleAtoi(words[5], &identity.sessions_reserved) || *content != Line(identity)) {
    return {};
  }
  return identity;
}

absl::Status WriteIdentity(const std::string& path, const Identity& identity) {
  const absl::Status written = WriteFileAtomically(path, Line(identity));
  const bool passes = absl::IsResourceExhausted(written) || absl::IsUnavailable(written);
  if (written.ok() || passes) return written;
  return absl::Status(written.code(),
                      absl::StrCat(written.message(),
                                   ": make it a plain file of the daemon's user, or name another "
                                   "folder with --state"));
}

}  // namespace blazed::storage
