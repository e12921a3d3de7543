#include "client/cpp/transport/frame_reader.h"

#include <algorithm>

namespace blazed::shim {

std::string FramePrefix(size_t message_bytes) {
  const auto length = static_cast<uint32_t>(message_bytes);
  std::string prefix(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    prefix.push_back(static_cast<char>(length >> shift));
  }
  return prefix;
}

void FrameReader::Fill(std::string_view& bytes, size_t wanted) {
  if (held_.size() >= wanted) return;
  const size_t take = std::min(wanted - held_.size(), bytes.size());
  held_.append(bytes.substr(0, take));
  bytes.remove_prefix(take);
}

size_t FrameReader::Length() const {
  size_t length = 0;
  for (int i = 1; i <= 4; ++i) length = length << 8 | static_cast<unsigned char>(held_[i]);
  return length;
}

}  // namespace blazed::shim
