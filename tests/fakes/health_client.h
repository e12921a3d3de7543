// Asks grpc.health.v1.Health; Debian ships no generated code for it, so the two small messages are
// written by hand.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/impl/codegen/sync_stream.h>

#include <memory>
#include <string>
#include <vector>

namespace blazed::fakes {

enum class Health { kNoAnswer = -1, kUnknown = 0, kServing = 1, kNotServing = 2 };

// HealthCheckRequest{1: service}
inline grpc::ByteBuffer HealthRequest(const std::string& service) {
  std::string bytes;
  if (!service.empty()) {
    bytes = "\x0a";
    bytes.push_back(static_cast<char>(service.size()));
    bytes += service;
  }
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

// HealthCheckResponse{1: status}
inline Health HealthOf(const grpc::ByteBuffer& reply) {
  std::vector<grpc::Slice> slices;
  if (!reply.Dump(&slices).ok()) return Health::kNoAnswer;
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes.size() == 2 && bytes[0] == 0x08 ? static_cast<Health>(bytes[1]) : Health::kUnknown;
}

inline Health CheckHealth(const std::shared_ptr<grpc::Channel>& channel,
                          const std::string& service) {
  grpc::ClientContext context;
  const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                         grpc::internal::RpcMethod::NORMAL_RPC);
  grpc::ByteBuffer reply;
  const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
      channel.get(), method, &context, HealthRequest(service), &reply);
  return status.ok() ? HealthOf(reply) : Health::kNoAnswer;
}

class HealthWatch {
 public:
  HealthWatch(std::shared_ptr<grpc::Channel> channel, const std::string& service)
      : channel_(std::move(channel)),
        reader_(grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(
            channel_.get(),
            grpc::internal::RpcMethod("/grpc.health.v1.Health/Watch",
                                      grpc::internal::RpcMethod::SERVER_STREAMING),
            &context_, HealthRequest(service))) {}
  ~HealthWatch() {
    context_.TryCancel();
    reader_->Finish();
  }
  // Waits for the next word; kNoAnswer at the end of the stream.
  Health Next() {
    grpc::ByteBuffer reply;
    return reader_->Read(&reply) ? HealthOf(reply) : Health::kNoAnswer;
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>> reader_;
};

}  // namespace blazed::fakes
