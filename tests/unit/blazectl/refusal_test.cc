#include "client/blazectl/refusal.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace blazed::blazectl {
namespace {

const std::string kSettings("\0\0\0\4\0\0\0\0\0", 9);
const std::string kGoaway("\0\0\21\7\0\0\0\0\0\0\0\0\0\0\0\0\13too many!", 26);

// What is read where the other end says these words, and then closes or stays.
absl::Status After(const std::string& words, bool closes) {
  int fds[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  EXPECT_EQ(send(fds[1], words.data(), words.size(), 0), static_cast<ssize_t>(words.size()));
  if (closes) close(fds[1]);
  const absl::Status status = ReadRefusal(fds[0], absl::Milliseconds(20));
  if (!closes) close(fds[1]);
  close(fds[0]);
  return status;
}

TEST(ReadRefusal, BringsTheDaemonsSentence) {
  const absl::Status refused = After(kSettings + kGoaway, true);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.message(), "the daemon refused the connection: too many!");
}

TEST(ReadRefusal, OneThatServesOrStaysSilentDoesNotRefuse) {
  EXPECT_TRUE(After(kSettings, false).ok());
  EXPECT_TRUE(After("", false).ok());
}

TEST(ReadRefusal, AnEndWithoutAWordIsNamed) {
  EXPECT_EQ(After("", true).code(), absl::StatusCode::kUnavailable);
}

TEST(ReadRefusal, BytesThatAreNoFrameAreNoRefusal) {
  EXPECT_TRUE(After("\xff\xff\xff\7 more", false).ok());
  EXPECT_TRUE(After(kGoaway.substr(0, 20), false).ok());
}

}  // namespace
}  // namespace blazed::blazectl
