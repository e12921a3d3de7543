#include "client/sim/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace blazed::sim {
namespace {

std::variant<SimOptions, Farewell> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "blaze-sim");
  return ParseSimCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

const char* AnyScenario() { return Scenarios().front().name; }

TEST(SimCommandLine, TakesAScenarioAndItsFlags) {
  const auto parsed =
      Parse({AnyScenario(), "--runs", "7", "--seed", "18446744073709551615", "--json"});
  const auto* options = std::get_if<SimOptions>(&parsed);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->scenario, &Scenarios().front());
  EXPECT_EQ(options->runs, 7u);
  EXPECT_EQ(options->seed, UINT64_MAX);
  EXPECT_TRUE(options->json);
}

TEST(SimCommandLine, WrongUsageIsOneSentenceUnderTheProgramsName) {
  const std::vector<std::vector<const char*>> wrong = {
      {},
      {"nope"},
      {AnyScenario(), "--frob"},
      {AnyScenario(), "--runs", "-1"},
      {AnyScenario(), "--runs", "1000001"},
      {AnyScenario(), "--runs", ""},
      {AnyScenario(), "--seed", "-1"},
      {AnyScenario(), "--seed", "18446744073709551616"},
      {AnyScenario(), "--seed", "1x"},
      {AnyScenario(), "extra"}};
  for (const auto& arguments : wrong) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const auto parsed = Parse(arguments);
    const auto* farewell = std::get_if<Farewell>(&parsed);
    ASSERT_NE(farewell, nullptr);
    EXPECT_EQ(farewell->code, 2);
    EXPECT_EQ(farewell->text.rfind("blaze-sim: ", 0), 0u) << farewell->text;
    EXPECT_NE(farewell->text.find("; see blaze-sim --help\n"), std::string::npos);
    EXPECT_EQ(std::count(farewell->text.begin(), farewell->text.end(), '\n'), 1);
  }
}

TEST(SimCommandLine, HelpNamesEveryScenarioAndSucceeds) {
  const auto parsed = Parse({"--help"});
  const auto& farewell = std::get<Farewell>(parsed);
  EXPECT_EQ(farewell.code, 0);
  for (const Scenario& scenario : Scenarios()) {
    EXPECT_NE(farewell.text.find(scenario.name), std::string::npos) << scenario.name;
  }
  EXPECT_EQ(std::get<Farewell>(Parse({"--version"})).code, 0);
}

}  // namespace
}  // namespace blazed::sim
