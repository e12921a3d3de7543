#include "daemon/base/process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace blazed {
namespace {

constexpr char kId[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

TEST(Process, NamesThisProcessTheSameTwice) {
  const uint64_t ticks = StartTicks(getpid());
  EXPECT_GT(ticks, 0u);
  EXPECT_EQ(ticks, StartTicks(getpid()));
  EXPECT_EQ(ProcessName(7, 9), BootId() + "/7/9");
}

TEST(Process, KnowsNothingOfAProcessThatIsGone) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(StartTicks(child), 0u);
  EXPECT_EQ(CgroupText(child), "");
  EXPECT_FALSE(OpenPidfd(child).valid());
}

TEST(Process, APidfdTellsTheEnd) {
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    close(pipe_fds[1]);
    (void)!read(pipe_fds[0], &byte, 1);
    _exit(0);
  }
  UniqueFd pidfd = OpenPidfd(child);
  ASSERT_TRUE(pidfd.valid());
  pollfd waiting{pidfd.get(), POLLIN, 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0);
  close(pipe_fds[1]);
  EXPECT_EQ(poll(&waiting, 1, 60'000), 1);
  waitpid(child, nullptr, 0);
  close(pipe_fds[0]);
}

TEST(Process, FindsTheContainerOfACgroup) {
  EXPECT_EQ(ContainerOf("0::/user.slice/user-1000.slice/session-3.scope\n"), "");
  EXPECT_EQ(ContainerOf("0::/system.slice/ssh.service\n"), "");
  EXPECT_EQ(ContainerOf(std::string("0::/system.slice/docker-") + kId + ".scope\n"),
            std::string("docker-") + kId + ".scope");
  EXPECT_EQ(ContainerOf(std::string("12:cpu:/docker/") + kId + "\n0::/\n"), kId);
  EXPECT_EQ(ContainerOf(std::string("0::/kubepods/pod1/") + kId + "/init\n"), kId);
  EXPECT_EQ(ContainerOf("0::/lxc.payload.web/init.scope\n"), "lxc.payload.web");
  EXPECT_EQ(ContainerOf("0::/machine.slice/machine-deb.scope\n"), "machine-deb.scope");
}

TEST(Process, ARunScopeOfSystemdIsNoContainer) {
  EXPECT_EQ(ContainerOf("0::/system.slice/run-r0123456789abcdef0123456789abcdef.scope\n"), "");
}

TEST(Process, AContainerInsideAnotherIsNamedWithTheOuterOne) {
  EXPECT_EQ(ContainerOf(std::string("0::/docker/") + kId + "/machine.slice/machine-in.scope\n"),
            std::string(kId) + "/machine-in.scope");
}

TEST(Process, AContainerCannotNameItselfAsAnother) {
  const std::string other(64, 'f');
  EXPECT_NE(ContainerOf(std::string("0::/docker/") + kId + "/docker/" + other + "\n"),
            ContainerOf("0::/docker/" + other + "\n"));
}

TEST(Process, OneThatEndsIsLeavingAlsoBeforeItIsReaped) {
  EXPECT_FALSE(IsLeaving(getpid()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(IsLeaving(child));
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(IsLeaving(child));
}

}  // namespace
}  // namespace blazed
