#include "client/trainer/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace blazed::trainer {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::variant<TrainOptions, Ending> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "blaze-train");
  return ParseTrainCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

TrainOptions Good(std::vector<const char*> arguments) {
  auto parsed = Parse(std::move(arguments));
  if (const Ending* ending = std::get_if<Ending>(&parsed)) {
    ADD_FAILURE() << ending->to_stderr;
    return {};
  }
  return std::get<TrainOptions>(parsed);
}

Ending Bad(std::vector<const char*> arguments) {
  auto parsed = Parse(std::move(arguments));
  if (const Ending* ending = std::get_if<Ending>(&parsed)) return *ending;
  ADD_FAILURE() << "was accepted";
  return {};
}

TEST(Options, NothingSaidTunesTheAttentionModelForAThousandSteps) {
  const TrainOptions options = Good({});
  EXPECT_EQ(options.workload, "attention");
  EXPECT_EQ(options.plan, PlanMode::kTune);
  EXPECT_EQ(options.contract, Contract::kRounding);
  EXPECT_EQ(options.steps, 1000);
  EXPECT_EQ(options.until, Until::kSteps);
}

TEST(Options, EveryFlagOfTheDesignIsUnderstood) {
  const TrainOptions options =
      Good({"--workload", "mlp",     "--device",  "cuda", "--regime", "forward",
            "--contract", "bitwise", "--plan",    "none", "--steps",  "7",
            "--text",     "a",       "--text",    "b",    "--seed",   "18446744073709551615",
            "--report",   "r.json",  "--width",   "257",  "--seq",    "64",
            "--batch",    "8",       "--layers",  "2",    "--socket", "s",
            "--job",      "j",       "--threads", "4"});
  EXPECT_EQ(options.workload, "mlp");
  EXPECT_EQ(options.device, Device::kCuda);
  EXPECT_EQ(options.regime, Regime::kForward);
  EXPECT_EQ(options.contract, Contract::kBitwise);
  EXPECT_EQ(options.plan, PlanMode::kNone);
  EXPECT_EQ(options.steps, 7);
  EXPECT_THAT(options.texts, ElementsAre("a", "b"));
  EXPECT_EQ(options.seed, 18446744073709551615u);
  EXPECT_EQ(options.threads, 4);
  EXPECT_EQ(options.report, "r.json");
  EXPECT_EQ(options.width, 257);
  EXPECT_EQ(options.seq, 64);
  EXPECT_EQ(options.batch, 8);
  EXPECT_EQ(options.layers, 2);
  EXPECT_EQ(options.socket, "s");
  EXPECT_EQ(options.job, "j");
}

TEST(Options, WrongUsageIsOneLowerCaseSentenceWithTheNextMoveAndCodeTwo) {
  for (const auto& arguments :
       std::vector<std::vector<const char*>>{{"--frobnicate"},
                                             {"positional"},
                                             {"--plan", "fast"},
                                             {"--device", "tpu"},
                                             {"--steps", "0"},
                                             {"--steps", "-5"},
                                             {"--steps", "many"},
                                             {"--steps", "1e99"},
                                             {"--seed", "-1"},
                                             {"--seed", "18446744073709551616"},
                                             {"--seed", "99999999999999999999"},
                                             {"--seed", ""},
                                             {"--report", ""},
                                             {"--report="},
                                             {"--socket", ""},
                                             {"--job", ""},
                                             {"--text", ""},
                                             {"--width", "0"},
                                             {"--seconds", "inf"},
                                             {"--report"}}) {
    SCOPED_TRACE(arguments[0]);
    const Ending ending = Bad(arguments);
    EXPECT_EQ(ending.exit_code, 2);
    EXPECT_EQ(ending.to_stdout, "");
    EXPECT_THAT(ending.to_stderr, StartsWith("blaze-train: "));
    EXPECT_THAT(ending.to_stderr, EndsWith("; see blaze-train --help\n"));
    EXPECT_EQ(std::count(ending.to_stderr.begin(), ending.to_stderr.end(), '\n'), 1)
        << ending.to_stderr;
  }
  EXPECT_THAT(Bad({"--seed", "99999999999999999999"}).to_stderr,
              HasSubstr("no whole number from 0 to 18446744073709551615"));
  EXPECT_THAT(Bad({"--report", ""}).to_stderr, HasSubstr("the value is empty"));
  EXPECT_THAT(Bad({"--plan", "fast"}).to_stderr,
              HasSubstr("unknown value fast, choose one of off, default, none, tune, pinned"));
}

TEST(Options, AnOverlongJobNameIsRefusedBeforeTheDaemonWould) {
  EXPECT_EQ(Bad({"--job", std::string(97, 'j').c_str()}).exit_code, 2);
  EXPECT_EQ(Good({"--job", std::string(96, 'j').c_str()}).job.size(), 96u);
}

TEST(Options, AJobNameThatSteersATerminalIsRefused) {
  EXPECT_EQ(Bad({"--job", "a\x1b[31m"}).exit_code, 2);
  EXPECT_THAT(Bad({"--job", "a\nb"}).to_stderr, HasSubstr("--job holds control characters"));
  EXPECT_EQ(Good({"--job", "caf\xc3\xa9"}).job, "caf\xc3\xa9");
}

TEST(Options, HelpAndVersionEndWithZero) {
  const Ending help = Bad({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.to_stdout, HasSubstr("--workload"));
  EXPECT_THAT(help.to_stdout, HasSubstr("off|default|none|tune|pinned"));
  const Ending version = Bad({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.to_stdout, StartsWith("blaze-train 0."));
}

}  // namespace
}  // namespace blazed::trainer
