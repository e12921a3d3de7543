// Who connected, when the process that did is there, gone, or on its way out.
#include "daemon/rpc/read_peer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "daemon/base/process.h"
#include "daemon/rpc/admin_service.h"
#include "daemon/rpc/identify.h"

namespace blazed::rpc {
namespace {

using absl::StatusCode;

std::string Unplaced() { return absl::StrCat("uid:", geteuid(), " unplaced"); }

// A listening socket that children connect to.
class ReadPeerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/peer-XXXXXX";
    folder_ = mkdtemp(name.data());
    address_.sun_family = AF_UNIX;
    const std::string path = folder_ + "/s";
    memcpy(address_.sun_path, path.c_str(), path.size() + 1);
    listening_ = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(listening_.get(), Address(), sizeof(address_)), 0);
    ASSERT_EQ(listen(listening_.get(), 8), 0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const sockaddr* Address() const { return reinterpret_cast<const sockaddr*>(&address_); }

  // In a child: its connection, which outlives it in whoever it leaves it to.
  int Connect() const {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, Address(), sizeof(address_)) != 0) _exit(1);
    return fd;
  }

  UniqueFd Accept() const {
    return UniqueFd(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

  std::string folder_;
  sockaddr_un address_{};
  UniqueFd listening_;
};

TEST_F(ReadPeerTest, TellsWhoConnected) {
  const UniqueFd here(Connect());
  const UniqueFd there = Accept();
  const auto peer = ReadPeer(there.get());
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ(peer->uid, geteuid());
  EXPECT_EQ(peer->pid, getpid());
  EXPECT_FALSE(peer->process.empty());
  EXPECT_NE(peer->pidfd, nullptr);
  EXPECT_EQ(peer->principal, PrincipalOf(geteuid(), ContainerOf(CgroupText(getpid()))));
  EXPECT_EQ(peer->principal, OwnPrincipal());
}

TEST_F(ReadPeerTest, OneThatIsGoneIsNotTakenForAProcessOfTheHost) {
  const pid_t child = fork();
  if (child == 0) {
    Connect();
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const UniqueFd there = Accept();
  const auto peer = ReadPeer(there.get());
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ(peer->principal, Unplaced());
}

TEST_F(ReadPeerTest, OneThatEndedAndWaitsToBeReapedIsNotEither) {
  const pid_t child = fork();
  if (child == 0) {
    Connect();
    _exit(0);
  }
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  const UniqueFd there = Accept();
  const auto peer = ReadPeer(there.get());
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ(peer->principal, Unplaced());
  waitpid(child, nullptr, 0);
}

// Its pidfd says nothing yet, since another thread lives on; what /proc says of it is the root
// group's already in a hierarchy of version 1.
TEST_F(ReadPeerTest, OneWhoseFirstThreadIsGoneIsNotEither) {
  int until_end[2];
  ASSERT_EQ(pipe2(until_end, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(until_end[1]);
    Connect();
    std::thread([&] {
      char byte;
      (void)!read(until_end[0], &byte, 1);
      _exit(0);
    }).detach();
    syscall(SYS_exit, 0);
  }
  const UniqueFd there = Accept();
  while (!IsLeaving(child)) std::this_thread::yield();
  const auto peer = ReadPeer(there.get());
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ(peer->principal, Unplaced());
  close(until_end[1]);
  waitpid(child, nullptr, 0);
  close(until_end[0]);
}

TEST(Principal, IsTheUserAndTheContainer) {
  EXPECT_EQ(PrincipalOf(1000, ""), "uid:1000");
  EXPECT_EQ(PrincipalOf(0, "docker-x"), "uid:0 container:docker-x");
}

session::Peer PeerOf(uint32_t uid, const std::string& principal) {
  session::Peer peer;
  peer.uid = uid;
  peer.principal = principal;
  return peer;
}

TEST(CheckOperator, TakesRootOfTheMachineAndTheDaemonsOwnPrincipal) {
  EXPECT_TRUE(CheckOperator(PeerOf(0, "uid:0"), "uid:7").ok());
  EXPECT_TRUE(CheckOperator(PeerOf(7, "uid:7"), "uid:7").ok());
  EXPECT_TRUE(CheckOperator(PeerOf(7, "uid:7 container:c"), "uid:7 container:c").ok());
}

TEST(CheckOperator, TakesNoNumberForARight) {
  for (const auto& [uid, principal] :
       {std::pair(0u, "uid:0 container:c"), std::pair(0u, "uid:0 unplaced"),
        std::pair(7u, "uid:7 container:c"), std::pair(7u, "uid:7 unplaced"),
        std::pair(8u, "uid:8")}) {
    EXPECT_EQ(CheckOperator(PeerOf(uid, principal), "uid:7").code(), StatusCode::kPermissionDenied)
        << principal;
    EXPECT_EQ(CheckOperator(PeerOf(uid, principal), "").code(), StatusCode::kPermissionDenied)
        << principal;
  }
}

TEST(IsRoot, IsRootOfTheMachineAndOfTheDaemonsOwnContainer) {
  session::Peer peer;
  peer.uid = 0;
  const std::string here = PrincipalOf(0, "docker-a");
  for (const auto& [principal, root] :
       std::map<std::string, bool>{{"uid:0", true},
                                   {here, true},
                                   {PrincipalOf(0, "docker-b"), false},
                                   {PrincipalOf(0, "docker-a/docker-b"), false},
                                   {"uid:0 unplaced", false}}) {
    peer.principal = principal;
    EXPECT_EQ(IsRoot(peer, here), root) << principal;
  }
  peer.principal = "";
  EXPECT_FALSE(IsRoot(peer, "")) << "where nobody knows where the daemon runs";
  peer.uid = 1000;
  peer.principal = PrincipalOf(1000, "docker-a");
  EXPECT_FALSE(IsRoot(peer, here));
}

}  // namespace
}  // namespace blazed::rpc
