#include "kernels/fuse/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kernels/fuse/decision.h"

namespace blazed::fuse {
namespace {

using testing::ElementsAre;

TEST(CommonPlace, IsThePlaceItselfWhereAllAreEqual) {
  EXPECT_EQ(CommonPlace({"layer0/norm1", "layer0/norm1"}), "layer0/norm1");
  EXPECT_EQ(CommonPlace({}), "");
  EXPECT_EQ(CommonPlace({"", ""}), "");
}

TEST(CommonPlace, PutsAStarWhereNumbersDiffer) {
  EXPECT_EQ(CommonPlace({"layer0/norm1", "layer11/norm1", "layer2/norm1"}), "layer*/norm1");
  EXPECT_EQ(CommonPlace({"layer0/norm1", "layer1/norm2"}), "layer*/norm*");
}

TEST(CommonPlace, CountsTheOtherPlacesWhereMoreDiffers) {
  EXPECT_EQ(CommonPlace({"layer0/up", "layer0/down", "layer0/up"}), "layer0/up+1");
  EXPECT_EQ(CommonPlace({"embedding", "layer0/down", ""}), "embedding+2");
}

TEST(UniqueNames, PutThePlaceBetweenPhaseAndOperations) {
  EXPECT_THAT(
      UniqueNames({{"fwd", "row_sum|square 8x1"}, {"", "attention 8x8"}, {"bwd", "gemm"}},
                  {{"layer0/norm"}, {"layer0", "layer1"}, {""}}),
      ElementsAre("fwd layer0/norm row_sum|square 8x1", "layer* attention 8x8", "bwd gemm"));
}

TEST(UniqueNames, NumberWhatWouldBeEqual) {
  EXPECT_THAT(UniqueNames({{"fwd", "a|b"}, {"fwd", "a|b"}, {"fwd", "a|b #2"}, {"fwd", "a|b"}},
                          {{"x"}, {"x"}, {"x"}, {"x"}}),
              ElementsAre("fwd x a|b", "fwd x a|b #2", "fwd x a|b #2 #2", "fwd x a|b #3"));
}

TEST(UniqueNames, StayWithinTheLimitAndApart) {
  const std::string deep(300, 'p');
  const std::string wide(300, 'w');
  const std::vector<NameParts> parts = {
      {"fwd", "a|b"}, {"fwd", "a|b"}, {"fwd", wide}, {"fwd", wide}, {wide, "a|b"}};
  const auto names = UniqueNames(parts, {{deep}, {deep}, {deep}, {"x"}, {"x"}});
  for (const std::string& name : names) EXPECT_LE(name.size(), kLongestName) << name;
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), parts.size());
  EXPECT_TRUE(names[0].ends_with(" a|b")) << names[0];
}

}  // namespace
}  // namespace blazed::fuse
