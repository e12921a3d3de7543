#include "kernels/equivalence/digest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace blazed::equivalence {
namespace {

TEST(Digest, DoesNotDependOnTheOrder) {
  std::vector<uint64_t> order(1000);
  std::iota(order.begin(), order.end(), 0);
  Digest128 forward;
  for (const uint64_t i : order) forward.Add(3, i, i * i);
  std::mt19937_64 random(7);
  std::shuffle(order.begin(), order.end(), random);
  Digest128 first_half, second_half;
  for (size_t i = 0; i < order.size(); ++i) {
    (i < 500 ? first_half : second_half).Add(3, order[i], order[i] * order[i]);
  }
  first_half.Add(second_half);
  EXPECT_EQ(forward.Bytes(), first_half.Bytes());
}

TEST(Digest, SeesOneFlippedBitAnywhere) {
  std::set<std::array<uint8_t, 16>> seen;
  for (int element = 0; element < 64; ++element) {
    for (int bit = -1; bit < 64; ++bit) {
      if (bit < 0 && element > 0) continue;
      Digest128 digest;
      for (int i = 0; i < 64; ++i) {
        const uint64_t flip = i == element && bit >= 0 ? uint64_t{1} << bit : 0;
        digest.Add(0, i, 0x3f800000u ^ flip);
      }
      EXPECT_TRUE(seen.insert(digest.Bytes()).second) << element << " " << bit;
    }
  }
}

TEST(Digest, SeesTwoElementsTradePlaces) {
  Digest128 a, b, c;
  a.Add(0, 0, 1), a.Add(0, 1, 2);
  b.Add(0, 0, 2), b.Add(0, 1, 1);
  c.Add(1, 0, 1), c.Add(1, 1, 2);
  EXPECT_NE(a.Bytes(), b.Bytes());
  EXPECT_NE(a.Bytes(), c.Bytes());
}

}  // namespace
}  // namespace blazed::equivalence
