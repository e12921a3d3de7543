#include "daemon/session/device_locks.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "absl/strings/str_format.h"
#include "daemon/base/unique_fd.h"
#include "proto/device_name.h"

namespace blazed::session {
namespace {

using testing::HasSubstr;

// A UUID for a number.
std::string Gpu(size_t number) {
  return absl::StrFormat("GPU-%08x-0b43-9c2a-75c0-6b2b4cbb1a0e", number);
}

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
  const auto hold = first.Own(Gpu(1), 7);
  ASSERT_TRUE(hold.ok()) << hold.status();
  EXPECT_TRUE(first.Own(Gpu(1), 8).ok());
  const absl::Status refused = second.Own(Gpu(1), 7).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr(absl::StrFormat("another daemon with pid %d measures device "
                                        "GPU-",
                                        getpid())));
  EXPECT_TRUE(second.Own(Gpu(2), 7).ok());
}

TEST_F(DeviceLocksTest, TheLockAndItsFileGoWithTheLastHold) {
  DeviceLocks first(folder_, folder_), second(folder_, folder_);
  auto one = first.Own("cpu", 7), other = first.Own("cpu", 8);
  ASSERT_TRUE(one.ok() && other.ok());
  *one = nullptr;
  EXPECT_FALSE(second.Own("cpu", 7).ok());
  *other = nullptr;
  EXPECT_EQ(first.held(), 0u);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_TRUE(second.Own("cpu", 7).ok());
}

TEST_F(DeviceLocksTest, AHoldOutlivesTheTable) {
  DeviceLocks::Hold hold;
  {
    DeviceLocks first(folder_, folder_);
    hold = *first.Own("cpu", 7);
  }
  DeviceLocks second(folder_, folder_);
  EXPECT_FALSE(second.Own("cpu", 7).ok());
  hold = nullptr;
  EXPECT_TRUE(second.Own("cpu", 7).ok());
}

// One daemon waits with the file open while the other unlinks it and lets go; what it locks then is
// no file that anybody else would find.
TEST_F(DeviceLocksTest, ALockOnAFileThatIsGoneIsNone) {
  const std::string path = folder_ + "/blazed-cpu.lock";
  const UniqueFd early(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  DeviceLocks first(folder_, folder_);
  *first.Own("cpu", 7) = nullptr;
  ASSERT_EQ(flock(early.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_TRUE(first.Own("cpu", 7).ok());
}

// The file went while the lock was held, and another daemon made its own.
TEST_F(DeviceLocksTest, AFileThatAnotherMadeMeanwhileStays) {
  const std::string path = folder_ + "/blazed-cpu.lock";
  DeviceLocks first(folder_, folder_), second(folder_, folder_), third(folder_, folder_);
  auto lost = first.Own("cpu", 7);
  ASSERT_TRUE(lost.ok());
  ASSERT_EQ(unlink(path.c_str()), 0);
  const auto hold = second.Own("cpu", 7);
  ASSERT_TRUE(hold.ok());
  *lost = nullptr;
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_FALSE(third.Own("cpu", 7).ok()) << "the second daemon measures";
}

TEST_F(DeviceLocksTest, NobodyElseMayOpenTheFileAndSoHoldIt) {
  const mode_t before = umask(0);
  DeviceLocks locks(folder_, folder_);
  const auto hold = locks.Own("cpu", 7);
  ASSERT_TRUE(hold.ok());
  struct stat facts {};
  ASSERT_EQ(stat((folder_ + "/blazed-cpu.lock").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  umask(before);
}

TEST_F(DeviceLocksTest, AFileOfAnotherUserIsNoDaemonAndIsNamed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = folder_ + "/blazed-cpu.lock";
  DeviceLocks locks(folder_, folder_);
  {
    const UniqueFd theirs(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    ASSERT_EQ(fchown(theirs.get(), 12345, 12345), 0);
    ASSERT_EQ(flock(theirs.get(), LOCK_EX | LOCK_NB), 0);
    const absl::Status refused = locks.Own("cpu", 7).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("belongs to user 12345"));
    EXPECT_THAT(std::string(refused.message()), HasSubstr("set daemon.device_lock_dir"));
  }
  EXPECT_TRUE(locks.Own("cpu", 7).ok()) << "root takes one away that nobody holds";
}

TEST_F(DeviceLocksTest, WhatIsNoPlainFileIsNamed) {
  ASSERT_EQ(mkdir((folder_ + "/blazed-cpu.lock").c_str(), 0700), 0);
  DeviceLocks locks(folder_, folder_);
  EXPECT_THAT(std::string(locks.Own("cpu", 7).status().message()),
              HasSubstr("is no plain file; remove it"));
}

TEST_F(DeviceLocksTest, AUserHoldsOnlySoManyAndTheLimitIsNotTheOthers) {
  DeviceLocks locks(folder_, folder_);
  std::vector<DeviceLocks::Hold> holds;
  for (size_t i = 0; i < kDevicesPerUser; ++i) holds.push_back(*locks.Own(Gpu(i), 7));
  const absl::Status refused = locks.Own(Gpu(kDevicesPerUser), 7).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(locks.Own(Gpu(0), 7).ok()) << "one that it has already";
  EXPECT_TRUE(locks.Own(Gpu(kDevicesPerUser), 8).ok());
  holds.pop_back();
  EXPECT_TRUE(locks.Own(Gpu(kDevicesPerUser), 7).ok());
}

TEST_F(DeviceLocksTest, TheDaemonHoldsOnlySoMany) {
  DeviceLocks locks(folder_, folder_);
  std::vector<DeviceLocks::Hold> holds;
  for (uint32_t i = 0; i < kMostDevices; ++i) holds.push_back(*locks.Own(Gpu(i), i));
  EXPECT_EQ(locks.Own("cpu", 7).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(locks.held(), kMostDevices);
  EXPECT_TRUE(locks.Own(Gpu(0), 12345).ok()) << "one that is held already takes no further place";
  holds.pop_back();
  EXPECT_TRUE(locks.Own("cpu", 7).ok());
}

TEST_F(DeviceLocksTest, TheCpuMayBeLockedElsewhere) {
  const std::string other = folder_ + "/other";
  mkdir(other.c_str(), 0700);
  DeviceLocks first(folder_, folder_), second(folder_, other);
  const auto hold = first.Own("cpu", 7);
  EXPECT_TRUE(hold.ok());
  EXPECT_TRUE(second.Own("cpu", 7).ok());
}

TEST_F(DeviceLocksTest, APartOfAGpuThatNumbersNameHasALockOfItsOwn) {
  DeviceLocks first(folder_, folder_), second(folder_, folder_);
  const std::string gpu = "MIG-" + Gpu(1);
  const auto hold = first.Own(gpu + "/1/0", 7);
  ASSERT_TRUE(hold.ok()) << hold.status();
  EXPECT_FALSE(second.Own(gpu + "/1/0", 7).ok());
  EXPECT_TRUE(second.Own(gpu + "/11/0", 7).ok());
  EXPECT_TRUE(second.Own(gpu, 7).ok());
}

TEST_F(DeviceLocksTest, AFolderThatIsNotThereIsNotOwned) {
  DeviceLocks locks(folder_ + "/missing", folder_ + "/missing");
  EXPECT_EQ(locks.Own("cpu", 7).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(locks.held(), 0u);
}

TEST(DeviceName, IsCpuOrAUuid) {
  EXPECT_TRUE(IsDeviceName("cpu"));
  EXPECT_TRUE(IsDeviceName("GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e"));
  EXPECT_TRUE(IsDeviceName("MIG-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e"));
  EXPECT_TRUE(IsDeviceName("MIG-GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e"));
  EXPECT_TRUE(IsDeviceName("MIG-GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e/11/0"));
  EXPECT_FALSE(IsDeviceName("GPU-8F6CD1A5-0b43-9c2a-75c0-6b2b4cbb1a0e"))
      << "one device has one spelling";
  for (const char* other : {"",
                            "gpu",
                            "cpu0",
                            "GPU-1",
                            "../../etc/passwd",
                            ".hidden",
                            "a b",
                            "GPU-",
                            "GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0g",
                            "GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e1",
                            "8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e",
                            "GPU-8f6cd1a5/0b43/9c2a/75c0/6b2b4cbb1a0e",
                            "GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e/1/0",
                            "MIG-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e/1/0",
                            "MIG-GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e/1",
                            "MIG-GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e/1/",
                            "MIG-GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e//0",
                            "MIG-GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e/1/0/0",
                            "MIG-GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e/01/0",
                            "MIG-GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e/../x"}) {
    EXPECT_FALSE(IsDeviceName(other)) << other;
  }
}

}  // namespace
}  // namespace blazed::session
