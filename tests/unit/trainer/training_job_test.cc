#include "client/trainer/job/training_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "client/trainer/signals.h"
#include "tests/unit/trainer/fake_shim.h"
#include "tests/unit/trainer/sample_report.h"
#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

using testing::Contains;
using testing::HasSubstr;

TrainOptions Tiny(PlanMode plan) {
  TrainOptions options;
  options.workload = "mlp";
  options.width = 32;
  options.batch = 16;
  options.layers = 1;
  options.steps = 12;
  options.plan = plan;
  return options;
}

absl::StatusOr<Json> RunJob(const TrainOptions& options, std::string* said = nullptr,
                            const JobHooks& hooks = {}) {
  std::string ignored;
  std::string* out = said != nullptr ? said : &ignored;
  Progress progress(
      Display::kPlain, [out](absl::string_view text) { out->append(text.data(), text.size()); },
      [] { return 100; });
  auto report = RunTrainingJob(options, &progress, hooks);
  if (report.ok()) {
    EXPECT_EQ(CheckReport(*report).message(), "");
  }
  return report;
}

std::string Digest(const Json& report) {
  const Json& run = report["jobs"][0]["run"];
  return run["loss_digest"].get<std::string>() + run["model_digest"].get<std::string>();
}

TEST(TrainingJob, PlanOffMeetsNoShim) {
  FakeShim shim;
  const Json report = *RunJob(Tiny(PlanMode::kOff));
  EXPECT_FALSE(shim.attached);
  EXPECT_EQ(report["jobs"][0]["outcome"], "off");
  EXPECT_EQ(report["jobs"][0]["run"]["steps"], 12);
}

TEST(TrainingJob, EveryPlanModeTrainsTheSameModelBitForBit) {
  FakeShim shim;
  const std::string expected = Digest(*RunJob(Tiny(PlanMode::kOff)));
  for (const PlanMode mode :
       {PlanMode::kDefault, PlanMode::kNone, PlanMode::kTune, PlanMode::kPinned}) {
    SCOPED_TRACE(NameOf(mode));
    shim.steps = 0;
    EXPECT_EQ(Digest(*RunJob(Tiny(mode))), expected);
  }
}

TEST(TrainingJob, AnotherSeedTrainsAnotherModel) {
  FakeShim shim;
  TrainOptions other = Tiny(PlanMode::kOff);
  other.seed = 2;
  EXPECT_NE(Digest(*RunJob(other)), Digest(*RunJob(Tiny(PlanMode::kOff))));
}

TEST(TrainingJob, VariantsThatTheShimOrdersKeepTheLossCurveAndTheirBuildsAreReported) {
  FakeShim shim;
  const std::string expected = Digest(*RunJob(Tiny(PlanMode::kOff)));
  uint64_t handle = 0;
  shim.on_step = [&](int64_t step) {
    if (step == 2) handle = shim.Build({{0, 1}}).handle;
    shim.Probe(handle);
    return step % 3 == 0 ? handle : 0;
  };
  const Json report = *RunJob(Tiny(PlanMode::kTune));
  EXPECT_EQ(Digest(report), expected);
  EXPECT_EQ(report["jobs"][0]["plans"].size(), 1u);
  EXPECT_EQ(shim.ended_steps, 12);
  EXPECT_TRUE(shim.closed);
}

TEST(TrainingJob, TheShimHearsModeContractJobSocketAndLimits) {
  FakeShim shim;
  TrainOptions options = Tiny(PlanMode::kTune);
  options.contract = Contract::kBitwise;
  options.job = "a job";
  options.socket = "a socket";
  options.seconds = 600;
  ASSERT_TRUE(RunJob(options).ok());
  EXPECT_EQ(shim.mode, BLZ_MODE_TUNE_UNTIL);
  EXPECT_EQ(shim.contract, BLZ_CONTRACT_BITWISE);
  EXPECT_EQ(shim.job, "a job");
  EXPECT_EQ(shim.socket, "a socket");
  EXPECT_EQ(shim.tune_until_ns, 600'000'000'000u);
  EXPECT_THAT(shim.environment_keys, Contains("cpu.model"));
  ASSERT_TRUE(RunJob(Tiny(PlanMode::kPinned)).ok());
  EXPECT_EQ(shim.mode, BLZ_MODE_PINNED);
  ASSERT_TRUE(RunJob(Tiny(PlanMode::kDefault)).ok());
  EXPECT_EQ(shim.mode, BLZ_MODE_OBSERVE);
}

TEST(TrainingJob, EveryKeyOfTheEnvironmentIsOnThePageOfTheReport) {
  FakeShim shim;
  const std::string page = TempFolder::Read(BLAZED_SOURCE_DIR "/docs/report.md");
  const Json report = *RunJob(Tiny(PlanMode::kOff));
  for (const auto& [key, value] : report["environment"].items()) {
    EXPECT_THAT(page, HasSubstr("`" + key + "`"));
  }
}

TEST(TrainingJob, WithoutADaemonTheReportSaysWhyAndTheJobIsDone) {
  FakeShim shim;
  shim.status.state = BLZ_STATE_OFF;
  shim.reason = "no daemon answers";
  std::string said;
  const Json report = *RunJob(Tiny(PlanMode::kTune), &said);
  EXPECT_EQ(report["jobs"][0]["outcome"], "off");
  EXPECT_EQ(report["jobs"][0]["reason"], "no daemon answers");
  EXPECT_THAT(said, HasSubstr("no daemon answers"));
  EXPECT_EQ(report["jobs"][0]["run"]["steps"], 12);
}

TEST(TrainingJob, ADaemonThatStaysSilentIsAReasonInEveryMode) {
  FakeShim shim;
  for (const blz_state state : {BLZ_STATE_ATTACHING, BLZ_STATE_RECONNECTING, BLZ_STATE_CLOSED}) {
    for (const PlanMode mode : {PlanMode::kTune, PlanMode::kPinned, PlanMode::kDefault}) {
      SCOPED_TRACE(testing::Message() << NameOf(mode) << " in state " << state);
      shim.status.state = state;
      const Json report = *RunJob(Tiny(mode));
      const Json& job = report["jobs"][0];
      EXPECT_EQ(job["outcome"], "off");
      EXPECT_NE(job["reason"], "");
      EXPECT_EQ(job["run"]["shim_reason"], job["reason"]);
    }
  }
  for (const PlanMode mode : {PlanMode::kOff, PlanMode::kNone}) {
    const Json job = (*RunJob(Tiny(mode)))["jobs"][0];
    EXPECT_THAT(job["reason"].get<std::string>(), HasSubstr("asked for with --plan "));
    EXPECT_EQ(job["run"]["shim_reason"], "") << "nobody was asked";
  }
}

TEST(TrainingJob, ThePlanIsTheOneThatTheJobRanWhateverTheDaemonHeard) {
  FakeShim shim;
  shim.status.daemon_epoch = 1;
  shim.champion = {{0, 1}};
  const Json before = *RunJob(Tiny(PlanMode::kTune));
  const Json plan = before["jobs"][0]["plan"];
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_TRUE(before["jobs"][0]["equivalence"].is_null());
  Json told = SampleJob();
  told["outcome"] = "undecided";
  told["plan"] = Json::array();
  told["equivalence"] = "nothing_to_check";
  shim.report_json = told.dump();
  Json job = (*RunJob(Tiny(PlanMode::kTune)))["jobs"][0];
  EXPECT_EQ(job["outcome"], "undecided");
  EXPECT_EQ(job["plan"], plan);
  EXPECT_TRUE(job["equivalence"].is_null()) << "nobody compared this plan";
  told["plans"][0]["plan"] = plan;
  told["plans"][0]["equivalence"] = "identical";
  shim.report_json = told.dump();
  EXPECT_EQ((*RunJob(Tiny(PlanMode::kTune)))["jobs"][0]["equivalence"], "identical");
  shim.champion.clear();
  job = (*RunJob(Tiny(PlanMode::kTune)))["jobs"][0];
  EXPECT_EQ(job["plan"], Json::array());
  EXPECT_EQ(job["equivalence"], "nothing_to_check");
}

TEST(TrainingJob, TheDaemonsReportIsLaidOverTheTrainersOwn) {
  FakeShim shim;
  shim.status.daemon_epoch = 1;
  shim.report_json = SampleJob().dump();
  TrainOptions options = Tiny(PlanMode::kTune);
  options.role = Role::kSecond;
  const Json report = *RunJob(options);
  const Json& job = report["jobs"][0];
  EXPECT_EQ(job["outcome"], "settled");
  EXPECT_EQ(job["search_pairs"], 1212);
  EXPECT_EQ(job["plans"].size(), 4u);
  EXPECT_EQ(job["role"], "second");
  EXPECT_EQ(job["run"]["steps"], 12);
}

TEST(TrainingJob, TheReasonsOfCandidatesAreTheDaemonsWordForWord) {
  FakeShim shim;
  shim.status.daemon_epoch = 1;
  const Json told = SampleJob();
  shim.report_json = told.dump();
  const Json report = *RunJob(Tiny(PlanMode::kTune));
  EXPECT_EQ(report["jobs"][0]["plans"], told["plans"]);
}

TEST(TrainingJob, ADaemonThatSaysNonsenseCannotBreakTheReport) {
  for (const char* text :
       {"", "{", "[1]", "null", R"({"outcome": "brilliant", "plans": 3, "gain": "much",
        "search_pairs": 5, "run": {"steps": -1}, "plan": {"a": 1}})"}) {
    SCOPED_TRACE(text);
    FakeShim shim;
    shim.status.daemon_epoch = 1;
    shim.report_json = text;
    const Json report = *RunJob(Tiny(PlanMode::kTune));
    EXPECT_EQ(report["jobs"][0]["outcome"], "undecided");
    EXPECT_EQ(report["jobs"][0]["run"]["steps"], 12);
  }
}

TEST(TrainingJob, ADaemonGoneAfterTheAnswerLeavesTheAnswerInTheReport) {
  FakeShim shim;
  shim.status.daemon_epoch = 1;
  shim.status.state = BLZ_STATE_RECONNECTING;
  shim.status.settled = 1;
  shim.status.settlement = BLZ_SETTLEMENT_IN_JOB;
  shim.champion = {{0, 1}};
  const Json report = *RunJob(Tiny(PlanMode::kTune));
  EXPECT_EQ(report["jobs"][0]["outcome"], "settled");
  EXPECT_EQ(report["jobs"][0]["settlement"], "in_job");
  EXPECT_EQ(report["jobs"][0]["plan"].size(), 1u);
  shim.status.settlement = BLZ_SETTLEMENT_NO_WINNER;
  shim.champion.clear();
  EXPECT_EQ((*RunJob(Tiny(PlanMode::kTune)))["jobs"][0]["outcome"], "no_winner");
}

// The daemon that came back serves it what it found itself; the first look is behind step 0.
TEST(TrainingJob, AJobThatSettledBeforeARestartOfTheDaemonWasServedByNobody) {
  for (const blz_phase first : {BLZ_PHASE_SETTLED, BLZ_PHASE_SERVED}) {
    FakeShim shim;
    shim.status.daemon_epoch = 1;
    shim.status.settled = 1;
    shim.status.settlement = BLZ_SETTLEMENT_IN_JOB;
    shim.status.phase = first;
    shim.on_step = [&shim](int64_t step) {
      if (step > 0) shim.status.phase = BLZ_PHASE_SERVED;
      return uint64_t{0};
    };
    const Json job = (*RunJob(Tiny(PlanMode::kTune)))["jobs"][0];
    EXPECT_EQ(job["outcome"], "settled");
    EXPECT_EQ(job["served"], first == BLZ_PHASE_SERVED) << NameOf(first);
  }
}

TEST(TrainingJob, TheReportSaysWhyNothingWasTuned) {
  Json observed = SampleJob(), pinned = SampleJob(), undecided = SampleJob();
  observed["outcome"] = "off";
  observed["reason"] = "the session only observed, so nothing was changed";
  pinned["outcome"] = "pinned";
  pinned["reason"] = "";
  undecided["outcome"] = "undecided";
  undecided["reason"] = "the budget ended before the search did";
  Json served = pinned;
  served["reason"] = "both signatures are those of the settlement";
  const std::string paused = "an operator has paused blazed";
  struct Case {
    const char* what;
    PlanMode asked;
    blz_mode granted;
    std::string told;  // by the shim
    std::string report;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {"refused", PlanMode::kTune, BLZ_MODE_OBSERVE, paused, observed.dump(), paused},
      {"refused, no report", PlanMode::kTune, BLZ_MODE_OBSERVE, paused, "", paused},
      {"refused, pinned", PlanMode::kPinned, BLZ_MODE_OBSERVE, paused, observed.dump(), paused},
      {"refused, nothing said", PlanMode::kTune, BLZ_MODE_OBSERVE, "", observed.dump(),
       "the session only observed, so nothing was changed"},
      {"asked for", PlanMode::kDefault, BLZ_MODE_OBSERVE, "", observed.dump(),
       "asked for with --plan default: observed, nothing was changed"},
      {"pinned", PlanMode::kPinned, BLZ_MODE_PINNED, "", pinned.dump(),
       "nothing is settled here yet for this workload"},
      {"pinned and served", PlanMode::kPinned, BLZ_MODE_PINNED, "", served.dump(),
       "both signatures are those of the settlement"},
      {"undecided", PlanMode::kTune, BLZ_MODE_TUNE_UNTIL, "a directive was refused",
       undecided.dump(), "the budget ended before the search did"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    FakeShim shim;
    shim.status.daemon_epoch = 1;
    shim.status.mode = c.granted;
    shim.reason = c.told;
    shim.report_json = c.report;
    const Json job = (*RunJob(Tiny(c.asked)))["jobs"][0];
    EXPECT_EQ(job["reason"], c.reason);
    EXPECT_EQ(job["outcome"] == "off", c.granted == BLZ_MODE_OBSERVE);
  }
}

TEST(TrainingJob, OnlyACallThatRanOutOfTimeIsWorthAnother) {
  for (const blz_result first : {BLZ_TIMEOUT, BLZ_OFF, BLZ_NOT_FOUND, BLZ_OK}) {
    SCOPED_TRACE(first);
    FakeShim shim;
    shim.status.daemon_epoch = 1;
    shim.status.state = BLZ_STATE_RECONNECTING;  // as it was at the last step
    shim.report_json = SampleJob().dump();
    shim.on_report = [&](uint32_t) { return shim.report_timeouts.size() == 1 ? first : BLZ_OK; };
    std::string said;
    const Json job = (*RunJob(Tiny(PlanMode::kTune), &said))["jobs"][0];
    const bool again = first == BLZ_TIMEOUT;
    EXPECT_EQ(shim.report_timeouts,
              again ? std::vector<uint32_t>({2'000, 9'000}) : std::vector<uint32_t>({2'000}));
    EXPECT_EQ(said.find("waiting for the daemon's report") != std::string::npos, again);
    EXPECT_EQ(job["search_pairs"] == 1212, again || first == BLZ_OK);
  }
}

TEST(TrainingJob, ADaemonThatWasNeverMetIsAskedForItsReportOnce) {
  FakeShim shim;
  shim.status.state = BLZ_STATE_ATTACHING;
  shim.on_report = [](uint32_t) { return BLZ_TIMEOUT; };
  ASSERT_TRUE(RunJob(Tiny(PlanMode::kTune)).ok());
  EXPECT_EQ(shim.report_timeouts.size(), 1u);
}

// In a process of its own: the wish to end stays.
TEST(TrainingJob, AnEndAskedForWhileItWaitsForTheReportIsNotWaitedOut) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    InstallSignals();
    FakeShim shim;
    shim.status.daemon_epoch = 1;
    shim.on_report = [](uint32_t) {
      std::raise(SIGTERM);
      return BLZ_TIMEOUT;
    };
    const bool done = RunJob(Tiny(PlanMode::kTune)).ok();
    _exit(done && shim.report_timeouts.size() == 1 ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

TEST(TrainingJob, UntilSettledEndsSomeStepsAfterTheAnswer) {
  FakeShim shim;
  TrainOptions options = Tiny(PlanMode::kTune);
  options.until = Until::kSettled;
  options.steps = 100'000;
  shim.on_step = [&shim](int64_t step) {
    if (step == 5) shim.status.settled = 1;
    return uint64_t{0};
  };
  shim.status.settlement = BLZ_SETTLEMENT_IN_JOB;
  const Json report = *RunJob(options);
  EXPECT_EQ(report["jobs"][0]["run"]["stopped"], "settled");
  EXPECT_GT(report["jobs"][0]["run"]["steps"], 128);
}

TEST(TrainingJob, ASearchThatEndsWithoutASettlementStopsTheJobAsUndecided) {
  FakeShim shim;
  shim.status.daemon_epoch = 1;
  shim.status.settled = 1;
  TrainOptions options = Tiny(PlanMode::kTune);
  options.until = Until::kSettled;
  options.steps = 100'000;
  Json job = (*RunJob(options))["jobs"][0];
  EXPECT_EQ(job["run"]["stopped"], "undecided");
  EXPECT_EQ(job["outcome"], "undecided");
  shim.status.settlement = BLZ_SETTLEMENT_NO_WINNER;
  job = (*RunJob(options))["jobs"][0];
  EXPECT_EQ(job["run"]["stopped"], "settled");
}

TEST(TrainingJob, AServedJobShowsNoForecastOfTheJobThatSearched) {
  FakeShim shim;
  shim.status.daemon_epoch = 1;
  shim.status.state = BLZ_STATE_ATTACHED;
  shim.status.forecast_window_ns = 242'000'000'000;
  std::string said;
  shim.status.phase = BLZ_PHASE_SEARCH;
  ASSERT_TRUE(RunJob(Tiny(PlanMode::kTune), &said).ok());
  EXPECT_THAT(said, HasSubstr("of 4 min 2 s forecast"));
  said.clear();
  shim.status.phase = BLZ_PHASE_SERVED;
  ASSERT_TRUE(RunJob(Tiny(PlanMode::kTune), &said).ok());
  EXPECT_THAT(said, HasSubstr("| served: "));
  EXPECT_THAT(said, testing::Not(HasSubstr("forecast")));
  EXPECT_TRUE((*RunJob(Tiny(PlanMode::kTune)))["jobs"][0]["forecast"].is_null());
  shim.status.phase = BLZ_PHASE_SETTLED;
  EXPECT_TRUE((*RunJob(Tiny(PlanMode::kTune)))["jobs"][0]["forecast"].is_object());
}

TEST(TrainingJob, AJobThatWaitsSaysWhyMeanwhile) {
  FakeShim shim;
  shim.status.daemon_epoch = 1;
  shim.status.phase = BLZ_PHASE_WAITING;
  shim.note = "another workload explores this device; waiting for a turn";
  shim.reason = "a sentence of long ago";
  std::string said;
  ASSERT_TRUE(RunJob(Tiny(PlanMode::kTune), &said).ok());
  EXPECT_THAT(said, HasSubstr("waiting: 0 candidates"));
  EXPECT_THAT(said, HasSubstr("; another workload explores this device; waiting for a turn\n"));
}

TEST(TrainingJob, AnEndAskedForInTheMiddleStillReports) {
  FakeShim shim;
  JobHooks hooks;
  hooks.after_step = [](int64_t step, float) { return step < 4; };
  const Json report = *RunJob(Tiny(PlanMode::kTune), nullptr, hooks);
  EXPECT_EQ(report["jobs"][0]["run"]["stopped"], "signal");
  EXPECT_EQ(report["jobs"][0]["run"]["steps"], 5);
}

TEST(TrainingJob, TheForwardRegimeHasNoLossAndChangesNoParameter) {
  FakeShim shim;
  TrainOptions options = Tiny(PlanMode::kOff);
  options.regime = Regime::kForward;
  const Json longer = *RunJob(options);
  options.steps = 3;
  const Json shorter = *RunJob(options);
  EXPECT_EQ(longer["regime"], "forward");
  EXPECT_EQ(longer["jobs"][0]["run"]["last_loss"], 0);
  EXPECT_EQ(longer["jobs"][0]["run"]["model_digest"], shorter["jobs"][0]["run"]["model_digest"]);
}

struct BadCase {
  const char* name;
  TrainOptions options;
  absl::StatusCode code;
  const char* part;
};

TEST(TrainingJob, EachBadInputIsOneSentenceWithTheRightCode) {
  FakeShim shim;
  const TempFolder folder;
  std::vector<BadCase> cases;
  TrainOptions options = Tiny(PlanMode::kTune);
  options.device = Device::kCuda;
  cases.push_back({"cuda", options, absl::StatusCode::kUnimplemented, "no CUDA device engine"});
  options = Tiny(PlanMode::kTune);
  options.workload = "transformer";
  cases.push_back({"name", options, absl::StatusCode::kInvalidArgument, "mlp, attention, chain"});
  options = Tiny(PlanMode::kTune);
  options.width = 1 << 20;
  cases.push_back({"width", options, absl::StatusCode::kInvalidArgument, "width"});
  options = Tiny(PlanMode::kTune);
  options.report = folder.At("absent/r.json");
  cases.push_back({"report", options, absl::StatusCode::kUnavailable, "--report"});
  options = Tiny(PlanMode::kTune);
  options.workload = "attention";
  options.texts = {folder.At("absent")};
  cases.push_back({"no text", options, absl::StatusCode::kNotFound, "--text"});
  options.texts = {folder.Write("short", "too short")};
  cases.push_back({"short", options, absl::StatusCode::kFailedPrecondition,
                   "fewer than the 257 a batch needs; name a longer text with --text"});
  options.texts = {folder.Write("empty", "")};
  cases.push_back({"empty", options, absl::StatusCode::kFailedPrecondition, "--text"});
  options.texts = {folder.path()};
  cases.push_back({"folder", options, absl::StatusCode::kFailedPrecondition, "--text"});
  for (const BadCase& bad : cases) {
    SCOPED_TRACE(bad.name);
    const auto report = RunJob(bad.options);
    EXPECT_EQ(report.status().code(), bad.code) << report.status();
    EXPECT_THAT(std::string(report.status().message()), HasSubstr(bad.part));
    EXPECT_FALSE(shim.attached);
  }
}

TEST(TrainingJob, AttentionTrainsOnTheTextThatIsNamed) {
  FakeShim shim;
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 400; ++i) text += "the quick brown fox number " + std::to_string(i) + "\n";
  TrainOptions options = Tiny(PlanMode::kOff);
  options.workload = "attention";
  options.seq = 16;
  options.batch = 4;
  options.heads = 2;
  options.texts = {folder.Write("text", text)};
  const Json first = *RunJob(options);
  EXPECT_GT(first["jobs"][0]["run"]["first_loss"], 3.0);
  options.texts = {folder.Write("other", text + text)};
  EXPECT_NE(Digest(*RunJob(options)), Digest(first));
}

}  // namespace
}  // namespace blazed::trainer
