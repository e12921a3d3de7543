#include "daemon/rpc/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"

namespace blazed::rpc {
namespace {

using testing::HasSubstr;

const std::string kDigest(16, 'd');
const std::string kOption = "option";

v1::ShimMessage ValidHello() {
  v1::ShimMessage message;
  message.mutable_hello()->set_mode(v1::MODE_TUNE);
  message.mutable_hello()->set_device("cpu");
  return message;
}

v1::ShimMessage ValidWorkload(int decisions) {
  v1::ShimMessage message;
  v1::WorkloadSeen* workload = message.mutable_workload_seen();
  workload->set_fingerprint(kDigest);
  workload->set_default_signature(kDigest);
  workload->add_graphs(kDigest);
  for (int i = 0; i < decisions; ++i) {
    v1::Decision* decision = workload->add_decisions();
    std::string id(16, '\0');
    id[0] = static_cast<char>(i & 0xff);
    id[1] = static_cast<char>(i >> 8);
    decision->set_id(id);
    decision->set_name("a|b");
    decision->set_kind(v1::DECISION_KIND_BOUNDARY);
    decision->add_options("merge");
    decision->add_options("cut");
    decision->set_graph(1);
    decision->set_sites(1);
  }
  return message;
}

absl::StatusCode CodeOf(const v1::ShimMessage& message) {
  return FromProto(message).status().code();
}

std::string SentenceOf(const v1::ShimMessage& message) {
  return std::string(FromProto(message).status().message());
}

template <typename T>
T Converted(const v1::ShimMessage& message) {
  auto inbound = FromProto(message);
  EXPECT_TRUE(inbound.ok()) << inbound.status();
  return std::get<T>(**inbound);
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(Convert, ABodyOfALaterVersionIsLeftOut) {
  v1::ShimMessage message;
  message.ParseFromString(std::string("\xa2\x06\x01x", 4));  // field 100, bytes
  auto inbound = FromProto(message);
  ASSERT_TRUE(inbound.ok());
  EXPECT_FALSE(inbound->has_value());
}

TEST(Convert, TellsDecisionsOfOneNameApartByANumber) {
  const auto seen = Converted<session::WorkloadSeen>(ValidWorkload(3));
  EXPECT_EQ(seen.row.spec.decisions[0].name, "a|b");
  EXPECT_EQ(seen.row.spec.decisions[1].name, "a|b #2");
  EXPECT_EQ(seen.row.spec.decisions[2].name, "a|b #3");
}

TEST(Convert, KeepsWhetherAHostMayRunAhead) {
  v1::ShimMessage message = ValidWorkload(1);
  EXPECT_FALSE(Converted<session::WorkloadSeen>(message).queued);
  message.mutable_workload_seen()->set_queued(1);
  EXPECT_TRUE(Converted<session::WorkloadSeen>(message).queued);
}

TEST(Convert, ANumberedNameIsTakenByNobodyAndStaysWithinItsLimit) {
  v1::ShimMessage message = ValidWorkload(512);
  const std::string longest(96, 'n');
  for (v1::Decision& decision : *message.mutable_workload_seen()->mutable_decisions()) {
    decision.set_name(longest);
  }
  message.mutable_workload_seen()->mutable_decisions(7)->set_name(longest.substr(3) + " #2");
  const auto seen = Converted<session::WorkloadSeen>(message);
  std::set<std::string> names;
  for (const planner::DecisionSpec& decision : seen.row.spec.decisions) {
    EXPECT_LE(decision.name.size(), 96u);
    EXPECT_TRUE(names.insert(decision.name).second) << decision.name;
  }
  EXPECT_EQ(seen.row.spec.decisions[7].name, longest.substr(3) + " #2");
}

TEST(Convert, ReadsAHello) {
  v1::ShimMessage message = ValidHello();
  message.mutable_hello()->set_resume(kDigest);
  message.mutable_hello()->set_contract(v1::CONTRACT_BITWISE);
  const auto hello = Converted<session::Hello>(message);
  EXPECT_EQ(hello.mode, planner::Mode::kTune);
  EXPECT_EQ(hello.contract, planner::Contract::kBitwise);
  EXPECT_EQ(hello.world_size, 1u) << "0 reads as 1";
  EXPECT_TRUE(hello.resume.has_value());
}

TEST(Convert, AnUnknownModeIsNoneAndAnUnknownContractTheStrictest) {
  v1::ShimMessage message = ValidHello();
  message.mutable_hello()->set_mode(static_cast<v1::Mode>(99));
  message.mutable_hello()->set_contract(static_cast<v1::Contract>(99));
  const auto hello = Converted<session::Hello>(message);
  EXPECT_FALSE(hello.mode.has_value());
  EXPECT_EQ(hello.contract, planner::Contract::kBitwise);
}

TEST(Convert, BoundsWhatAHelloSays) {
  v1::ShimMessage message = ValidHello();
  message.mutable_hello()->set_job(std::string(97, 'a'));
  EXPECT_EQ(SentenceOf(message), "Hello.job has 97 bytes; send at most 96");
  message = ValidHello();
  message.mutable_hello()->set_job("two\x01words");
  EXPECT_EQ(CodeOf(message), kInvalid);
  message = ValidHello();
  message.mutable_hello()->set_resume("short");
  EXPECT_EQ(CodeOf(message), kInvalid);
  message = ValidHello();
  message.mutable_hello()->set_rank(3);
  EXPECT_EQ(CodeOf(message), kInvalid) << "a rank beyond the world";
  message = ValidHello();
  for (int i = 0; i < 33; ++i) {
    message.mutable_hello()->add_environment()->set_key(absl::StrCat("k", i));
  }
  EXPECT_EQ(CodeOf(message), kInvalid);
  message = ValidHello();
  message.mutable_hello()->clear_device();
  EXPECT_EQ(CodeOf(message), kInvalid);
}

TEST(Convert, TextHoldsNothingThatATerminalObeys) {
  for (const char* hidden :
       {"\xc2\x85", "\xc2\x9b", "\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8",
        "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9", "\x1b", "\x7f"}) {
    v1::ShimMessage message = ValidHello();
    message.mutable_hello()->set_job(absl::StrCat("a", hidden, "b"));
    EXPECT_THAT(SentenceOf(message), HasSubstr("Hello.job holds")) << message.DebugString();
  }
  // Letters of other alphabets, a dash, an ellipsis, a bullet.
  v1::ShimMessage message = ValidHello();
  message.mutable_hello()->set_job("\xc3\xa9\xd8\xa8\xe2\x80\x94\xe2\x80\xa6\xe2\x80\xa2\xc2\xa0");
  EXPECT_TRUE(FromProto(message).ok()) << SentenceOf(message);
}

TEST(Convert, AnEnvironmentSaysEachKeyOnce) {
  v1::ShimMessage message = ValidHello();
  for (int i = 0; i < 2; ++i) {
    v1::EnvironmentEntry* entry = message.mutable_hello()->add_environment();
    entry->set_key("driver");
    entry->set_value("550");
  }
  EXPECT_EQ(SentenceOf(message), "Hello.environment says driver twice; say it once");
}

TEST(Convert, ABuildLongerThanAnHourIsNoMeasurement) {
  v1::ShimMessage message;
  v1::VariantBuilt* built = message.mutable_variant_built();
  built->set_variant(1);
  built->set_build_ns(3'600'000'000'000);
  built->set_peak_bytes(uint64_t{1} << 50);
  EXPECT_TRUE(FromProto(message).ok()) << SentenceOf(message);
  built->set_build_ns(UINT64_MAX);
  EXPECT_THAT(SentenceOf(message), HasSubstr("VariantBuilt.build_ns is 18446744073709551615"));
  built->set_build_ns(1);
  built->set_peak_bytes(UINT64_MAX);
  EXPECT_THAT(SentenceOf(message), HasSubstr("VariantBuilt.peak_bytes is"));
}

TEST(Convert, ADigestHasSixteenBytes) {
  v1::ShimMessage message;
  message.mutable_graph_seen()->set_fingerprint("short");
  EXPECT_EQ(SentenceOf(message), "GraphSeen.fingerprint has 5 bytes; a digest has 16");
}

TEST(Convert, TakesFiveHundredAndTwelveDecisionsAndNoMore) {
  EXPECT_EQ(Converted<session::WorkloadSeen>(ValidWorkload(512)).row.spec.decisions.size(), 512u);
  EXPECT_EQ(CodeOf(ValidWorkload(513)), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(SentenceOf(ValidWorkload(513)), HasSubstr("513 decisions and 512 are taken"));
}

TEST(Convert, TakesSixtyFourGraphsAndNoMore) {
  v1::ShimMessage message = ValidWorkload(1);
  for (int i = 1; i < 65; ++i) message.mutable_workload_seen()->add_graphs(kDigest);
  EXPECT_EQ(CodeOf(message), absl::StatusCode::kResourceExhausted);
}

TEST(Convert, TakesAGuessForEachOptionOrNone) {
  v1::ShimMessage message = ValidWorkload(2);
  EXPECT_TRUE(Converted<session::WorkloadSeen>(message).build_ns.empty());
  v1::Decision* decision = message.mutable_workload_seen()->mutable_decisions(1);
  decision->add_build_ns(0);
  decision->add_build_ns(7);
  const std::vector<uint64_t> taken = Converted<session::WorkloadSeen>(message).build_ns;
  ASSERT_EQ(taken.size(), planner::kMostOptions + 2);
  EXPECT_EQ(taken.back(), 7u);
  decision->add_build_ns(1);
  EXPECT_EQ(CodeOf(message), kInvalid);
}

TEST(Convert, BoundsWhatADecisionSays) {
  const auto with = [](const std::function<void(v1::Decision*)>& change) {
    v1::ShimMessage message = ValidWorkload(1);
    change(message.mutable_workload_seen()->mutable_decisions(0));
    return CodeOf(message);
  };
  EXPECT_EQ(with([](v1::Decision* d) { d->clear_options(); }), kInvalid);
  EXPECT_EQ(with([](v1::Decision* d) {
              for (int i = 0; i < 15; ++i) d->add_options(kOption);
            }),
            kInvalid);
  EXPECT_EQ(with([](v1::Decision* d) { d->set_name(""); }), kInvalid);
  EXPECT_EQ(with([](v1::Decision* d) { d->set_name("caf\xc3\xa9"); }), kInvalid);
  EXPECT_EQ(with([](v1::Decision* d) { d->set_graph(2); }), kInvalid);
  EXPECT_EQ(with([](v1::Decision* d) { d->set_sites(0); }), kInvalid);
  EXPECT_EQ(with([](v1::Decision* d) { d->set_sites(65536); }), kInvalid);
  EXPECT_EQ(with([](v1::Decision* d) { d->set_kind(v1::DECISION_KIND_UNSPECIFIED); }), kInvalid);
  EXPECT_EQ(with([](v1::Decision*) {}), absl::StatusCode::kOk);
}

TEST(Convert, EqualIdsAreOneClass) {
  v1::ShimMessage message = ValidWorkload(2);
  v1::WorkloadSeen* workload = message.mutable_workload_seen();
  workload->mutable_decisions(1)->set_id(workload->decisions(0).id());
  EXPECT_EQ(CodeOf(message), kInvalid);
}

TEST(Convert, AComparisonHasNoNanAndNoNegativeNumber) {
  for (double value : {std::nan(""), -1.0, -std::numeric_limits<double>::infinity()}) {
    v1::ShimMessage message;
    message.mutable_probe_done()->mutable_summary()->set_max_rel(value);
    EXPECT_EQ(CodeOf(message), kInvalid) << value;
  }
  v1::ShimMessage message;
  message.mutable_probe_done()->mutable_summary()->set_max_rel(
      std::numeric_limits<double>::infinity());
  EXPECT_EQ(CodeOf(message), absl::StatusCode::kOk) << "broken numbers differ without bound";
}

v1::ShimMessage ValidKernels() {
  v1::ShimMessage message;
  v1::KernelsSeen* seen = message.mutable_kernels_seen();
  seen->set_variant(7);
  v1::KernelUse* kernel = seen->mutable_after()->add_kernels();
  kernel->set_name("triton_poi_fused_add_0");
  kernel->set_launches(12);
  kernel->set_registers(0);
  seen->mutable_after()->mutable_totals()->set_busy_ns(5);
  return message;
}

TEST(Convert, KeepsWhatIsKnownOfAKernelAndWhatIsNot) {
  const auto seen = Converted<session::KernelsSeen>(ValidKernels());
  EXPECT_EQ(seen.variant, 7u);
  EXPECT_EQ(seen.before, storage::StepKernels());
  ASSERT_EQ(seen.after.kernels.size(), 1u);
  EXPECT_EQ(seen.after.kernels[0].launches, 12u);
  EXPECT_EQ(seen.after.kernels[0].registers, 0u);
  EXPECT_EQ(seen.after.kernels[0].time_ns, std::nullopt);
  EXPECT_EQ(seen.after.totals.busy_ns, 5u);
  EXPECT_EQ(seen.after.totals.step_ns, std::nullopt);
}

TEST(Convert, BoundsWhatKernelsSay) {
  const auto broken = [](const std::function<void(v1::StepKernels*)>& edit) {
    v1::ShimMessage message = ValidKernels();
    edit(message.mutable_kernels_seen()->mutable_before());
    edit(message.mutable_kernels_seen()->mutable_after());
    return CodeOf(message);
  };
  const auto kernel = [&broken](const std::function<void(v1::KernelUse*)>& edit) {
    return broken([&edit](v1::StepKernels* step) {
      step->add_kernels()->set_name("another");
      edit(step->mutable_kernels(step->kernels_size() - 1));
    });
  };
  EXPECT_EQ(kernel([](v1::KernelUse*) {}), absl::StatusCode::kOk);
  EXPECT_EQ(kernel([](auto* use) { use->clear_name(); }), kInvalid);
  EXPECT_EQ(kernel([](auto* use) { use->set_name(std::string(257, 'k')); }), kInvalid);
  EXPECT_EQ(kernel([](auto* use) { use->set_name("\x1b[2J"); }), kInvalid);
  EXPECT_EQ(kernel([](auto* use) { use->set_launches(uint64_t{1} << 32); }), kInvalid);
  EXPECT_EQ(kernel([](auto* use) { use->set_time_ns(3'600'000'000'001); }), kInvalid);
  EXPECT_EQ(kernel([](auto* use) { use->set_read_bytes((uint64_t{1} << 50) + 1); }), kInvalid);
  EXPECT_EQ(kernel([](auto* use) { use->set_written_bytes(UINT64_MAX); }), kInvalid);
  EXPECT_EQ(kernel([](auto* use) { use->set_registers(UINT32_MAX); }), kInvalid);
  EXPECT_EQ(kernel([](auto* use) { use->set_spill_bytes(UINT32_MAX); }), kInvalid);
  EXPECT_EQ(kernel([](auto* use) { use->set_shared_bytes(UINT32_MAX); }), kInvalid);
  EXPECT_EQ(broken([](auto* step) { step->mutable_totals()->set_step_ns(UINT64_MAX); }), kInvalid);
  EXPECT_EQ(broken([](auto* step) { step->mutable_totals()->set_busy_ns(UINT64_MAX); }), kInvalid);
  EXPECT_EQ(broken([](auto* step) { step->mutable_totals()->set_host_launches(UINT64_MAX); }),
            kInvalid);
  EXPECT_EQ(broken([](auto* step) {
              for (int i = 0; i < 2; ++i) step->add_kernels()->set_name("twice");
            }),
            kInvalid);
  const auto many = [&broken](int kernels) {
    return broken([kernels](v1::StepKernels* step) {
      while (step->kernels_size() < kernels) {
        step->add_kernels()->set_name(absl::StrCat("k", step->kernels_size()));
      }
    });
  };
  EXPECT_EQ(many(512), absl::StatusCode::kOk);
  EXPECT_EQ(many(513), kInvalid);
  v1::ShimMessage of_default = ValidKernels();
  of_default.mutable_kernels_seen()->set_variant(0);
  EXPECT_EQ(CodeOf(of_default), kInvalid) << "the default is what others are compared with";
}

TEST(Convert, AnUnknownEquivalenceProvesNothing) {
  v1::ShimMessage message;
  message.mutable_probe_done()->mutable_summary()->set_equivalence(
      static_cast<v1::Equivalence>(77));
  EXPECT_EQ(Converted<planner::ProbeDone>(message).summary.equivalence,
            planner::Equivalence::kInconclusive);
}

TEST(Convert, ABuiltVariantHasASignatureAndTheDefaultIsNeverBuilt) {
  v1::ShimMessage message;
  message.mutable_variant_built()->set_variant(1);
  message.mutable_variant_built()->set_status(v1::BUILD_STATUS_OK);
  EXPECT_EQ(CodeOf(message), kInvalid);
  message.mutable_variant_built()->set_signature(kDigest);
  EXPECT_EQ(CodeOf(message), absl::StatusCode::kOk);
  message.mutable_variant_built()->set_variant(0);
  EXPECT_EQ(CodeOf(message), kInvalid);
}

TEST(Convert, AnUnknownFlagOfAUnitSpoilsItsPair) {
  v1::ShimMessage message;
  message.mutable_steps_done()->add_units()->set_flags(1024);
  message.mutable_steps_done()->add_units()->set_flags(v1::UNIT_FLAG_ABORTED);
  message.mutable_steps_done()->add_units()->set_flags(v1::UNIT_FLAG_NEIGHBOUR);
  const auto done = Converted<planner::LeaseDone>(message);
  EXPECT_EQ(done.units[0].flags, static_cast<uint32_t>(v1::UNIT_FLAG_CLOCK_EVENT));
  EXPECT_EQ(done.units[1].flags, planner::kUnitAborted);
  EXPECT_EQ(done.units[2].flags, planner::kUnitNeighbour);
  EXPECT_FALSE(done.run_ahead.has_value());
  message.mutable_steps_done()->set_run_ahead(0);
  EXPECT_EQ(Converted<planner::LeaseDone>(message).run_ahead, 0u);
  for (int i = 0; i < 254; ++i) message.mutable_steps_done()->add_units();
  EXPECT_EQ(CodeOf(message), kInvalid) << "257 units";
}

TEST(Convert, WritesCoinsBitByBit) {
  planner::RunPairs lease;
  lease.lease = 7;
  lease.challenger_first = {true, false, false, false, false, false, false, false, true};
  lease.deadline = std::chrono::seconds(2);
  const v1::DaemonMessage message = ToProto(lease, 3);
  EXPECT_EQ(message.sequence(), 3u);
  EXPECT_EQ(message.run_pairs().pairs(), 9u);
  EXPECT_EQ(message.run_pairs().challenger_first(), std::string("\x01\x01", 2));
  EXPECT_EQ(message.run_pairs().deadline_ns(), 2'000'000'000u);
}

TEST(Convert, AProvisionalAdoptNamesNoSettlement) {
  planner::Adopt adopt;
  adopt.plan = {{3, 1}};
  const v1::DaemonMessage provisional = ToProto(adopt, 1);
  EXPECT_EQ(provisional.adopt().settlement(), v1::SETTLEMENT_KIND_UNSPECIFIED);
  EXPECT_EQ(provisional.adopt().plan().choices(0).decision(), 3u);
  adopt.settlement = 5;
  adopt.settlement_kind = planner::SettlementKind::kInJob;
  adopt.settled = true;
  const v1::DaemonMessage settled = ToProto(adopt, 1);
  EXPECT_EQ(settled.adopt().settlement(), v1::SETTLEMENT_KIND_IN_JOB);
  EXPECT_EQ(settled.adopt().settled(), 1u);
}

TEST(Convert, CutsSentencesToWhatAShimHolds) {
  std::string long_detail;
  for (int i = 0; i < 200; ++i) long_detail += "\xc3\xa9";
  const v1::DaemonMessage message = ToProto(session::Refused{1, "a" + long_detail}, 1);
  EXPECT_LE(message.refused().detail().size(), 256u);
  EXPECT_EQ(message.refused().detail().back(), '\xa9') << "cut between characters";
}

}  // namespace
}  // namespace blazed::rpc
