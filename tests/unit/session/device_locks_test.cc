#include "daemon/session/device_locks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

namespace blazed::session {
namespace {

using testing::HasSubstr;

class DeviceLocksTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/locks-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(DeviceLocksTest, OneOwnerADevice) {
  DeviceLocks first(folder_, folder_), second(folder_, folder_);
  EXPECT_TRUE(first.Own("GPU-1").ok());
  EXPECT_TRUE(first.Own("GPU-1").ok());
  const absl::Status refused = second.Own("GPU-1");
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("another daemon measures device GPU-1"));
  EXPECT_TRUE(second.Own("GPU-2").ok());
}

TEST_F(DeviceLocksTest, TheLockGoesWithItsOwner) {
  {
    DeviceLocks first(folder_, folder_);
    ASSERT_TRUE(first.Own("cpu").ok());
  }
  DeviceLocks second(folder_, folder_);
  EXPECT_TRUE(second.Own("cpu").ok());
}

TEST_F(DeviceLocksTest, TheCpuMayBeLockedElsewhere) {
  const std::string other = folder_ + "/other";
  mkdir(other.c_str(), 0700);
  DeviceLocks first(folder_, folder_), second(folder_, other);
  EXPECT_TRUE(first.Own("cpu").ok());
  EXPECT_TRUE(second.Own("cpu").ok());
}

TEST_F(DeviceLocksTest, AFolderThatIsNotThereIsNotOwned) {
  DeviceLocks locks(folder_ + "/missing", folder_ + "/missing");
  EXPECT_EQ(locks.Own("cpu").code(), absl::StatusCode::kFailedPrecondition);
}

TEST(DeviceKey, IsAWordThatNamesAFile) {
  EXPECT_TRUE(IsDeviceKey("cpu"));
  EXPECT_TRUE(IsDeviceKey("GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e"));
  EXPECT_TRUE(IsDeviceKey("MIG-GPU_1.2"));
  EXPECT_FALSE(IsDeviceKey(""));
  EXPECT_FALSE(IsDeviceKey("../../etc/passwd"));
  EXPECT_FALSE(IsDeviceKey(".hidden"));
  EXPECT_FALSE(IsDeviceKey("a b"));
  EXPECT_FALSE(IsDeviceKey(std::string(97, 'a')));
}

}  // namespace
}  // namespace blazed::session
