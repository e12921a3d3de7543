#include "client/trainer/report/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "client/trainer/signals.h"

#include "tests/unit/trainer/temp_folder.h"

// Stand in front of the system's: a file system that keeps no rights. 0: the system answers.
static int rights_refused = 0;

extern "C" int fchown(int fd, uid_t owner, gid_t group) noexcept {
  if (rights_refused == 0) return static_cast<int>(syscall(SYS_fchown, fd, owner, group));
  errno = rights_refused;
  return -1;
}

extern "C" int fchmod(int fd, mode_t mode) noexcept {
  if (rights_refused == 0) return static_cast<int>(syscall(SYS_fchmod, fd, mode));
  errno = rights_refused;
  return -1;
}

namespace blazed::trainer {
namespace {

using testing::HasSubstr;

size_t FilesIn(const std::string& path) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
}

TEST(AtomicFile, ReplacesTheWholeContentAndLeavesNothingBeside) {
  const TempFolder folder;
  const std::string path = folder.Write("report.json", "an earlier and longer content");
  ASSERT_TRUE(WriteAtomically(path, "short").ok());
  EXPECT_EQ(TempFolder::Read(path), "short");
  EXPECT_EQ(FilesIn(folder.path()), 1u);
}

TEST(AtomicFile, KeepsTheModeOfAReportAndGivesANewOneTheUsualOne) {
  const TempFolder folder;
  const auto mode_of = [](const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    return info.st_mode & 0777u;
  };
  const std::string kept = folder.Write("private.json", "x");
  ASSERT_EQ(chmod(kept.c_str(), 0600), 0);
  ASSERT_TRUE(WriteAtomically(kept, "content").ok());
  EXPECT_EQ(mode_of(kept), 0600u);
  const mode_t before = umask(0027);
  const absl::Status status = WriteAtomically(folder.At("new.json"), "content");
  EXPECT_EQ(umask(before), 0027u);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(mode_of(folder.At("new.json")), 0640u);
}

TEST(AtomicFile, TakesTheLongestNameThatAFileCanHaveAndRefusesALongerOneBeforeTheRun) {
  const TempFolder folder;
  const std::string longest = folder.At(std::string(255, 'x'));
  EXPECT_TRUE(CheckWritable(longest).ok());
  EXPECT_TRUE(WriteAtomically(longest, "content").ok());
  EXPECT_EQ(TempFolder::Read(longest), "content");
  EXPECT_FALSE(CheckWritable(longest + "x").ok());
}

TEST(AtomicFile, LeavesAReportItsOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can write another's report";
  const TempFolder folder;
  const std::string path = folder.Write("theirs.json", "x");
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  ASSERT_TRUE(WriteAtomically(path, "content").ok());
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 65534u);
  EXPECT_EQ(info.st_gid, 65534u);
}

TEST(AtomicFile, NoReportIsLostOverRightsThatCannotBeGiven) {
  const TempFolder folder;
  const std::string path = folder.Write("r.json", "earlier");
  for (const int error : {EINVAL, EPERM, EOPNOTSUPP}) {
    for (const std::string& name : {path, folder.At(absl::StrCat("new", error))}) {
      rights_refused = error;
      const absl::Status status = WriteAtomically(name, "{}");
      rights_refused = 0;
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(TempFolder::Read(name), "{}");
    }
  }
}

TEST(AtomicFile, AFailedWriteKeepsWhatWasThereAndNamesTheFile) {
  const TempFolder folder;
  const std::string path = folder.At("taken");
  std::filesystem::create_directory(path);
  folder.Write("taken/inside", "x");
  const absl::Status status = WriteAtomically(path, "content");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  EXPECT_EQ(FilesIn(folder.path()), 1u);
  EXPECT_EQ(TempFolder::Read(folder.At("taken/inside")), "x");
}

TEST(AtomicFile, TheUsersUsualModeApplies) {
  const TempFolder folder;
  const std::string path = folder.At("r.json");
  const std::string usual = folder.Write("usual", "");
  ASSERT_TRUE(WriteAtomically(path, "{}").ok());
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::status(usual).permissions());
}

mode_t TypeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & S_IFMT;
}

TEST(AtomicFile, ALinkStaysALinkAndItsTargetIsReplaced) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.At("there"));
  folder.Write("there/target.json", "earlier");
  std::filesystem::create_symlink("there/target.json", folder.At("link"));
  std::filesystem::create_symlink("link", folder.At("link_to_link"));
  ASSERT_TRUE(CheckWritable(folder.At("link_to_link")).ok());
  ASSERT_TRUE(WriteAtomically(folder.At("link_to_link"), "{}").ok());
  EXPECT_EQ(TypeOf(folder.At("link")), static_cast<mode_t>(S_IFLNK));
  EXPECT_EQ(TypeOf(folder.At("link_to_link")), static_cast<mode_t>(S_IFLNK));
  EXPECT_EQ(TempFolder::Read(folder.At("there/target.json")), "{}");
  EXPECT_EQ(FilesIn(folder.At("there")), 1u);
}

TEST(AtomicFile, ALinkToNothingMakesItsTarget) {
  const TempFolder folder;
  std::filesystem::create_symlink("absent.json", folder.At("link"));
  ASSERT_TRUE(WriteAtomically(folder.At("link"), "{}").ok());
  EXPECT_EQ(TypeOf(folder.At("link")), static_cast<mode_t>(S_IFLNK));
  EXPECT_EQ(TempFolder::Read(folder.At("absent.json")), "{}");
}

TEST(AtomicFile, LinksThatLeadNowhereAreFoundBeforeTheRun) {
  const TempFolder folder;
  std::filesystem::create_symlink("a", folder.At("b"));
  std::filesystem::create_symlink("b", folder.At("a"));
  std::filesystem::create_symlink("absent/r.json", folder.At("c"));
  EXPECT_FALSE(CheckWritable(folder.At("a")).ok());
  EXPECT_FALSE(CheckWritable(folder.At("c")).ok());
  EXPECT_FALSE(WriteAtomically(folder.At("a"), "{}").ok());
}

TEST(AtomicFile, AFifoStaysAFifoAndItsReaderGetsTheContent) {
  const TempFolder folder;
  const std::string fifo = folder.At("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_TRUE(CheckWritable(fifo).ok());
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  EXPECT_EQ(WriteAtomically(fifo, "{}").message(), "");
  char got[8] = {};
  EXPECT_EQ(read(reader, got, sizeof got), 2);
  EXPECT_STREQ(got, "{}");
  close(reader);
  EXPECT_EQ(TypeOf(fifo), static_cast<mode_t>(S_IFIFO));
  EXPECT_EQ(FilesIn(folder.path()), 1u);
}

TEST(AtomicFile, AFifoThatNobodyReadsIsAnErrorAndNoWait) {
  const TempFolder folder;
  const std::string fifo = folder.At("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(std::string(WriteAtomically(fifo, "{}").message()), HasSubstr("nobody reads it"));
  EXPECT_EQ(TypeOf(fifo), static_cast<mode_t>(S_IFIFO));
}

TEST(AtomicFile, ACharacterDeviceStaysADevice) {
  const TempFolder folder;
  const std::string device = folder.At("null");
  if (mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "this user may make no device node: " << std::strerror(errno);
  }
  EXPECT_TRUE(CheckWritable(device).ok());
  // Where devices are mounted without effect the bytes are refused; the node stays all the same.
  const absl::Status written = WriteAtomically(device, "{}");
  EXPECT_THAT(std::string(written.message()), testing::AnyOf("", HasSubstr(device)));
  EXPECT_EQ(TypeOf(device), static_cast<mode_t>(S_IFCHR));
  EXPECT_EQ(FilesIn(folder.path()), 1u);
}

TEST(AtomicFile, ADescriptorsNameIsWrittenIntoBehindWhatIsThere) {
  const TempFolder folder;
  const std::string path = folder.Write("out.txt", "text\n");
  const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const std::string name = absl::StrCat("/proc/self/fd/", fd);
  std::filesystem::create_symlink(name, folder.At("stdout"));
  EXPECT_TRUE(CheckWritable(folder.At("stdout")).ok());
  EXPECT_EQ(WriteAtomically(folder.At("stdout"), "{}").message(), "");
  close(fd);
  EXPECT_EQ(TempFolder::Read(path), "text\n{}");
  EXPECT_EQ(TypeOf(folder.At("stdout")), static_cast<mode_t>(S_IFLNK));
}

TEST(AtomicFile, ASocketIsRefusedBeforeTheRun) {
  const TempFolder folder;
  const std::string path = folder.At("socket");
  ASSERT_EQ(mknod(path.c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_THAT(std::string(CheckWritable(path).message()), HasSubstr("it is a socket"));
  EXPECT_FALSE(WriteAtomically(path, "{}").ok());
  EXPECT_EQ(TypeOf(path), static_cast<mode_t>(S_IFSOCK));
}

// In a process of its own: the limit and the signals are the process's.
TEST(AtomicFile, ALimitOnTheFileSizeIsAnErrorThatLeavesNothing) {
  const TempFolder folder;
  const auto write_under_limit = [&] {
    const rlimit limit = {1, 1};
    InstallSignals();
    const bool limited = setrlimit(RLIMIT_FSIZE, &limit) == 0;
    const bool refused = !WriteAtomically(folder.At("r.json"), "a report").ok();
    _exit(limited && refused ? 0 : 1);
  };
  EXPECT_EXIT(write_under_limit(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(FilesIn(folder.path()), 0u);
}

TEST(AtomicFile, AnUnwritablePlaceIsFoundBeforeTheRun) {
  const TempFolder folder;
  EXPECT_TRUE(CheckWritable(folder.At("r.json")).ok());
  EXPECT_TRUE(CheckWritable("r.json").ok());
  EXPECT_FALSE(CheckWritable(folder.path()).ok());
  EXPECT_THAT(std::string(CheckWritable(folder.At("absent/r.json")).message()),
              HasSubstr("--report"));
}

}  // namespace
}  // namespace blazed::trainer
