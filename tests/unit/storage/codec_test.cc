// Texts, pairs, rows and checksums.
#include <cmath>
#include <limits>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/digest_text.h"
#include "storage/kernel_codec.h"
#include "storage/pair_codec.h"
#include "storage/plan_text.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/value.h"
#include "tests/contract/storage/samples.h"

namespace blazed::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PlanText, ReadsBackWhatItWrote) {
  const planner::Plan plan = {{0, 1}, {7, 2}, {4294967295u, 15}};
  EXPECT_EQ(PlanToText(plan), "0:1,7:2,4294967295:15");
  EXPECT_EQ(*PlanFromText(PlanToText(plan)), plan);
  EXPECT_THAT(*PlanFromText(""), IsEmpty());
}

TEST(PlanText, RefusesWhatIsNoSortedListOfChoices) {
  for (const char* text : {"0", "0:0", "1:1,0:1", "0:1,0:2", "0:1,", ":", "0:1:2", "a:1", "-1:1",
                           "0:99999999999", " 0:1x"}) {
    EXPECT_EQ(PlanFromText(text).status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

TEST(PlanText, NamesDecisionsAndOptionsAndFallsBackToNumbers) {
  const planner::WorkloadSpec spec = samples::Workload().spec;
  EXPECT_THAT(PlanNames(spec, {{0, 1}, {1, 2}, {9, 1}}),
              ElementsAre("ln.1|gemm.2=cut", "attention/forward=blocked", "9=1"));
  EXPECT_EQ(PlanForPeople(spec, {}), "default");
  EXPECT_EQ(PlanForPeople(spec, {{0, 1}, {1, 7}}), "ln.1|gemm.2=cut, 1=7");
}

TEST(DigestText, ARangeHoldsExactlyThePrefix) {
  const Digest digest = samples::DigestOf(5);
  const std::string hex = DigestToHex(digest);
  for (size_t digits = 0; digits <= hex.size(); ++digits) {
    auto range = DigestsByPrefix(hex.substr(0, digits));
    ASSERT_TRUE(range.ok());
    EXPECT_TRUE(range->Contains(digest));
    EXPECT_EQ(DigestToHex(range->first).substr(0, digits), hex.substr(0, digits));
    EXPECT_EQ(DigestToHex(range->last).substr(0, digits), hex.substr(0, digits));
  }
  EXPECT_FALSE(DigestsByPrefix("0")->Contains(digest));
  EXPECT_FALSE(DigestsByPrefix(std::string(33, 'a')).ok());
}

TEST(KernelCodec, ReadsBackWhatIsKnownAndWhatIsNot) {
  const PlanKernels kernels = samples::Kernels();
  for (const StepKernels& step : {kernels.before, kernels.after, StepKernels()}) {
    const auto read = UnpackKernels(kKernelFormat, PackKernels(step));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, step);
  }
}

TEST(KernelCodec, RefusesBytesThatDoNotParseToTheEnd) {
  const std::string packed = PackKernels(samples::Kernels().before);
  EXPECT_EQ(UnpackKernels(kKernelFormat + 1, packed).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(UnpackKernels(kKernelFormat, packed + "x").ok());
  for (size_t size = 0; size < packed.size(); ++size) {
    EXPECT_FALSE(UnpackKernels(kKernelFormat, packed.substr(0, size)).ok()) << size;
  }
}

TEST(KernelCodec, RefusesNumbersThatNoFieldHolds) {
  const std::string too_many_flags = "\x10";  // a fifth total
  const std::string wide = std::string("\x00\x01\x01k\x10", 5) + "\xff\xff\xff\xff\xff\x01";
  EXPECT_FALSE(UnpackKernels(kKernelFormat, too_many_flags + std::string(6, '\0')).ok());
  EXPECT_FALSE(UnpackKernels(kKernelFormat, wide).ok()) << "registers have 32 bits";
}

TEST(PairCodec, IsExactForEveryDouble) {
  const double edges[] = {0.0,
                          -0.0,
                          1,
                          127,
                          128,
                          9007199254740991.0,
                          9007199254740992.0,
                          -1,
                          0.5,
                          std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::denorm_min(),
                          std::numeric_limits<double>::max()};
  std::vector<planner::PairSample> pairs;
  for (const double champion : edges) {
    for (const double challenger : edges) {
      const bool device = pairs.size() % 4 == 0;
      const uint32_t flags = pairs.size() % 7 == 0 ? static_cast<uint32_t>(pairs.size()) * 9 : 0;
      pairs.push_back({champion, challenger, pairs.size() % 2 == 0, pairs.size() % 3 == 0,
                       pairs.size() % 5 == 0, device ? challenger : 0, device ? champion : 0,
                       pairs.size() % 11 == 0 ? pairs.size() : 0, flags});
    }
  }
  auto read = UnpackPairs(kPairFormat, PackPairs(pairs));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(*read, pairs);
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(std::signbit((*read)[i].champion_ns), std::signbit(pairs[i].champion_ns));
  }
}

TEST(PairCodec, KeepsTheSessionsOfPairsThatOtherJobsGave) {
  std::vector<planner::PairSample> pairs(3, {2'000'000, 1'900'000.5, true, false, false});
  pairs[1].session = 7;
  pairs[2].session = std::numeric_limits<uint64_t>::max();
  const std::string blob = PackPairs(pairs);
  auto read = UnpackPairs(kPairFormat, blob);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, pairs);
  for (size_t size = 0; size < blob.size(); ++size) {
    EXPECT_FALSE(UnpackPairs(kPairFormat, blob.substr(0, size)).ok()) << size;
  }
}

TEST(PairCodec, ReadsTheFormatWithoutSessions) {
  const std::vector<planner::PairSample> pairs(2, {2'000'000, 1'900'000, true, false, false});
  const auto read = UnpackPairs(1, PackPairs(pairs));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, pairs);
}

TEST(PairCodec, IsCompactForWholeNanoseconds) {
  const std::vector<planner::PairSample> pairs(100, {2'000'000, 1'900'000, true, false, false, 0});
  EXPECT_LE(PackPairs(pairs).size(), 100 * 7 + 1);
}

TEST(PairCodec, SurvivesEveryTruncationAndRandomBytes) {
  const std::string blob = PackPairs(samples::Race(1, 12).pairs);
  for (size_t size = 0; size < blob.size(); ++size) {
    EXPECT_FALSE(UnpackPairs(kPairFormat, blob.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(UnpackPairs(kPairFormat, blob + "x").ok());
  EXPECT_FALSE(UnpackPairs(kPairFormat + 1, blob).ok());
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const auto pairs = UnpackPairs(kPairFormat, bytes);
    if (pairs.ok()) {
      EXPECT_LE(pairs->size(), bytes.size());
    }
  }
}

TEST(PairCodec, ReadsPairsFromBeforeDeviceTimesAndNoneThatPretendToBe) {
  const std::vector<planner::PairSample> before = {{2'000'000, 0.5, true, false, true}};
  const auto read = UnpackPairs(1, PackPairs(before));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, before);
  const std::string with_device = PackPairs({{1, 2, false, false, false, 3, 4}});
  EXPECT_TRUE(UnpackPairs(kPairFormat, with_device).ok());
  EXPECT_FALSE(UnpackPairs(1, with_device).ok());
  EXPECT_FALSE(UnpackPairs(0, PackPairs(before)).ok());
}

TEST(PairCodec, TakesQuantilesOfThePairsThatCount) {
  std::vector<planner::PairSample> pairs;
  for (int i = 1; i <= 10; ++i) pairs.push_back({i * 1.0, i * 2.0, false, false, false});
  pairs.push_back({1e9, 1e9, false, true, false});
  pairs.push_back({1e9, 1e9, false, false, true});
  const ArmQuantiles quantiles = QuantilesOf(pairs);
  EXPECT_EQ(quantiles.champion, (Quantiles{1, 5, 9}));
  EXPECT_EQ(quantiles.challenger, (Quantiles{2, 10, 18}));
  EXPECT_EQ(QuantilesOf({}).champion, Quantiles{});
}

TEST(Checksum, DependsOnEveryValueItsTypeTheIdAndTheStore) {
  const Row row = {int64_t{1}, 2.0, std::string("ab"), Blob{"c"}, std::monostate{}};
  const int64_t checksum = Checksum(1, 7, row);
  EXPECT_EQ(Checksum(1, 7, row), checksum);
  EXPECT_NE(Checksum(1, 8, row), checksum);
  EXPECT_NE(Checksum(2, 7, row), checksum);
  const Value others[] = {int64_t{2}, 3.0, std::string("abc"), Blob{"ab"}, int64_t{0}};
  for (size_t i = 0; i < row.size(); ++i) {
    Row changed = row;
    changed[i] = others[i];
    EXPECT_NE(Checksum(1, 7, changed), checksum) << i;
  }
  const Row split = {std::string("a"), std::string("bc")};
  const Row joined = {std::string("ab"), std::string("c")};
  EXPECT_NE(Checksum(1, 1, split), Checksum(1, 1, joined));
}

TEST(RowCodec, KeepsNumbersThatAreNone) {
  planner::PlanRecord record = samples::Plan();
  record.comparison.max_rel = std::nan("");
  record.comparison.max_abs = std::numeric_limits<double>::infinity();
  record.comparison.max_ulp = uint64_t{1} << 63;
  StoredPlan plan;
  ASSERT_TRUE(DecodePlan(3, EncodePlan(5, record, 9), plan));
  EXPECT_TRUE(std::isnan(plan.record.comparison.max_rel));
  EXPECT_TRUE(std::isinf(plan.record.comparison.max_abs));
  EXPECT_EQ(plan.record.comparison.max_ulp, static_cast<uint64_t>(INT64_MAX)) << "saturates";
}

TEST(RowCodec, TellsLongDwellsAndShamRacesApart) {
  planner::RaceRecord sham = samples::Race(), dwell = samples::Race();
  sham.kind = planner::RaceKind::kSham;
  dwell.kind = planner::RaceKind::kDwell;
  dwell.alpha = 0;
  for (const planner::RaceRecord& record : {sham, dwell}) {
    StoredRace read;
    ASSERT_TRUE(DecodeRace(1, EncodeRace(1, record, 9), read));
    EXPECT_EQ(read.record.kind, record.kind);
  }
}

TEST(RowCodec, RefusesRowsOfAnotherShape) {
  const Row good = EncodePlan(5, samples::Plan(), 9);
  StoredPlan plan;
  Row row = good;
  row.pop_back();
  EXPECT_FALSE(DecodePlan(1, row, plan));
  row = good;
  row.emplace_back(int64_t{1});
  EXPECT_FALSE(DecodePlan(1, row, plan));
  row = good;
  row[3] = int64_t{14};  // one verdict too many
  EXPECT_FALSE(DecodePlan(1, row, plan));
  row = good;
  row[1] = std::string("1:0");
  EXPECT_FALSE(DecodePlan(1, row, plan));
  row = good;
  row[2] = Blob{"short"};
  EXPECT_FALSE(DecodePlan(1, row, plan));
}

}  // namespace
}  // namespace blazed::storage
