// Options and descriptions: what is accepted, and the fingerprint.
#include <gtest/gtest.h>

#include <cstring>

#include "client/cpp/base/clock.h"
#include "client/cpp/engine/config.h"
#include "client/cpp/engine/workload.h"

namespace blazed::shim {
namespace {

blz_options Options(blz_mode mode = BLZ_MODE_FROM_ENVIRONMENT) {
  blz_options options{};
  options.struct_size = sizeof options;
  options.mode = mode;
  return options;
}

blz_host_ops FullOps() {
  blz_host_ops ops{};
  ops.struct_size = sizeof ops;
  ops.build = [](void*, const blz_choice*, size_t, blz_built*) { return 0; };
  ops.drop = [](void*, uint64_t) {};
  ops.probe = [](void*, uint64_t, blz_probe_sink*) { return 0; };
  ops.signature = [](void*, uint64_t, uint8_t*) {};
  return ops;
}

Config Made(const blz_options& options, const char* environment) {
  const blz_host_ops ops = FullOps();
  return MakeConfig(&options, &ops, environment);
}

TEST(Config, ModesOfTheEnvironment) {
  const blz_options options = Options();
  EXPECT_EQ(Made(options, nullptr).mode, BLZ_MODE_TUNE);
  EXPECT_EQ(Made(options, "").mode, BLZ_MODE_TUNE);
  EXPECT_EQ(Made(options, "observe").mode, BLZ_MODE_OBSERVE);
  EXPECT_EQ(Made(options, "pinned").mode, BLZ_MODE_PINNED);
  EXPECT_EQ(Made(options, "off").mode, BLZ_MODE_OFF);
  const Config steps = Made(options, "tune_until:500");
  EXPECT_EQ(steps.mode, BLZ_MODE_TUNE_UNTIL);
  EXPECT_EQ(steps.tune_until_steps, 500u);
  EXPECT_EQ(steps.tune_until_ns, 0u);
  EXPECT_EQ(Made(options, "tune_until:60s").tune_until_ns, 60'000'000'000u);
}

TEST(Config, ModesThatAreNone) {
  for (const char* text : {"on", "tune ", "TUNE", "tune_until:", "tune_until:s", "tune_until:-1",
                           "tune_until:0", "tune_until:1.5s", "tune_until:99999999999999999999",
                           "tune_until:18446744073709551615s", "tune_until:5m"}) {
    const Config config = Made(Options(), text);
    EXPECT_NE(config.error, "") << text;
    EXPECT_EQ(config.mode, BLZ_MODE_OFF) << text;
  }
}

TEST(Config, TheHostsOwnModeWinsButForOff) {
  EXPECT_EQ(Made(Options(BLZ_MODE_OBSERVE), "tune").mode, BLZ_MODE_OBSERVE);
  EXPECT_EQ(Made(Options(BLZ_MODE_TUNE), "nonsense").mode, BLZ_MODE_TUNE);
  EXPECT_NE(Made(Options(BLZ_MODE_TUNE), "nonsense").note.find("tune_until:N"), std::string::npos);
  EXPECT_EQ(Made(Options(BLZ_MODE_OBSERVE), "tune").note, "");
  EXPECT_EQ(Made(Options(BLZ_MODE_OBSERVE), "tune_until:5s").note, "");
  EXPECT_EQ(Made(Options(BLZ_MODE_TUNE), "off").note, "");
  EXPECT_EQ(Made(Options(BLZ_MODE_TUNE), "off").mode, BLZ_MODE_OFF);
  EXPECT_NE(Made(Options(BLZ_MODE_TUNE_UNTIL), nullptr).error, "");
  blz_options options = Options();
  const uint32_t unknown = 77;  // as a caller in C may write it
  std::memcpy(&options.mode, &unknown, sizeof unknown);
  EXPECT_NE(Made(options, nullptr).error, "");
}

TEST(Config, LimitsOfTheOptions) {
  blz_options options = Options();
  const blz_label empty_key{"", "v"};
  options.environment = &empty_key;
  options.environment_count = 1;
  EXPECT_NE(Made(options, nullptr).error, "");
  options.environment_count = 33;
  EXPECT_NE(Made(options, nullptr).error, "");
  options = Options();
  const uint32_t unknown = 9;
  std::memcpy(&options.contract, &unknown, sizeof unknown);
  EXPECT_NE(Made(options, nullptr).error, "");
  options = Options();
  options.probe_batches = 1;
  options.attach_timeout_ms = 10'000;
  EXPECT_EQ(Made(options, nullptr).probe_batches, 3u);
  EXPECT_EQ(Made(options, nullptr).attach_timeout_ns, 45 * kMillisecond);
}

TEST(Config, ADeviceHasOneSpelling) {
  blz_options options = Options();
  EXPECT_EQ(Made(options, nullptr).device, "cpu");
  for (const auto& [given, taken] :
       {std::pair("cpu", "cpu"),
        {"GPU-8F6CD1A5-0B43-9C2A-75C0-6B2B4CBB1A0E", "GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e"},
        {"gpu-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e", "GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e"},
        {"MIG-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e", "MIG-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e"},
        {"mig-GPU-8f6cd1a5-0b43-9C2A-75c0-6b2b4cbb1a0e",
         "MIG-GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e"},
        {"MIG-GPU-8F6CD1A5-0b43-9c2a-75c0-6b2b4cbb1a0e/1/0",
         "MIG-GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e/1/0"}}) {
    options.device = given;
    EXPECT_EQ(Made(options, nullptr).device, taken);
    EXPECT_EQ(Made(options, nullptr).error, "");
  }
}

TEST(Config, ADeviceThatTheDaemonWouldRefuseIsOffWithASentence) {
  for (const char* given : {"cuda:0", "0", "GPU-0", "8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e",
                            "GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0g", "MIG-GPU-1/1/0",
                            "GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e/1/0",
                            "MIG-GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e/1",
                            "GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e "}) {
    blz_options options = Options();
    options.device = given;
    const Config config = Made(options, nullptr);
    EXPECT_EQ(config.mode, BLZ_MODE_OFF) << given;
    EXPECT_NE(config.error.find("nvidia-smi -L"), std::string::npos) << given;
  }
}

TEST(Config, AnOlderHostsShorterStructuresReadAsZero) {
  blz_options options = Options(BLZ_MODE_TUNE);
  options.world_size = 8;
  options.struct_size = offsetof(blz_options, world_size);
  EXPECT_EQ(Made(options, nullptr).world_size, 1u);
  blz_host_ops ops = FullOps();
  ops.struct_size = offsetof(blz_host_ops, signature);
  options = Options(BLZ_MODE_TUNE);
  EXPECT_EQ(MakeConfig(&options, &ops, nullptr).mode, BLZ_MODE_OBSERVE);
  ops.reference = [](void*, blz_probe_sink*) { return 0; };
  ops.struct_size = offsetof(blz_host_ops, reference);
  EXPECT_EQ(CopyOps(&ops).reference, nullptr);
  EXPECT_NE(CopyOps(&ops).probe, nullptr);
}

class WorkloadTest : public testing::Test {
 protected:
  WorkloadTest() {
    graph.fingerprint = {1, 2, 3};
    decision.name = "d";
    decision.kind = BLZ_CHOICE;
    decision.options = options;
    decision.option_count = 2;
    decision.graph = 1;
    decision.sites = 1;
    workload.struct_size = sizeof workload;
    workload.graphs = fingerprints;
    workload.graph_count = 1;
    workload.decisions = &decision;
    workload.decision_bytes = sizeof decision;
    workload.decision_count = 1;
    workload.default_signature[0] = 1;
  }
  std::optional<WorkloadSeen> Check() {
    error.clear();
    return CheckWorkload(&workload, {graph}, error);
  }
  Digest Fingerprint() {
    const auto seen = Check();
    EXPECT_TRUE(seen.has_value()) << error;
    return seen.has_value() ? seen->fingerprint : Digest{};
  }
  void ExpectRefused(const char* what) {
    EXPECT_FALSE(Check().has_value()) << what;
    EXPECT_NE(error, "") << what;
  }

  GraphSeen graph;
  const uint8_t fingerprints[2][16] = {{1, 2, 3}, {1, 2, 3}};
  const char* options[17] = {"host", "other", "b", "c", "d", "e", "f", "g", "h",
                             "i",    "j",     "k", "l", "m", "n", "o", "p"};
  blz_decision decision{};
  blz_workload workload{};
  std::string error;
};

TEST_F(WorkloadTest, TheFingerprintIsStable) {
  // A change of this value parts every stored settlement from its workload.
  const Digest first = Fingerprint();
  EXPECT_EQ(first, Fingerprint());
  static const char kHex[] = "0123456789abcdef";
  std::string hex;
  for (const uint8_t byte : first) hex += {kHex[byte >> 4], kHex[byte & 15]};
  EXPECT_EQ(hex, "91831478f93544cadc19d1882e40e248");
}

TEST_F(WorkloadTest, TheFingerprintSeesStructureAndNotNames) {
  const Digest base = Fingerprint();
  workload.name = "another name";
  decision.name = "also another";
  EXPECT_EQ(Fingerprint(), base);
  decision.option_count = 3;
  EXPECT_NE(Fingerprint(), base);
  decision.option_count = 2;
  options[1] = "else";
  EXPECT_NE(Fingerprint(), base);
  options[1] = "other";
  decision.sites = 2;
  EXPECT_NE(Fingerprint(), base);
  decision.sites = 1;
  decision.id[15] = 1;
  EXPECT_NE(Fingerprint(), base);
  decision.id[15] = 0;
  decision.graph = 0;
  EXPECT_NE(Fingerprint(), base);
  decision.graph = 1;
  workload.graph_count = 2;
  EXPECT_NE(Fingerprint(), base);
}

TEST_F(WorkloadTest, LimitsAreChecked) {
  ASSERT_TRUE(Check().has_value()) << error;
  decision.option_count = 1;
  ExpectRefused("one option");
  decision.option_count = 17;
  ExpectRefused("17 options");
  decision.option_count = 2;
  decision.sites = 0;
  ExpectRefused("no site");
  decision.sites = 65536;
  ExpectRefused("too many sites");
  decision.sites = 1;
  decision.graph = 2;
  ExpectRefused("a graph that is not there");
  decision.graph = 1;
  decision.name = "";
  ExpectRefused("no name");
  decision.name = "d\n";
  ExpectRefused("a control character");
  decision.name = "d";
  options[1] = nullptr;
  ExpectRefused("a null option");
  options[1] = "other";
  workload.decision_count = 0;
  ExpectRefused("no decisions");
  workload.decision_count = 513;
  ExpectRefused("513 decisions");
  workload.decision_count = 1;
  workload.graph_count = 65;
  ExpectRefused("65 graphs");
  workload.graph_count = 1;
  workload.decision_bytes = 8;
  ExpectRefused("a wrong stride");
  workload.decision_bytes = sizeof decision;
  workload.default_signature[0] = 0;
  ExpectRefused("no signature");
  workload.default_signature[0] = 1;
  graph.fingerprint = {9};
  ExpectRefused("a graph that was not described");
}

TEST_F(WorkloadTest, TakesGuessesOfBuildTimesAndDecisionsWithout) {
  const Digest without = Fingerprint();
  const uint64_t guesses[] = {0, 5};
  decision.build_ns = guesses;
  EXPECT_EQ(Check()->decisions[0].build_ns, (std::vector<uint64_t>{0, 5}));
  EXPECT_EQ(Fingerprint(), without) << "a guess is no identity";
  workload.decision_bytes = offsetof(blz_decision, build_ns);
  ASSERT_TRUE(Check().has_value()) << "a host from before build_ns";
  EXPECT_TRUE(Check()->decisions[0].build_ns.empty());
  workload.decision_bytes = sizeof(blz_decision) - 1;
  EXPECT_TRUE(Check()->decisions[0].build_ns.empty()) << "a part of a pointer is none";
  workload.decision_bytes = offsetof(blz_decision, build_ns) - 1;
  EXPECT_FALSE(Check().has_value());
}

TEST(Plan, FitsOnlyWhereSortedAndInRange) {
  std::vector<DecisionSeen> decisions(2);
  decisions[0].options.resize(2);
  decisions[1].options.resize(3);
  EXPECT_TRUE(PlanFits({}, decisions));
  EXPECT_TRUE(PlanFits({{0, 1}, {1, 2}}, decisions));
  EXPECT_FALSE(PlanFits({{1, 2}, {0, 1}}, decisions));
  EXPECT_FALSE(PlanFits({{0, 1}, {0, 1}}, decisions));
  EXPECT_FALSE(PlanFits({{0, 2}}, decisions));
  EXPECT_FALSE(PlanFits({{1, 0}}, decisions));
  EXPECT_FALSE(PlanFits({{2, 1}}, decisions));
}

}  // namespace
}  // namespace blazed::shim
