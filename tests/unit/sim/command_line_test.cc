#include "client/sim/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "client/sim/judge.h"

namespace blazed::sim {
namespace {

std::variant<SimOptions, Farewell> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "blaze-sim");
  return ParseSimCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

const char* AnyScenario() { return Scenarios().front().name; }

TEST(SimCommandLine, TakesAScenarioAndItsFlags) {
  const auto parsed =
      Parse({AnyScenario(), "--runs", "7", "--seed", "18446744073709551615", "--json", "--check",
             "--threads", "3", "--boundaries", "5,12", "--build-s", "2.5"});
  const auto* options = std::get_if<SimOptions>(&parsed);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->scenario, &Scenarios().front());
  EXPECT_EQ(options->request.runs, 7u);
  EXPECT_EQ(options->request.seed, UINT64_MAX);
  EXPECT_TRUE(options->json);
  EXPECT_TRUE(options->check);
  EXPECT_EQ(options->request.threads, 3u);
  EXPECT_EQ(options->request.boundaries, (std::vector<uint32_t>{5, 12}));
  EXPECT_EQ(options->request.build_s, 2.5);
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
      {AnyScenario(), "--threads", "0"},
      {AnyScenario(), "--boundaries", "0"},
      {AnyScenario(), "--boundaries", "5,257"},
      {AnyScenario(), "--build-s", "-1"},
      {AnyScenario(), "--build-s", "nan"},
      {AnyScenario(), "--build-s", "-NAN"},
      {AnyScenario(), "--build-s", "inf"},
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

TEST(SimCommandLine, HelpOfAScenarioNamesItsFieldsAndItsBars) {
  for (const Scenario& scenario : Scenarios()) {
    const auto parsed = Parse({scenario.name, "--help"});
    const auto& farewell = std::get<Farewell>(parsed);
    EXPECT_EQ(farewell.code, 0);
    for (const Field& field : scenario.fields) {
      EXPECT_NE(farewell.text.find(std::string(field.name) + ": " + field.meaning),
                std::string::npos);
    }
    for (const Bar& bar : scenario.bars) {
      EXPECT_NE(farewell.text.find(TextOf(bar)), std::string::npos) << TextOf(bar);
    }
  }
}

}  // namespace
}  // namespace blazed::sim
