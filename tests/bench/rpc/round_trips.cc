#include "tests/bench/rpc/round_trips.h"

#include <grpcpp/grpcpp.h>

#include "blazed/v1/history.grpc.pb.h"
#include "blazed/v1/tuner.grpc.pb.h"
#include "echo.grpc.pb.h"
#include "tests/bench/support/child_process.h"

namespace blazed::bench {
namespace {

constexpr size_t kPayload = 32;  // about what a directive's answer takes

std::shared_ptr<grpc::Channel> OwnChannel(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // else all clients share one connection
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

class EchoUnaryTrip final : public RoundTrip {
 public:
  explicit EchoUnaryTrip(const std::string& socket) : stub_(OwnChannel(socket)) {
    request_.set_payload(std::string(kPayload, 'x'));
  }
  bool Once() override {
    grpc::ClientContext context;
    context.AddMetadata("blazed-protocol", "1");
    return stub_.Once(&context, request_, &reply_).ok() && reply_.payload().size() == kPayload;
  }

 private:
  Echo::Stub stub_;
  Message request_, reply_;
};

class EchoStreamTrip final : public RoundTrip {
 public:
  explicit EchoStreamTrip(const std::string& socket)
      : stub_(OwnChannel(socket)), stream_(stub_.Stream(&context_)) {
    request_.set_payload(std::string(kPayload, 'x'));
  }
  ~EchoStreamTrip() override {
    stream_->WritesDone();
    stream_->Finish();
  }
  bool Once() override { return stream_->Write(request_) && stream_->Read(&reply_); }

 private:
  grpc::ClientContext context_;
  Echo::Stub stub_;
  std::unique_ptr<grpc::ClientReaderWriter<Message, Message>> stream_;
  Message request_, reply_;
};

class DaemonUnaryTrip final : public RoundTrip {
 public:
  explicit DaemonUnaryTrip(const std::string& socket) : stub_(OwnChannel(socket)) {}
  bool Once() override {
    grpc::ClientContext context;
    context.AddMetadata("blazed-protocol", "1");
    v1::GetStatusReply reply;
    return stub_.GetStatus(&context, {}, &reply).ok() && reply.store_state() == "ok";
  }

 private:
  v1::History::Stub stub_;
};

class DaemonStreamTrip final : public RoundTrip {
 public:
  explicit DaemonStreamTrip(const std::string& socket) : stub_(OwnChannel(socket)) {
    context_.AddMetadata("blazed-protocol", "1");
    stream_ = stub_.Attach(&context_);
    v1::ShimMessage message;
    message.set_sequence(++sequence_);
    auto* hello = message.mutable_hello();
    hello->set_mode(v1::MODE_OBSERVE);
    hello->set_world_size(1);
    hello->set_host_name("rpc_bench");
    hello->set_shim_version("0.1.0");
    hello->set_device("cpu");
    if (!stream_->Write(message) || !stream_->Read(&reply_) || !reply_.has_welcome()) {
      Fail("attach: " + stream_->Finish().error_message());
    }
  }
  ~DaemonStreamTrip() override {
    stream_->WritesDone();
    context_.TryCancel();
    stream_->Finish();
  }
  bool Once() override {
    v1::ShimMessage message;
    message.set_sequence(++sequence_);
    message.mutable_adopted()->set_adopt_id(1);
    return stream_->Write(message) && stream_->Read(&reply_) && reply_.has_refused();
  }

 private:
  grpc::ClientContext context_;
  v1::Tuner::Stub stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ShimMessage, v1::DaemonMessage>> stream_;
  v1::DaemonMessage reply_;
  uint64_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<RoundTrip> EchoUnary(const std::string& socket) {
  return std::make_unique<EchoUnaryTrip>(socket);
}
std::unique_ptr<RoundTrip> EchoStream(const std::string& socket) {
  return std::make_unique<EchoStreamTrip>(socket);
}
std::unique_ptr<RoundTrip> DaemonUnary(const std::string& socket) {
  return std::make_unique<DaemonUnaryTrip>(socket);
}
std::unique_ptr<RoundTrip> DaemonStream(const std::string& socket) {
  return std::make_unique<DaemonStreamTrip>(socket);
}

}  // namespace blazed::bench
