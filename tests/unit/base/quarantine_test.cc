#include "daemon/base/quarantine.h"

#include <gtest/gtest.h>

namespace blazed {
namespace {

TEST(Quarantine, KeepsTheFirstCause) {
  Quarantine quarantine;
  EXPECT_TRUE(quarantine.cause().ok());
  EXPECT_EQ(quarantine.Enter(absl::DataLossError("the disk")), Entered::kFirst);
  EXPECT_EQ(quarantine.Enter(absl::InternalError("later")), Entered::kAlreadyIn);
  EXPECT_EQ(quarantine.cause().message(), "the disk");
}

}  // namespace
}  // namespace blazed
