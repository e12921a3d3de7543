// nanopb's bytes against protobuf's.
#include "client/cpp/wire/codec.h"

#include <blazed/v1/tuner.pb.h>
#include <gtest/gtest.h>

#include <random>

namespace blazed::shim {
namespace {

template <typename Message>
v1::ShimMessage Parsed(const Message& message) {
  v1::ShimMessage parsed;
  EXPECT_TRUE(parsed.ParseFromString(EncodeSequence(77) + Encode(message)));
  EXPECT_EQ(parsed.sequence(), 77u);
  return parsed;
}

Digest Bytes(uint8_t value) {
  Digest digest;
  digest.fill(value);
  return digest;
}

TEST(Codec, HelloInFull) {
  Hello hello;
  hello.resume = Bytes(3);
  hello.resume_epoch = 1ull << 63;
  hello.mode = WireMode::kPinned;
  hello.contract = 3;
  hello.job = std::string(500, 'j');
  hello.rank = 2;
  hello.world_size = 8;
  hello.device = "cpu";
  hello.environment = {{"k", "v"}, {std::string(60, 'k'), std::string(400, 'v')}};
  hello.extra_memory_bytes = 5;
  hello.tune_until_steps = 6;
  hello.tune_until_ns = 7;
  const v1::Hello parsed = Parsed(hello).hello();
  EXPECT_EQ(parsed.resume(), std::string(16, 3));
  EXPECT_EQ(parsed.resume_epoch(), 1ull << 63);
  EXPECT_EQ(parsed.mode(), v1::MODE_PINNED);
  EXPECT_EQ(parsed.contract(), v1::CONTRACT_PREDICTION);
  EXPECT_EQ(parsed.job(), std::string(96, 'j'));
  EXPECT_EQ(parsed.world_size(), 8u);
  ASSERT_EQ(parsed.environment_size(), 2);
  EXPECT_EQ(parsed.environment(1).key(), std::string(48, 'k'));
  EXPECT_EQ(parsed.environment(1).value(), std::string(160, 'v'));
  EXPECT_EQ(parsed.tune_until_ns(), 7u);
}

TEST(Codec, ProbeDoneInFull) {
  ProbeDone done;
  done.probe_id = 1;
  done.variant = 2;
  done.probe_ns = 3;
  done.passed_batches = 4;
  done.summary.verdict = equivalence::Verdict::kRejectedBroken;
  done.summary.elements = 5;
  done.summary.mismatches = 6;
  done.summary.max_abs = 0.5;
  done.summary.max_rel = 0.25;
  done.summary.max_ulp = UINT64_MAX;
  done.summary.nan_variant = 7;
  done.summary.inf_default = 8;
  done.summary.prediction_disagreements = 9;
  done.summary.own_max_rel = 0.125;
  done.summary.allowed_max_rel = 0.0625;
  done.summary.worst_tensor = "gradient";
  done.summary.digest_variant.Add(1, 2, 3);
  const v1::ProbeDone parsed = Parsed(done).probe_done();
  EXPECT_EQ(parsed.probe_id(), 1u);
  EXPECT_EQ(parsed.passed_batches(), 4u);
  const v1::ComparisonSummary& summary = parsed.summary();
  EXPECT_EQ(summary.equivalence(), v1::EQUIVALENCE_REJECTED_BROKEN);
  EXPECT_EQ(summary.elements(), 5u);
  EXPECT_EQ(summary.mismatches(), 6u);
  EXPECT_EQ(summary.max_ulp(), 1ull << 63);
  EXPECT_EQ(summary.nan_variant(), 7u);
  EXPECT_EQ(summary.inf_default(), 8u);
  EXPECT_EQ(summary.prediction_disagreements(), 9u);
  EXPECT_EQ(summary.own_max_rel(), 0.125);
  EXPECT_EQ(summary.allowed_max_rel(), 0.0625);
  EXPECT_EQ(summary.worst_tensor(), "gradient");
  EXPECT_EQ(summary.digest_default(), std::string(16, 0));
  EXPECT_NE(summary.digest_variant(), std::string(16, 0));
}

TEST(Codec, EveryVerdictKeepsItsMeaning) {
  const std::pair<equivalence::Verdict, v1::Equivalence> kPairs[] = {
      {equivalence::Verdict::kNothingToCheck, v1::EQUIVALENCE_NOTHING_TO_CHECK},
      {equivalence::Verdict::kIdentical, v1::EQUIVALENCE_IDENTICAL},
      {equivalence::Verdict::kRounding, v1::EQUIVALENCE_ROUNDING},
      {equivalence::Verdict::kRejectedDifferent, v1::EQUIVALENCE_REJECTED_DIFFERENT},
      {equivalence::Verdict::kRejectedBroken, v1::EQUIVALENCE_REJECTED_BROKEN},
      {equivalence::Verdict::kInconclusive, v1::EQUIVALENCE_INCONCLUSIVE}};
  for (const auto& [verdict, expected] : kPairs) {
    ProbeDone done;
    done.summary.verdict = verdict;
    EXPECT_EQ(Parsed(done).probe_done().summary().equivalence(), expected);
  }
}

TEST(Codec, TheOtherMessages) {
  const auto built =
      Parsed(VariantBuilt{1, 2, BuildStatus::kFailed, std::string(999, 'r'), Bytes(9), 3, 4})
          .variant_built();
  EXPECT_EQ(built.reason(), std::string(256, 'r'));
  EXPECT_EQ(built.signature(), "") << "a variant that is not there has none";
  EXPECT_EQ(built.build_ns(), 3u);
  StepsDone steps{5, {{10, 20, 32}, {11, 0, 0}}, 6, 7, true, {}};
  EXPECT_FALSE(Parsed(steps).steps_done().has_run_ahead());
  steps.run_ahead = 0;
  EXPECT_TRUE(Parsed(steps).steps_done().has_run_ahead()) << "never ahead is an answer";
  steps.run_ahead = 9;
  const auto done = Parsed(steps).steps_done();
  EXPECT_EQ(done.run_ahead(), 9u);
  ASSERT_EQ(done.units_size(), 2);
  EXPECT_EQ(done.units(0).device_ns(), 20u);
  EXPECT_EQ(done.units(0).flags(), uint32_t{v1::UNIT_FLAG_ABORTED});
  EXPECT_EQ(done.drain_ns(), 7u);
  EXPECT_EQ(done.complete(), 1u);
  const auto refused =
      Parsed(DirectiveRefused{1, 2, Refusal::kRejectedEarlier, "why"}).directive_refused();
  EXPECT_EQ(refused.reason(), v1::REFUSAL_REASON_REJECTED_EARLIER);
  const auto window = Parsed(ServiceWindow{1, 2, 16, 4, 5}).service_window();
  EXPECT_EQ(window.host_ns(), 4u);
  EXPECT_EQ(window.median_step_ns(), 5u);
  EXPECT_EQ(Parsed(Adopted{1, 2, 3}).adopted().from_step(), 3u);
  EXPECT_EQ(Parsed(Bye{12, "end"}).bye().steps(), 12u);
}

TEST(Codec, DirectivesAreReadAsProtobufWroteThem) {
  v1::DaemonMessage message;
  auto* pairs = message.mutable_run_pairs();
  pairs->set_lease_id(UINT64_MAX);
  pairs->set_champion(1);
  pairs->set_challenger(2);
  pairs->set_pairs(9);
  pairs->set_challenger_first(std::string("\xff\x01", 2));
  pairs->set_warm_steps(3);
  pairs->set_timed_steps(8);
  pairs->set_deadline_ns(UINT64_MAX);
  const auto body = DecodeDaemonMessage(message.SerializeAsString());
  ASSERT_TRUE(body.has_value());
  const auto& read = std::get<RunPairs>(*body);
  EXPECT_EQ(read.lease_id, UINT64_MAX);
  EXPECT_EQ(read.challenger_first, (std::vector<uint8_t>{0xff, 1}));
  EXPECT_EQ(read.deadline_ns, UINT64_MAX);
  EXPECT_EQ(read.timed_steps, 8u);

  auto* build = message.mutable_build();
  build->set_variant(7);
  for (uint32_t i = 0; i < 512; ++i) {
    auto* choice = build->mutable_plan()->add_choices();
    choice->set_decision(i);
    choice->set_option(1 + i % 3);
  }
  const auto built = DecodeDaemonMessage(message.SerializeAsString());
  ASSERT_TRUE(built.has_value());
  EXPECT_EQ(std::get<Build>(*built).plan.size(), 512u);
  EXPECT_EQ(std::get<Build>(*built).plan[511].decision, 511u);
  build->mutable_plan()->add_choices();
  EXPECT_FALSE(DecodeDaemonMessage(message.SerializeAsString()).has_value());
}

TEST(Codec, UnknownFieldsAndBodiesAreIgnored) {
  // Field 200 as a varint, and a body of number 14 that this version does not know.
  const std::string later("\xc0\x0c\x01\x72\x02hi", 7);
  const auto body = DecodeDaemonMessage(later);
  ASSERT_TRUE(body.has_value());
  EXPECT_TRUE(std::holds_alternative<UnknownBody>(*body));
  v1::DaemonMessage message;
  message.mutable_drop()->set_variant(4);
  const auto drop = DecodeDaemonMessage(message.SerializeAsString() + later);
  ASSERT_TRUE(drop.has_value());
  EXPECT_EQ(std::get<Drop>(*drop).variant, 4u);
}

TEST(Codec, TextsBeyondTheirLimitsAreMalformed) {
  v1::DaemonMessage message;
  message.mutable_stand()->set_detail(std::string(257, 'x'));
  EXPECT_FALSE(DecodeDaemonMessage(message.SerializeAsString()).has_value());
  message.mutable_stand()->set_detail(std::string(256, '\x07'));
  const auto body = DecodeDaemonMessage(message.SerializeAsString());
  ASSERT_TRUE(body.has_value());
  EXPECT_EQ(std::get<Stand>(*body).detail, std::string(256, '?'));
}

TEST(Codec, ReportsAreReadWhole) {
  v1::GetReportReply reply;
  reply.set_json(std::string(1 << 20, 'r'));
  EXPECT_EQ(DecodeGetReportReply(reply.SerializeAsString()), reply.json());
  EXPECT_EQ(DecodeGetReportReply(""), "");
  EXPECT_FALSE(DecodeGetReportReply("\x0a\xff").has_value());
  EXPECT_FALSE(DecodeGetReportReply(std::string("\x0a\xff\xff\xff\xff\x0f", 6)).has_value());
  v1::GetReportRequest request;
  ASSERT_TRUE(request.ParseFromString(EncodeGetReportRequest(Bytes(5))));
  EXPECT_EQ(request.session(), std::string(16, 5));
}

TEST(Codec, RandomBytesNeverHurt) {
  constexpr uint64_t kSeed = 4711;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  v1::DaemonMessage message;
  message.mutable_progress()->set_note("note");
  message.mutable_progress()->mutable_forecast()->set_based_on("x");
  const std::string progress = message.SerializeAsString();
  message.mutable_build()->mutable_plan()->add_choices()->set_option(1);
  const std::string build = message.SerializeAsString();
  int decoded = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::string bytes =
        round % 3 == 0 ? std::string(random() % 64, '\0') : (round % 3 == 1 ? progress : build);
    for (char& byte : bytes) {
      if (round % 3 == 0 || random() % 8 == 0) byte = static_cast<char>(random());
    }
    decoded += DecodeDaemonMessage(bytes).has_value() ? 1 : 0;
    static_cast<void>(DecodeGetReportReply(bytes));
  }
  EXPECT_GT(decoded, 100);
  EXPECT_LT(decoded, 100'000);
}

}  // namespace
}  // namespace blazed::shim
