#include "client/blazectl/command_line.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace blazed::blazectl {
namespace {

Options Parsed(std::vector<std::string> arguments) {
  auto result = ParseCommandLine(std::move(arguments));
  if (const auto* farewell = std::get_if<Farewell>(&result)) {
    ADD_FAILURE() << farewell->text;
    return {};
  }
  return std::get<Options>(result);
}

Farewell Refused(std::vector<std::string> arguments) {
  auto result = ParseCommandLine(std::move(arguments));
  if (const auto* farewell = std::get_if<Farewell>(&result)) return *farewell;
  ADD_FAILURE() << "was accepted";
  return {};
}

TEST(CommandLine, TakesGlobalFlagsBeforeAndAfterTheVerb) {
  const std::vector<std::vector<std::string>> orders = {
      {"--socket", "s", "--json", "--timeout", "500ms", "--no-color", "races", "ab12"},
      {"races", "ab12", "--socket", "s", "--json", "--timeout", "500ms", "--no-color"},
      {"--json", "races", "--socket=s", "ab12", "--timeout=.5", "--no-color"}};
  for (const auto& order : orders) {
    const Options options = Parsed(order);
    EXPECT_EQ(options.verb, Verb::kRaces);
    EXPECT_EQ(options.socket, "s");
    EXPECT_EQ(options.output, Output::kJson);
    EXPECT_EQ(options.colour, Colour::kNever);
    EXPECT_EQ(options.timeout, absl::Milliseconds(500));
    EXPECT_EQ(options.workload, "ab12");
  }
}

TEST(CommandLine, ReadsABareTimeoutAsSeconds) {
  EXPECT_EQ(Parsed({"health", "--timeout", "2"}).timeout, absl::Seconds(2));
  EXPECT_EQ(Parsed({"health"}).timeout, std::nullopt);
}

TEST(CommandLine, RefusesWrongUsageWithOneSentenceAndTheNextMove) {
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"nope"},
                                                       {"status", "--frob"},
                                                       {"report"},
                                                       {"plans", "--limit", "0"},
                                                       {"plans", "--limit", "10001"},
                                                       {"explain", "--plan", "-1"},
                                                       {"watch", "--events", "x"},
                                                       {"watch", "--after", "-1"},
                                                       {"watch", "--after", "18446744073709551616"},
                                                       {"watch", "--after", ""},
                                                       {"status", "--socket", ""},
                                                       {"status", "--socket="},
                                                       {"status", "--timeout", "0"},
                                                       {"status", "--timeout", "-1s"},
                                                       {"status", "--timeout", "inf"},
                                                       {"status", "--timeout", "2h"},
                                                       {"status", "--timeout", "soon"},
                                                       {"status", "extra"}};
  for (const auto& arguments : wrong) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const Farewell farewell = Refused(arguments);
    EXPECT_EQ(farewell.code, ExitCode::kUsage);
    EXPECT_EQ(farewell.text.rfind("blazectl: ", 0), 0u) << farewell.text;
    EXPECT_NE(farewell.text.find("blazectl --help"), std::string::npos) << farewell.text;
    EXPECT_EQ(farewell.text.find('\n'), farewell.text.size() - 1) << farewell.text;
    // A range of the library's own is written out with hundreds of digits.
    EXPECT_LT(farewell.text.size(), 200u) << farewell.text;
  }
}

TEST(CommandLine, NamesAnUnknownVerb) {
  EXPECT_NE(Refused({"nope", "--json"}).text.find("'nope'"), std::string::npos);
}

TEST(CommandLine, HelpAndVersionSucceed) {
  EXPECT_EQ(Refused({"--help"}).code, ExitCode::kOk);
  EXPECT_EQ(Refused({"--version"}).code, ExitCode::kOk);
  EXPECT_NE(Refused({"--help"}).text.find("settlements"), std::string::npos);
  EXPECT_NE(Refused({"watch", "--help"}).text.find("blazectl watch"), std::string::npos);
}

TEST(CommandLine, AFarewellThatCouldNotBePrintedIsAnError) {
  std::FILE* good = std::tmpfile();
  std::FILE* bad = std::fopen("/proc/self/status", "re");  // takes no byte
  ASSERT_NE(bad, nullptr);
  EXPECT_EQ(PrintFarewell({ExitCode::kOk, "help"}, good, good), ExitCode::kOk);
  EXPECT_EQ(PrintFarewell({ExitCode::kOk, "help"}, bad, good), ExitCode::kError);
  EXPECT_EQ(PrintFarewell({ExitCode::kUsage, "wrong"}, bad, good), ExitCode::kUsage);
  std::fclose(bad);
  std::fclose(good);
}

TEST(CommandLine, ReadsEachVerbsOwnArguments) {
  EXPECT_EQ(Parsed({"explain", "attention", "--plan", "7"}).plan, 7u);
  EXPECT_EQ(Parsed({"watch", "--after", "9", "--events", "2"}).after, 9u);
  EXPECT_EQ(Parsed({"report", "12"}).session, "12");
  EXPECT_EQ(Parsed({"health", "store"}).subsystem, "store");
  EXPECT_EQ(Parsed({"graphs", "--limit", "3"}).limit, 3u);
}

}  // namespace
}  // namespace blazed::blazectl
