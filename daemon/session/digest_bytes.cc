#include "daemon/session/digest_bytes.h"

#include <xxhash.h>

#include <cstring>

namespace blazed::session {

planner::Digest DigestBytes(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  planner::Digest digest;
  static_assert(sizeof(canonical.digest) == sizeof(digest));
  memcpy(digest.data(), canonical.digest, sizeof(digest));
  return digest;
}

}  // namespace blazed::session
