#include "client/trainer/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Text, FilesOfAFolderComeSortedWithoutLinksAndFolders) {
  const TempFolder folder;
  const std::string b = folder.Write("b", "bee");
  const std::string a = folder.Write("a", "ay");
  std::filesystem::create_symlink(a, folder.At("c"));
  std::filesystem::create_directory(folder.At("d"));
  const auto texts = TextsIn(folder.path());
  ASSERT_TRUE(texts.ok()) << texts.status();
  EXPECT_THAT(*texts, ElementsAre(a, b));
}

TEST(Text, AFolderWithoutTextsIsOneSentenceThatNamesTheFlag) {
  const TempFolder folder;
  EXPECT_EQ(TextsIn(folder.path()).status().code(), absl::StatusCode::kNotFound);
  const auto missing = TextsIn(folder.At("absent"));
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("--text"));
}

TEST(Text, JoinsFilesInTheOrderGivenWithALineBreakBetween) {
  const TempFolder folder;
  const std::string first = folder.Write("1", "one");
  const std::string second = folder.Write("2", "two\n");
  EXPECT_EQ(*ReadTexts({second, first, second}), "two\none\ntwo\n");
}

TEST(Text, KeepsEveryByte) {
  const TempFolder folder;
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  EXPECT_EQ(*ReadTexts({folder.Write("bytes", bytes)}), bytes);
}

TEST(Text, EachBadFileIsNamedWithTheCallersMove) {
  const TempFolder folder;
  const auto expect = [](const std::string& path, absl::StatusCode code, const char* part) {
    const auto text = ReadTexts({path});
    EXPECT_EQ(text.status().code(), code) << text.status();
    EXPECT_THAT(std::string(text.status().message()), HasSubstr(path));
    EXPECT_THAT(std::string(text.status().message()), HasSubstr(part));
    EXPECT_THAT(std::string(text.status().message()), HasSubstr("--text"));
  };
  expect(folder.At("absent"), absl::StatusCode::kNotFound, "No such file");
  expect(folder.path(), absl::StatusCode::kFailedPrecondition, "is a folder");
  expect(folder.Write("empty", ""), absl::StatusCode::kFailedPrecondition, "is empty");
  expect("/dev/null", absl::StatusCode::kFailedPrecondition, "not a regular file");
  const std::string pipe = folder.At("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect(pipe, absl::StatusCode::kFailedPrecondition, "not a regular file");
}

TEST(Text, AnEmptyFileAmongFullOnesIsRefusedToo) {
  const TempFolder folder;
  const auto text = ReadTexts({folder.Write("full", "x"), folder.Write("empty", "")});
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("empty"));
}

TEST(Text, StopsAtTheLimitInsteadOfFillingMemory) {
  const TempFolder folder;
  const std::string path = folder.Write("large", "x");
  // A sparse file: its size costs no disk.
  std::filesystem::resize_file(path, static_cast<uintmax_t>(kMaxTextBytes) + 1);
  EXPECT_EQ(ReadTexts({path}).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace blazed::trainer
