#include "client/trainer/workloads/corpus.h"

#include <gtest/gtest.h>

#include <string>

namespace blazed::workloads {
namespace {

TEST(Corpus, NumbersCharactersByValue) {
  const auto corpus = Corpus::FromText("cab\na", 1);
  ASSERT_TRUE(corpus.ok());
  ASSERT_EQ(corpus->size(), 5);
  const int32_t expected[] = {3, 1, 2, 0, 1};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(corpus->id(i), expected[i]);
}

TEST(Corpus, KeepsIdsWithinTheVocabularyWhateverTheBytes) {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) text.push_back(static_cast<char>(byte));
  const auto corpus = Corpus::FromText(text, 1);
  ASSERT_TRUE(corpus.ok());
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(corpus->id(i), std::min(i, Corpus::kVocabulary - 1));
  }
}

TEST(Corpus, RefusesATextThatIsTooShort) {
  const auto corpus = Corpus::FromText("short", 6);
  EXPECT_EQ(corpus.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(corpus.status().message(), "the text has 5 characters, fewer than the 6 a batch needs");
}

}  // namespace
}  // namespace blazed::workloads
