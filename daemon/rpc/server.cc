#include "daemon/rpc/server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_posix.h>

#include <chrono>
#include <utility>

#include "daemon/rpc/malformed_calls.h"

namespace blazed::rpc {
namespace {

constexpr int kStreamsPerConnection = 32;
constexpr int kMetadataBytes = 8 << 10;
// A report grows with the search it tells of; this is what a shim takes.
constexpr int kReplyBytes = 16 << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const std::vector<grpc::Service*>& services,
                                                      const Options& options) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  // What a client sends wrong is answered by name; protobuf would write lines of its own to stderr.
  google::protobuf::SetLogHandler(nullptr);
  grpc::ServerBuilder builder;
  builder.experimental().SetInterceptorCreators(InterceptMalformedCalls());
  for (grpc::Service* service : services) builder.RegisterService(service);
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.message_bytes));
  builder.SetMaxSendMessageSize(kReplyBytes);
  grpc::ResourceQuota quota("blazed");
  quota.Resize(static_cast<size_t>(options.memory_mib) << 20);
  builder.SetResourceQuota(quota);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             static_cast<int>(absl::ToInt64Milliseconds(options.idle_connection)));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytes);
  // gRPC means to close a connection of many pings when what it writes is written, which with a
  // reader that does not read is never, and keeps kilobytes for each ping until then. A ping that
  // is only answered costs eight bytes; ReaderWatch ends what grows.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  // Reflection is the only service of the synchronous kind.
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 1);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return absl::InternalError("gRPC did not start; see its log lines above");
  return std::unique_ptr<Server>(new Server(std::move(server)));
}

void Server::Serve(int descriptor) { grpc::AddInsecureChannelFromFd(server_.get(), descriptor); }

void Server::SetServing(const std::string& name, Serving serving) {
  if (auto* health = server_->GetHealthCheckService()) {
    health->SetServingStatus(name, serving == Serving::kYes);
  }
}

void Server::SetAllNotServing() {
  if (auto* health = server_->GetHealthCheckService()) health->SetServingStatus(false);
}

void Server::Shutdown(absl::Duration patience) {
  server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(patience));
  server_->Wait();
}

}  // namespace blazed::rpc
