#include "kernels/equivalence/digest.h"

namespace blazed::equivalence {

std::array<uint8_t, 16> Digest128::Bytes() const {
  std::array<uint8_t, 16> bytes{};
  for (int i = 0; i < 8; ++i) {
    bytes[i] = static_cast<uint8_t>(low_ >> (8 * i));
    bytes[8 + i] = static_cast<uint8_t>(high_ >> (8 * i));
  }
  return bytes;
}

}  // namespace blazed::equivalence
