// Which connections are cut because their clients do not read. Time is the test's.
#include "daemon/rpc/reader_watch.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "daemon/base/log.h"

namespace blazed::rpc {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The daemon's end of a connection, and its client's.
struct Client {
  int number = -1;
  UniqueFd end;

  // As gRPC does with answers that the client does not read.
  void Fill() const {
    const std::string bytes(4096, 'x');
    while (send(number, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
    }
  }
  // Everything that is there; false at the end of the connection.
  bool ReadAll() const {
    std::string bytes(65536, '\0');
    ssize_t got = 0;
    while ((got = recv(end.get(), bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0) {
    }
    return got < 0;
  }
};

class ReaderWatchTest : public testing::Test {
 protected:
  Client Connect(uint32_t uid) {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    session::Peer peer;
    peer.uid = uid;
    UniqueFd here(fds[0]);
    return {*identities_.Admit(here, peer, Door::kShims, 10), UniqueFd(fds[1])};
  }
  size_t LookAt(std::chrono::nanoseconds time, Memory memory = Memory::kEnough) {
    return watch_.Look(planner::Moment(time), memory);
  }

  IdentityTable identities_{500, 520};
  ReaderWatch watch_{identities_};
};

TEST_F(ReaderWatchTest, OneThatNeverReadsIsCutAndNobodyElse) {
  const log::Capture capture;
  const Client idle = Connect(1), stuck = Connect(2);
  stuck.Fill();
  EXPECT_EQ(LookAt(seconds(1)), 0u);
  EXPECT_EQ(LookAt(milliseconds(10900)), 0u);
  EXPECT_EQ(LookAt(seconds(11)), 1u);
  EXPECT_FALSE(stuck.ReadAll()) << "the client reads what was sent, and then the end";
  EXPECT_TRUE(idle.ReadAll());
  EXPECT_EQ(LookAt(seconds(60)), 0u) << "once";
  EXPECT_TRUE(capture.Has({"clients do not read", "uid=2", "count=1"}));
  close(idle.number);
  close(stuck.number);
}

TEST_F(ReaderWatchTest, OneThatReadsNowAndThenStays) {
  const Client slow = Connect(1);
  for (int i = 0; i < 100; ++i) {
    slow.Fill();
    EXPECT_EQ(LookAt(seconds(9 * i)), 0u);
    EXPECT_TRUE(slow.ReadAll());
    EXPECT_EQ(LookAt(seconds(9 * i + 5)), 0u);
  }
  close(slow.number);
}

TEST_F(ReaderWatchTest, NobodyIsWaitedForWhereMemoryIsScarce) {
  const Client stuck = Connect(1);
  stuck.Fill();
  EXPECT_EQ(LookAt(seconds(1), Memory::kScarce), 0u) << "full for a moment is no fault";
  EXPECT_EQ(LookAt(milliseconds(1300), Memory::kScarce), 1u);
  close(stuck.number);
}

TEST_F(ReaderWatchTest, ANumberThatIsUsedAgainBeginsAnew) {
  Client stuck = Connect(1);
  stuck.Fill();
  EXPECT_EQ(LookAt(seconds(1)), 0u);
  Client other = Connect(1);
  other.Fill();
  ASSERT_EQ(dup2(other.number, stuck.number), stuck.number);
  EXPECT_EQ(LookAt(seconds(20)), 0u) << "another socket under the number, and a fresh one";
  close(stuck.number);
  close(other.number);
}

}  // namespace
}  // namespace blazed::rpc
