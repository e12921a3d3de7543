// What a connection that is one too many is told, and what the log says of many. Time is the
// test's.
#include "daemon/rpc/refusals.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <string>

#include "daemon/base/log.h"

namespace blazed::rpc {
namespace {

using std::chrono::milliseconds;

// Everything that the client of a refused connection reads before its end.
std::string Told(Refusals& refusals, uint32_t uid, std::chrono::nanoseconds at) {
  int fds[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  const UniqueFd client(fds[1]);
  refusals.Refuse(UniqueFd(fds[0]), uid, absl::ResourceExhaustedError("too many; close one"),
                  planner::Moment(at));
  std::string told;
  char buffer[256];
  for (ssize_t got; (got = read(client.get(), buffer, sizeof(buffer))) > 0;) {
    told.append(buffer, static_cast<size_t>(got));
  }
  return told;
}

TEST(Refusals, TellsItsClientWhyInHttp2AndClosesAtOnce) {
  Refusals refusals;
  const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
  const std::string head("\0\0\33\7\0\0\0\0\0", 9);  // 27 bytes of GOAWAY
  const std::string body("\0\0\0\0\0\0\0\13", 8);    // no stream, ENHANCE_YOUR_CALM
  EXPECT_EQ(Told(refusals, 7, milliseconds(0)), settings + head + body + "too many; close one");
}

TEST(Refusals, LogsAUsersFirstAndThenHowManyThereWere) {
  const log::Capture capture;
  Refusals refusals;
  for (int i = 0; i < 1000; ++i) Told(refusals, 7, milliseconds(i));
  ASSERT_EQ(capture.lines().size(), 1u);
  EXPECT_TRUE(capture.Has({"closed at accept", "uid=7", "count=1", "too many; close one"}));
  Told(refusals, 8, milliseconds(1000));
  EXPECT_EQ(capture.lines().size(), 2u) << "another user's are told apart";
  Told(refusals, 7, milliseconds(10'000));
  EXPECT_EQ(capture.lines().size(), 3u);
  EXPECT_TRUE(capture.Has({"closed at accept", "uid=7", "count=1000"}));
}

}  // namespace
}  // namespace blazed::rpc
