#include "client/blazectl/table.h"

#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {
namespace {

Table Sample() {
  Table table({{"id", Align::kRight, Stretch::kRigid, 0},
               {"name", Align::kLeft, Stretch::kElastic, 0},
               {"pairs", Align::kRight, Stretch::kRigid, 2},
               {"host", Align::kLeft, Stretch::kRigid, 1}});
  table.Add({{"1"}, {"a name that goes on and on"}, {"640"}, {"trainer"}});
  table.Add({{"12"}, {"short", Ink::kGood}, {"7"}, {""}});
  return table;
}

size_t Widest(const std::string& text) {
  size_t widest = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n'))
    widest = std::max(widest, Columns(line));
  return widest;
}

TEST(Table, AlignsColumnsAndLeavesNoBlanksAtTheEnd) {
  EXPECT_EQ(Sample().Render({}),
            "id  name                        pairs  host\n"
            " 1  a name that goes on and on    640  trainer\n"
            "12  short                           7\n");
}

TEST(Table, IntoAPipeKeepsAllColumnsAndShortensWhatHasNoBound) {
  Table table = Sample();
  table.Add({{"3"}, {std::string(500, 'n')}, {"1"}, {std::string(60, 'h')}});
  const std::string text = table.Render({});
  EXPECT_EQ(Widest(text), 2u + 2 + 48 + 2 + 5 + 2 + 60) << text;
  EXPECT_NE(text.find("nnn..."), std::string::npos) << text;
}

TEST(Table, ShortensElasticColumnsFirst) {
  const std::string text = Sample().Render({40, false});
  EXPECT_LE(Widest(text), 40u);
  EXPECT_NE(text.find("a name that goes ..."), std::string::npos) << text;
  EXPECT_NE(text.find("host"), std::string::npos);
}

TEST(Table, DropsTheLeastImportantColumnWhereShorteningIsNotEnough) {
  const std::string text = Sample().Render({24, false});
  EXPECT_LE(Widest(text), 24u);
  EXPECT_EQ(text.find("host"), std::string::npos);
  EXPECT_NE(text.find("pairs"), std::string::npos);
}

TEST(Table, KeepsColumnsOfImportanceZeroOnTheNarrowestScreen) {
  const std::string text = Sample().Render({3, false});
  EXPECT_NE(text.find("id"), std::string::npos);
  EXPECT_NE(text.find("name"), std::string::npos);
}

TEST(Table, ColoursOnlyWhereTheScreenDoes) {
  EXPECT_EQ(Sample().Render({0, false}).find('\x1b'), std::string::npos);
  EXPECT_NE(Sample().Render({0, true}).find("\x1b[32mshort"), std::string::npos);
}

}  // namespace
}  // namespace blazed::blazectl
