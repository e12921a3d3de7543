// The pages that list the flags of blaze-train and blaze-demo say what --help says.

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes parts of its own <regex> for uninitialised under the address sanitizer.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "client/trainer/demo/demo_options.h"
#include "client/trainer/format.h"
#include "client/trainer/options.h"
#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

struct Flag {
  std::string fallback;              // the default; empty: none
  std::vector<std::string> choices;  // of a closed list
  std::string most;                  // the upper end of a range; empty: none
  bool operator==(const Flag&) const = default;
};

// A line of --help such as "  --steps N:INT in [1 - 9]=7  text" or "  --until a|b=a text".
std::map<std::string, Flag> FlagsOfHelp(const std::string& help) {
  static const std::regex kLine(
      R"(^  (?:-h,)?(--[a-z-]+)(?: ([A-Za-z.|]+))?(?::[^\s=]*(?: in \[\S+ - (\S+)\])?)?(?:=(\S+))?.*)");
  std::map<std::string, Flag> flags;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, kLine)) continue;
    Flag flag{parts[4], absl::StrSplit(parts[2].str(), '|'), parts[3]};
    if (flag.choices.size() < 2) flag.choices.clear();
    flags[parts[1]] = std::move(flag);
  }
  return flags;
}

// Rows of the page's table of flags: "| `--a N`, `--b` | `default` | meaning |".
std::map<std::string, std::vector<std::string>> RowsOfPage(const std::string& name) {
  static const std::regex kFlag(R"(`(--[a-z-]+)[^`]*`)");
  std::map<std::string, std::vector<std::string>> rows;
  std::istringstream lines(TempFolder::Read(BLAZED_SOURCE_DIR "/docs/" + name));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| `--", 0) != 0) continue;
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    for (std::sregex_iterator it(cells[1].begin(), cells[1].end(), kFlag), end; it != end; ++it) {
      rows[(*it)[1]] = cells;
    }
  }
  return rows;
}

void ExpectPageSays(const std::string& page, const std::string& help) {
  const auto flags = FlagsOfHelp(help);
  const auto rows = RowsOfPage(page);
  ASSERT_GT(flags.size(), 5u) << help;
  for (const auto& [name, flag] : flags) {
    SCOPED_TRACE(page + " " + name);
    const auto row = rows.find(name);
    if (row == rows.end()) {
      ADD_FAILURE() << "has no row";
      continue;
    }
    const std::string& fallback = row->second[2];
    EXPECT_EQ(fallback, flag.fallback.empty() ? " " : " `" + flag.fallback + "` ");
    int64_t most = 0;
    if (absl::SimpleAtoi(flag.most, &most)) {
      EXPECT_THAT(row->second[3], testing::ContainsRegex(CountText(most) + "([^0-9,]|,[^0-9])"));
    }
    for (const std::string& choice : flag.choices) {
      EXPECT_THAT(row->second[3], testing::HasSubstr("`" + choice + "`"));
    }
  }
  for (const auto& [name, row] : rows) {
    EXPECT_TRUE(flags.contains(name)) << page << " names " << name << ", which the program lacks";
  }
}

template <typename Parse>
std::string Help(const char* program, Parse parse) {
  const std::vector<const char*> arguments = {program, "--help"};
  return std::get<Ending>(parse(2, arguments.data())).to_stdout;
}

TEST(FlagsPage, TheTrainersIsWhatItsHelpSays) {
  const std::string help = Help("blaze-train", ParseTrainCommandLine);
  const auto flags = FlagsOfHelp(help);
  EXPECT_EQ(flags.at("--steps").fallback, "1000");
  EXPECT_EQ(flags.at("--until"), (Flag{"steps", {"steps", "settled"}, ""}));
  EXPECT_EQ(flags.at("--width").most, "16384");
  ExpectPageSays("blaze-train.md", help);
}

TEST(FlagsPage, TheDemosIsWhatItsHelpSays) {
  ExpectPageSays("demo.md", Help("blaze-demo", ParseDemoCommandLine));
}

}  // namespace
}  // namespace blazed::trainer
