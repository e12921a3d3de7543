#include "daemon/base/ids.h"

#include <gtest/gtest.h>

#include <set>

namespace blazed {
namespace {

TEST(Ids, TokensDiffer) {
  std::set<SessionToken> tokens;
  for (int i = 0; i < 1000; ++i) tokens.insert(MakeToken());
  EXPECT_EQ(tokens.size(), 1000u);
}

TEST(Ids, BytesGoThereAndBack) {
  const SessionToken token = MakeToken();
  EXPECT_EQ(ParseBytes16(ToBytes(token)), token);
}

TEST(Ids, RefusesBytesOfAnotherLength) {
  EXPECT_FALSE(ParseBytes16("").has_value());
  EXPECT_FALSE(ParseBytes16(std::string(15, 'a')).has_value());
  EXPECT_FALSE(ParseBytes16(std::string(17, 'a')).has_value());
}

TEST(Ids, HexHasTwoLowerCaseDigitsAByte) {
  SessionToken token{};
  token[0] = 0xab;
  token[15] = 0x01;
  EXPECT_EQ(ToHex(token), "ab000000000000000000000000000001");
}

}  // namespace
}  // namespace blazed
