// What one user may take of the machine: devices, sessions, rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/session/session_table_fixture.h"

namespace blazed::session {
namespace {

using testing::HasSubstr;

constexpr char kGpu[] = "GPU-8f6cd1a5-0b43-9c2a-75c0-6b2b4cbb1a0e";

class LimitsTest : public SessionTableTest {
 protected:
  Client OpenOn(const std::string& device, planner::Mode mode) {
    Client client = Connect(Me());
    Hello hello = TuneHello();
    hello.device = device;
    hello.mode = mode;
    EXPECT_TRUE(Say(client, hello).ok());
    return client;
  }
  bool NoLocks() const { return std::filesystem::is_empty(folder_); }

  Peer Other() {
    Peer peer = Me("boot/9/9");
    peer.uid = 1001;
    peer.principal = "uid:1001";
    return peer;
  }
};

TEST_F(LimitsTest, WhoOnlyObservesTakesNoDevice) {
  OpenOn(kGpu, planner::Mode::kObserve);
  EXPECT_TRUE(NoLocks());
  Client several = Connect(Me());
  Hello hello = TuneHello();
  hello.world_size = 2;
  EXPECT_TRUE(Say(several, hello).ok());
  EXPECT_EQ(several.link->Last<session::Welcome>()->mode, planner::Mode::kObserve);
  EXPECT_TRUE(NoLocks());
}

TEST_F(LimitsTest, ADeviceIsGivenBackWithTheLastSessionThatMayChangeIt) {
  DeviceLocks elsewhere(folder_, folder_);
  Client first = OpenOn(kGpu, planner::Mode::kTune), second = OpenOn(kGpu, planner::Mode::kPinned);
  EXPECT_FALSE(elsewhere.Own(kGpu, 1).ok());
  EXPECT_TRUE(Say(first, Bye{}).ok());
  EXPECT_FALSE(elsewhere.Own(kGpu, 1).ok());
  table_->Detach(second.link, "lost");
  loop_.Advance(absl::Seconds(60));
  EXPECT_TRUE(NoLocks());
  EXPECT_TRUE(elsewhere.Own(kGpu, 1).ok());
}

TEST_F(LimitsTest, APauseGivesTheDeviceBack) {
  OpenOn(kGpu, planner::Mode::kTune);
  EXPECT_FALSE(NoLocks());
  options_.pause = Pause::kOn;
  table_->Reload(options_);
  EXPECT_TRUE(NoLocks());
}

TEST_F(LimitsTest, AFloodOfHellosWaits) {
  options_.attaches_per_minute = 2;
  table_->Reload(options_);
  for (int i = 0; i < 2; ++i) {
    Client client = Open(Me());
    EXPECT_TRUE(Say(client, Bye{}).ok());
  }
  Client third = Connect(Me());
  const absl::Status refused = Say(third, TuneHello());
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("limits.attaches_per_minute"));
  Client other = Connect(Other());
  EXPECT_TRUE(Say(other, TuneHello()).ok()) << "another user's limit is another one";
  loop_.Advance(absl::Seconds(31));
  Client fourth = Connect(Me());
  EXPECT_TRUE(Say(fourth, TuneHello()).ok());
}

TEST_F(LimitsTest, AResumeIsNoFurtherAttach) {
  options_.attaches_per_minute = 1;
  table_->Reload(options_);
  Client client = Open(Me());
  const SessionToken token = client.link->Last<session::Welcome>()->token;
  for (int i = 0; i < 5; ++i) {
    table_->Detach(client.link, "lost");
    client = Resume(token);
    EXPECT_NE(client.link->Last<session::Welcome>(), nullptr);
  }
}

TEST_F(LimitsTest, WindowsAboveTheRateAreLeftOut) {
  options_.windows_per_second = 3;
  table_->Reload(options_);
  Client flood = Described(Me(), 1), other = Described(Other(), 2);
  const planner::ServiceWindow window{0, 0, 1, 16, 16'000'000};
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Say(flood, window).ok());
  EXPECT_EQ(Events("service_window"), 3u);
  EXPECT_EQ(flood.link->Count<Refused>(), 0u);
  EXPECT_TRUE(Say(other, window).ok());
  EXPECT_EQ(Events("service_window"), 4u);
  loop_.Advance(absl::Seconds(1));
  EXPECT_TRUE(Say(flood, window).ok());
  EXPECT_EQ(Events("service_window"), 5u);
}

TEST_F(LimitsTest, OneWorkloadTooManyIsRefusedAndThoseKnownAreTaken) {
  options_.workloads_per_user = 2;
  table_->Reload(options_);
  for (uint8_t known : {1, 2, 1}) {
    Client client = Described(Me(), known);
    EXPECT_EQ(client.link->Count<Refused>(), 0u);
    EXPECT_TRUE(Say(client, Bye{}).ok());
  }
  Client client = Described(Me(), 3);
  ASSERT_NE(client.link->Last<Refused>(), nullptr);
  EXPECT_THAT(client.link->Last<Refused>()->detail, HasSubstr("limits.workloads_per_user"));
  EXPECT_FALSE(client.link->end.has_value()) << "the job trains on";
  EXPECT_EQ(client.link->Last<planner::RunPairs>(), nullptr);
  storage::Page page;
  EXPECT_EQ(writer_->NewReader()->Workloads(page)->size(), 2u) << "nothing of it is kept";
  EXPECT_TRUE(Say(client, Workload(2, 2)).ok()) << "one that the store has may come instead";
  EXPECT_TRUE(loop_.RunUntil([&] { return client.link->Last<planner::RunPairs>() != nullptr; }));
  Client other = Described(Other(), 3);
  EXPECT_EQ(other.link->Count<Refused>(), 0u);
}

}  // namespace
}  // namespace blazed::session
