#include "client/trainer/terminal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "client/trainer/command_line.h"
#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

TEST(Terminal, WritesAllOfAText) {
  const TempFolder folder;
  const std::string path = folder.Write("out", "");
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  EXPECT_TRUE(WriteText(fd, "a text"));
  close(fd);
  EXPECT_EQ(TempFolder::Read(path), "a text");
}

TEST(Terminal, AReaderThatWentAwayIsNoErrorAndEveryOtherLossIs) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  EXPECT_TRUE(WriteText(ends[1], "a text"));
  close(ends[1]);
  const TempFolder folder;
  const int read_only = open(folder.path().c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(WriteText(read_only, "a text"));
  close(read_only);
}

// In a process of its own, whose output is a place that takes none.
TEST(Terminal, AnEndingThatCouldNotBePrintedIsAFailure) {
  const auto print = [] {
    close(STDOUT_FILENO);
    _exit(PrintEnding("blaze-train", {0, "help", ""}));
  };
  EXPECT_EXIT(print(), testing::ExitedWithCode(1),
              "blaze-train: cannot write to standard output: .*; ");
  EXPECT_EQ(PrintEnding("blaze-train", {2, "", ""}), 2);
}

}  // namespace
}  // namespace blazed::trainer
