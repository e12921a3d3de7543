#include "client/trainer/report/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/trainer/temp_folder.h"

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
