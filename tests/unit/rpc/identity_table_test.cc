#include "daemon/rpc/identity_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "absl/strings/str_cat.h"

namespace blazed::rpc {
namespace {

session::Peer PeerOf(uint32_t uid) {
  session::Peer peer;
  peer.uid = uid;
  peer.principal = absl::StrCat("uid:", uid);
  return peer;
}

struct Pair {
  UniqueFd here, there;
};

Pair MakePair() {
  int fds[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

std::string Name(int number) { return absl::StrCat("fd:", number); }

TEST(IdentityTable, FindsAConnectionByItsNumber) {
  IdentityTable table(400, 420);
  Pair first = MakePair(), second = MakePair();
  const int a = *table.Admit(first.here, PeerOf(1), Door::kShims, 10);
  const int b = *table.Admit(second.here, PeerOf(2), Door::kShims, 10);
  EXPECT_GE(a, 400);
  EXPECT_EQ(table.Find(Name(a))->uid, 1u);
  EXPECT_EQ(table.Find(Name(b))->uid, 2u);
  close(a);
  close(b);
}

TEST(IdentityTable, KnowsNothingElse) {
  IdentityTable table(400, 420);
  for (const char* name :
       {"", "fd:", "fd:x", "fd:-1", "fd:400", "unix:", "ipv4:1.2.3.4:5", "fd:400 "}) {
    EXPECT_FALSE(table.Find(name).has_value()) << name;
  }
}

TEST(IdentityTable, AClosedConnectionIsNobodysAlsoWhenItsNumberIsUsedAgain) {
  IdentityTable table(400, 420);
  Pair first = MakePair(), second = MakePair();
  const int number = *table.Admit(first.here, PeerOf(1), Door::kShims, 10);
  close(number);
  EXPECT_FALSE(table.Find(Name(number)).has_value());
  Pair third = MakePair();
  const int again = *table.Admit(third.here, PeerOf(1), Door::kShims, 10);
  close(again);
  ASSERT_EQ(dup2(second.here.get(), again), again);
  EXPECT_FALSE(table.Find(Name(again)).has_value()) << "another socket under its number";
  close(again);
}

TEST(IdentityTable, NumbersGoRoundBeforeOneIsUsedAgain) {
  IdentityTable table(400, 404);
  std::vector<int> numbers;
  for (int i = 0; i < 6; ++i) {
    Pair pair = MakePair();
    const int number = *table.Admit(pair.here, PeerOf(1), Door::kShims, 10);
    numbers.push_back(number);
    close(number);
  }
  EXPECT_EQ(numbers, (std::vector<int>{400, 401, 402, 403, 400, 401}));
}

TEST(IdentityTable, AUserHasOnlySoManyConnections) {
  IdentityTable table(400, 420);
  Pair a = MakePair(), b = MakePair(), c = MakePair(), d = MakePair();
  const int first = *table.Admit(a.here, PeerOf(1), Door::kShims, 2);
  const int second = *table.Admit(b.here, PeerOf(1), Door::kShims, 2);
  EXPECT_EQ(table.Admit(c.here, PeerOf(1), Door::kShims, 2).status().code(),
            absl::StatusCode::kResourceExhausted);
  const int other = *table.Admit(d.here, PeerOf(2), Door::kShims, 2);
  close(first);
  Pair e = MakePair();
  const auto third = table.Admit(e.here, PeerOf(1), Door::kShims, 2);
  EXPECT_TRUE(third.ok()) << "a closed one counts no more";
  for (int number : {second, other, *third}) close(number);
}

TEST(IdentityTable, ConnectionsOfShimsLeaveTheirUserTheOperatorsDoor) {
  IdentityTable table(400, 420);
  Pair a = MakePair(), b = MakePair(), c = MakePair();
  const UniqueFd shim(*table.Admit(a.here, PeerOf(0), Door::kShims, 1));
  const auto operators = table.Admit(b.here, PeerOf(0), Door::kOperators, 1);
  ASSERT_TRUE(operators.ok()) << operators.status();
  EXPECT_EQ(table.Admit(c.here, PeerOf(0), Door::kOperators, 1).status().code(),
            absl::StatusCode::kResourceExhausted);
  close(*operators);
}

TEST(IdentityTable, AFullRangeIsExhausted) {
  IdentityTable table(400, 402);
  Pair a = MakePair(), b = MakePair(), c = MakePair();
  const int first = *table.Admit(a.here, PeerOf(1), Door::kShims, 10);
  const int second = *table.Admit(b.here, PeerOf(1), Door::kShims, 10);
  EXPECT_EQ(table.Admit(c.here, PeerOf(1), Door::kShims, 10).status().code(),
            absl::StatusCode::kResourceExhausted);
  close(first);
  close(second);
}

}  // namespace
}  // namespace blazed::rpc
