// How a prober learns the default's own error, and what it makes of a host's reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "client/cpp/engine/prober.h"
#include "tests/unit/shim/fakes.h"

namespace blazed::shim {
namespace {

using equivalence::Contract;
using equivalence::Verdict;
using Values = std::vector<float>;

constexpr uint64_t kSeed = 20261201;
constexpr uint64_t kVariant = 1;

// Computes in an arithmetic of relative error `coarse`: each run of each handle draws its errors
// from a seed of its own, except where the default is told to repeat itself.
class CoarseHost {
 public:
  CoarseHost() {
    std::mt19937_64 random(kSeed);
    std::normal_distribution<float> draw;
    for (float& value : exact) value = draw(random);
  }

  blz_host_ops Ops(bool with_reference) {
    blz_host_ops ops{};
    ops.struct_size = sizeof ops;
    ops.user = this;
    ops.probe = [](void* user, uint64_t handle, blz_probe_sink* sink) {
      return static_cast<CoarseHost*>(user)->OnProbe(handle, sink);
    };
    if (with_reference) {
      ops.reference = [](void* user, blz_probe_sink* sink) {
        return static_cast<CoarseHost*>(user)->OnReference(sink);
      };
    }
    return ops;
  }

  int OnProbe(uint64_t handle, blz_probe_sink* sink) {
    const int run = runs[handle]++;
    if (handle != 0) return Give(sink, variant(Rounded(coarse, 1000)));
    return Give(sink, Rounded(coarse, repeats_itself ? 1 : static_cast<uint64_t>(run) + 1));
  }

  int OnReference(blz_probe_sink* sink) {
    ++references;
    if (reference_faults) return 1;
    Values values = exact;
    for (float& value : values) value *= scale;
    return Give(sink, reference ? reference(values) : values);
  }

  Values Rounded(float by, uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> draw(0, by);
    Values values = exact;
    for (float& value : values) value *= scale * (1 + draw(random));
    return values;
  }

  int Give(blz_probe_sink* sink, const Values& values) const {
    const blz_tensor tensor{tensor_size,   "t",           BLZ_F32, BLZ_GRADIENT,
                            values.size(), values.data(), 0,       unit_roundoff};
    blz_probe_tensor(sink, &tensor);
    return 0;
  }

  Values exact = Values(4096);
  float coarse = 3e-4f;  // what a product in TF32 comes to
  float scale = 1;
  bool repeats_itself = true;
  bool reference_faults = false;
  double unit_roundoff = 0;
  size_t tensor_size = sizeof(blz_tensor);
  std::function<Values(Values)> variant = [](Values values) { return values; };
  std::function<Values(Values)> reference;  // null: as the arithmetic of f32 gives it
  std::map<uint64_t, int> runs;
  int references = 0;
};

class OwnError : public testing::Test {
 protected:
  Prober& Made(bool with_reference, Contract contract = Contract::kRounding) {
    ops = host.Ops(with_reference);
    prober = std::make_unique<Prober>(ops, clock, contract, 1 << 20);
    return *prober;
  }
  Prober::Outcome CheckAtNextPoint() {
    prober->StartPoint();
    return prober->Check(kVariant);
  }
  Verdict Judged() { return CheckAtNextPoint().summary.verdict; }

  CoarseHost host;
  FakeClock clock;
  blz_host_ops ops{};
  std::unique_ptr<Prober> prober;
};

TEST_F(OwnError, AgainstAReferenceExplainsAnotherRoundingOfTheSameArithmetic) {
  Made(true);
  const Prober::Outcome outcome = CheckAtNextPoint();
  EXPECT_EQ(outcome.summary.verdict, Verdict::kRounding);
  EXPECT_GT(outcome.summary.own_max_rel, 1e-4);
  EXPECT_LT(outcome.summary.own_max_rel, 4e-3);
  EXPECT_NEAR(outcome.summary.allowed_max_rel, 4 * outcome.summary.own_max_rel, 1e-12);
}

TEST_F(OwnError, WithoutAReferenceTheTypeJudges) {
  Made(false);
  EXPECT_EQ(Judged(), Verdict::kRejectedDifferent);
}

TEST_F(OwnError, OfADefaultInFullPrecisionAllowsNoCoarseProduct) {
  host.coarse = 3e-8f;
  host.variant = [&](const Values&) { return host.Rounded(3e-4f, 1000); };
  Made(true);
  EXPECT_EQ(Judged(), Verdict::kRejectedDifferent);
}

struct Fault {
  const char* name;
  std::function<void(Values&)> make;
  Verdict verdict = Verdict::kRejectedDifferent;
};
class Faults : public OwnError, public testing::WithParamInterface<Fault> {};

TEST_P(Faults, AreRejectedWhateverTheArithmetic) {
  for (const float coarse : {3e-4f, 5e-3f, 4e-2f}) {
    SCOPED_TRACE(coarse);
    host = CoarseHost();
    host.coarse = coarse;
    Made(true);
    EXPECT_EQ(Judged(), Verdict::kRounding);
    host.variant = [](Values values) {
      GetParam().make(values);
      return values;
    };
    EXPECT_EQ(Judged(), GetParam().verdict);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, Faults,
    testing::Values(
        Fault{"scaled",
              [](Values& values) {
                for (float& value : values) value *= 1.1f;
              }},
        Fault{"tail", [](Values& values) { std::fill(values.end() - 512, values.end(), 0.0f); }},
        Fault{"swapped", [](Values& values) { std::reverse(values.begin(), values.end()); }},
        Fault{"zeros", [](Values& values) { std::fill(values.begin(), values.end(), 0.0f); }},
        Fault{"nan", [](Values& values) { values[5] = NAN; }, Verdict::kRejectedBroken}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(OwnError, IsMeasuredByThreeRunsOfTheDefaultAndSeldomByTheReference) {
  Made(true);
  for (int point = 1; point <= 9; ++point) Judged();
  EXPECT_EQ(host.runs[0], 2 + 9);
  EXPECT_EQ(host.references, 4);  // at points 1, 2, 4 and 8
  EXPECT_EQ(prober->runs(), 2u + 9 + 9 + 4);
}

TEST_F(OwnError, OfADefaultThatDoesNotRepeatItselfIsSeenAtEveryPoint) {
  host.repeats_itself = false;
  Made(false);
  EXPECT_EQ(Judged(), Verdict::kRounding);
  Judged();
  Judged();
  EXPECT_EQ(host.runs[0], 3 + 2 + 2);
}

TEST_F(OwnError, HoldsAtLaterBatchesInSharesOfTheirSize) {
  Made(true);
  EXPECT_EQ(Judged(), Verdict::kRounding);
  host.scale = 1e-3f;
  EXPECT_EQ(Judged(), Verdict::kRounding);
  EXPECT_EQ(Judged(), Verdict::kRounding);
  // Errors as large as they were at the first batch are a thousand times what they may be here.
  host.variant = [&](Values values) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] += 3e-4f * host.exact[values.size() - 1 - i];
    return values;
  };
  EXPECT_EQ(Judged(), Verdict::kRejectedDifferent);
}

TEST_F(OwnError, ComesFromTheRepeatsAloneWhereTheReferenceIsNone) {
  struct None {
    bool faults;
    std::function<Values(Values)> reference;
  };
  const None nones[] = {
      {true, nullptr}, {false, [](Values) { return Values(7); }}, {false, [](Values values) {
                                                                     values[0] = NAN;
                                                                     return values;
                                                                   }}};
  for (const None& none : nones) {
    host.reference_faults = none.faults;
    host.reference = none.reference;
    Made(true);
    EXPECT_EQ(Judged(), Verdict::kRejectedDifferent);
  }
  EXPECT_EQ(host.references, 3);
}

TEST_F(OwnError, IsNotAskedForUnderAnyOtherContract) {
  host.repeats_itself = false;
  for (const Contract contract : {Contract::kBitwise, Contract::kPrediction}) {
    host.runs.clear();
    Made(true, contract);
    EXPECT_NE(Judged(), Verdict::kRounding);
    EXPECT_NE(Judged(), Verdict::kRounding);
    EXPECT_EQ(host.references, 0);
    EXPECT_EQ(host.runs[0], 3) << "twice at the first batch and once at each other";
  }
}

TEST_F(OwnError, IsNotNeededWhereTheHostNamesItsArithmetic) {
  host.unit_roundoff = 0x1p-11;
  Made(false);
  EXPECT_EQ(Judged(), Verdict::kRounding);
  host.variant = [](Values values) {
    for (float& value : values) value *= 1.01f;
    return values;
  };
  EXPECT_EQ(Judged(), Verdict::kRejectedDifferent);
}

TEST_F(OwnError, AnArithmeticBeyondBf16IsMalformed) {
  for (const double bad : {-1e-9, 0x1p-7, std::nan("")}) {
    host.unit_roundoff = bad;
    Made(false);
    EXPECT_STREQ(CheckAtNextPoint().note,
                 "the default's check computation gave a malformed tensor");
  }
}

// A host that was built before the field was there: what lies behind its structure is not read.
TEST_F(OwnError, AnEarlierHostsTensorsHaveTheirTypesArithmetic) {
  host.tensor_size = offsetof(blz_tensor, unit_roundoff);
  host.unit_roundoff = std::nan("");
  Made(false);
  EXPECT_EQ(Judged(), Verdict::kRejectedDifferent);
  host.variant = [&](const Values&) { return host.Rounded(host.coarse, 1); };
  EXPECT_EQ(Judged(), Verdict::kIdentical);
}

}  // namespace
}  // namespace blazed::shim
