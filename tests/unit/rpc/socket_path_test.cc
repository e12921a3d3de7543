#include "daemon/rpc/socket_path.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace blazed::rpc {
namespace {

using testing::HasSubstr;

class SocketPathTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/socket-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/blazed.sock";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string ErrorOf(const std::string& path, absl::StatusCode code) {
    auto bound = BoundSocket::Bind(path, 0666);
    EXPECT_EQ(bound.status().code(), code);
    return std::string(bound.status().message());
  }

  bool Connects() {
    UniqueFd client(socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, path_.c_str());
    return connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }

  std::string folder_, path_;
};

TEST_F(SocketPathTest, ListensWithTheModeAskedFor) {
  auto bound = BoundSocket::Bind(path_, 0660);
  ASSERT_TRUE(bound.ok()) << bound.status();
  struct stat info {};
  ASSERT_EQ(lstat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0660u);
  EXPECT_TRUE(Connects());
}

TEST_F(SocketPathTest, MakesItsFolder) {
  auto bound = BoundSocket::Bind(folder_ + "/blazed/blazed.sock", 0666);
  EXPECT_TRUE(bound.ok()) << bound.status();
}

TEST_F(SocketPathTest, GoesWithItsOwner) {
  { auto bound = BoundSocket::Bind(path_, 0666); }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SocketPathTest, ARunningDaemonIsNeverDisplaced) {
  auto first = BoundSocket::Bind(path_, 0666);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(ErrorOf(path_, absl::StatusCode::kAlreadyExists), HasSubstr("another blazed serves"));
  EXPECT_TRUE(Connects());
}

TEST_F(SocketPathTest, AForeignListenerIsNeverDisplaced) {
  UniqueFd foreign(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path, path_.c_str());
  ASSERT_EQ(bind(foreign.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(foreign.get(), 1), 0);
  ErrorOf(path_, absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(Connects());
}

TEST_F(SocketPathTest, AStaleSocketOfOursIsReplaced) {
  {
    UniqueFd stale(socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, path_.c_str());
    ASSERT_EQ(bind(stale.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  auto bound = BoundSocket::Bind(path_, 0666);
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_TRUE(Connects());
}

TEST_F(SocketPathTest, AFileAFolderAndALinkAreLeftAlone) {
  std::ofstream(path_) << "precious";
  EXPECT_THAT(ErrorOf(path_, absl::StatusCode::kFailedPrecondition), HasSubstr("is no socket"));
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
  const std::string folder = folder_ + "/folder", link = folder_ + "/link";
  mkdir(folder.c_str(), 0755);
  ErrorOf(folder, absl::StatusCode::kFailedPrecondition);
  ASSERT_EQ(symlink("/nowhere", link.c_str()), 0);
  ErrorOf(link, absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(SocketPathTest, AFolderThatOthersWriteIsRefused) {
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_THAT(ErrorOf(path_, absl::StatusCode::kFailedPrecondition),
              HasSubstr("can be written by others"));
  ASSERT_EQ(chmod(folder_.c_str(), 01777), 0);
  EXPECT_TRUE(BoundSocket::Bind(path_, 0666).ok()) << "sticky: only the owner removes a file";
}

TEST_F(SocketPathTest, AFolderOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(chown(folder_.c_str(), 65534, 65534), 0);
  EXPECT_THAT(ErrorOf(path_, absl::StatusCode::kFailedPrecondition),
              HasSubstr("belongs to user 65534"));
}

TEST_F(SocketPathTest, APathMustBeAbsoluteAndShort) {
  EXPECT_THAT(ErrorOf("blazed.sock", absl::StatusCode::kInvalidArgument),
              HasSubstr("not absolute"));
  EXPECT_THAT(ErrorOf("", absl::StatusCode::kInvalidArgument), HasSubstr("not absolute"));
  EXPECT_THAT(ErrorOf(std::string("/").append(107, 'x'), absl::StatusCode::kInvalidArgument),
              HasSubstr("108 bytes and the kernel takes 107"));
}

TEST_F(SocketPathTest, APathThatNamesAFolderMakesNone) {
  EXPECT_THAT(ErrorOf(path_ + "/", absl::StatusCode::kInvalidArgument), HasSubstr("ends in /"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SocketPathTest, NoLockIsLeftBesideWhatIsNoSocket) {
  std::filesystem::create_directory(path_);
  ErrorOf(path_, absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".lock"));
}

TEST_F(SocketPathTest, WhatTookItsPlaceMeanwhileStays) {
  {
    auto bound = BoundSocket::Bind(path_, 0666);
    ASSERT_TRUE(bound.ok());
    ASSERT_EQ(unlink(path_.c_str()), 0);
    std::ofstream(path_) << "another's";
  }
  EXPECT_TRUE(std::filesystem::exists(path_));
}

class PassedSocketsTest : public SocketPathTest {
 protected:
  void Pass(int count, const char* names) {
    setenv("LISTEN_PID", std::to_string(getpid()).c_str(), 1);
    setenv("LISTEN_FDS", std::to_string(count).c_str(), 1);
    setenv("LISTEN_FDNAMES", names, 1);
  }
};

TEST_F(PassedSocketsTest, NothingIsTakenThatIsMeantForAnother) {
  setenv("LISTEN_PID", "1", 1);
  setenv("LISTEN_FDS", "1", 1);
  auto passed = TakePassedSockets();
  ASSERT_TRUE(passed.ok());
  EXPECT_FALSE(passed->main.valid());
  EXPECT_EQ(getenv("LISTEN_FDS"), nullptr);
}

TEST_F(PassedSocketsTest, AListeningSocketIsTaken) {
  auto bound = BoundSocket::Bind(path_, 0666);
  ASSERT_TRUE(bound.ok());
  const UniqueFd listening = bound->TakeListening();
  const int before = dup(3);  // whatever a test runner left there
  ASSERT_EQ(dup2(listening.get(), 3), 3);
  Pass(1, "blazed");
  auto passed = TakePassedSockets();
  ASSERT_TRUE(passed.ok()) << passed.status();
  EXPECT_EQ(passed->main.get(), 3);
  EXPECT_EQ(fcntl(3, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  if (before >= 0) {
    passed->main.release();
    dup2(before, 3);
    close(before);
  }
}

TEST_F(PassedSocketsTest, ASocketThatDoesNotListenIsRefused) {
  const int before = dup(3);
  const UniqueFd plain(socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_GE(dup2(plain.get(), 3), 3);
  Pass(1, "blazed");
  EXPECT_EQ(TakePassedSockets().status().code(), absl::StatusCode::kFailedPrecondition);
  if (before >= 0) {
    dup2(before, 3);
    close(before);
  }
}

}  // namespace
}  // namespace blazed::rpc
