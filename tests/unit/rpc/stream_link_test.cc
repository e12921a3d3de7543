// The write side of a stream, over a gRPC stream that does what the test says.
#include "daemon/rpc/stream_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace blazed::rpc {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kMostWaiting = 4;

// Takes writes and never ends one by itself.
class HeldStream final
    : public grpc::ServerCallbackReaderWriter<v1::ShimMessage, v1::DaemonMessage> {
 public:
  explicit HeldStream(AttachReactor* reactor) : reactor_(reactor) { BindReactor(reactor); }

  void Finish(grpc::Status status) override { finished.push_back(std::move(status)); }
  void SendInitialMetadata() override {}
  void Read(v1::ShimMessage*) override { ++reads; }
  void Write(const v1::DaemonMessage* message, grpc::WriteOptions) override {
    in_flight = message;
    written.push_back(message->refused().detail());
  }
  void WriteAndFinish(const v1::DaemonMessage*, grpc::WriteOptions, grpc::Status status) override {
    finished.push_back(std::move(status));
  }

  const v1::DaemonMessage* in_flight = nullptr;
  std::vector<std::string> written;
  std::vector<grpc::Status> finished;
  int reads = 0;

 private:
  grpc::internal::ServerReactor* reactor() override { return reactor_; }
  void CallOnDone() override {}

  AttachReactor* const reactor_;
};

class Reactor final : public AttachReactor {
  void OnDone() override {}
};

class StreamLinkTest : public testing::Test {
 protected:
  void Send(const std::string& text) { link_.Send(session::Refused{1, text}); }
  // As many as the queue holds, the one in flight among them.
  void Fill() {
    for (size_t i = 0; i < kMostWaiting; ++i) Send(absl::StrCat("message ", i));
  }

  Reactor reactor_;
  HeldStream stream_{&reactor_};
  StreamLink link_{&reactor_, kMostWaiting};
};

TEST_F(StreamLinkTest, WritesOneMessageAtATimeAndNumbersThem) {
  Send("a");
  Send("b");
  EXPECT_THAT(stream_.written, ElementsAre("a"));
  EXPECT_EQ(stream_.in_flight->sequence(), 1u);
  link_.Written(true);
  EXPECT_THAT(stream_.written, ElementsAre("a", "b"));
  EXPECT_EQ(stream_.in_flight->sequence(), 2u);
  link_.Written(true);
  EXPECT_THAT(stream_.finished, IsEmpty());
}

TEST_F(StreamLinkTest, AReaderThatKeepsUpIsNeverCut) {
  for (int i = 0; i < 100; ++i) {
    Fill();
    for (size_t read = 0; read < kMostWaiting; ++read) link_.Written(true);
  }
  EXPECT_EQ(stream_.written.size(), 100 * kMostWaiting);
  EXPECT_THAT(stream_.finished, IsEmpty());
}

TEST_F(StreamLinkTest, AClientThatNeverReadsIsCutWhenItsQueueIsFull) {
  Fill();
  EXPECT_THAT(stream_.finished, IsEmpty());
  Send("one too many");
  ASSERT_EQ(stream_.finished.size(), 1u);
  EXPECT_EQ(stream_.finished[0].error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(stream_.finished[0].error_message(),
            "4 messages wait to be read; read the stream and attach again");
  EXPECT_EQ(stream_.in_flight->refused().detail(), "message 0") << "gRPC still reads it";
}

TEST_F(StreamLinkTest, NothingIsWrittenOrReadAfterTheCut) {
  Fill();
  Send("one too many");
  Send("another");
  link_.End(absl::OkStatus());
  v1::ShimMessage into;
  link_.Read(&into);
  link_.Written(false);  // the write in flight ends with the stream
  EXPECT_THAT(stream_.written, ElementsAre("message 0"));
  EXPECT_EQ(stream_.finished.size(), 1u);
  EXPECT_EQ(stream_.reads, 0);
}

TEST_F(StreamLinkTest, AnEndWaitsForWhatIsQueued) {
  Send("a");
  Send("b");
  link_.End(absl::UnavailableError("the daemon is stopping; attach again"));
  Send("too late");
  EXPECT_THAT(stream_.finished, IsEmpty());
  link_.Written(true);
  EXPECT_THAT(stream_.finished, IsEmpty());
  link_.Written(true);
  EXPECT_THAT(stream_.written, ElementsAre("a", "b"));
  ASSERT_EQ(stream_.finished.size(), 1u);
  EXPECT_EQ(stream_.finished[0].error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(StreamLinkTest, AFailedWriteEndsTheStreamAndDropsTheRest) {
  Fill();
  link_.Written(false);
  EXPECT_THAT(stream_.written, ElementsAre("message 0"));
  EXPECT_EQ(stream_.finished.size(), 1u);
}

TEST_F(StreamLinkTest, NothingTouchesAStreamThatIsGone) {
  Send("a");
  link_.Gone();
  link_.Written(true);
  Send("b");
  link_.End(absl::OkStatus());
  v1::ShimMessage into;
  link_.Read(&into);
  EXPECT_THAT(stream_.written, ElementsAre("a"));
  EXPECT_THAT(stream_.finished, IsEmpty());
  EXPECT_EQ(stream_.reads, 0);
}

}  // namespace
}  // namespace blazed::rpc
