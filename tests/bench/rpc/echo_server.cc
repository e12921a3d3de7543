#include "tests/bench/rpc/echo_server.h"

#include <grpcpp/grpcpp.h>

#include <memory>

#include "echo.grpc.pb.h"

namespace blazed::bench {
namespace {

class StreamReactor final : public grpc::ServerBidiReactor<Message, Message> {
 public:
  StreamReactor() { StartRead(&message_); }
  void OnReadDone(bool ok) override {
    if (ok) {
      StartWrite(&message_);
    } else {
      Finish(grpc::Status::OK);
    }
  }
  void OnWriteDone(bool ok) override {
    if (ok) StartRead(&message_);
  }
  void OnDone() override { delete this; }

 private:
  Message message_;
};

class EchoService final : public Echo::CallbackService {
 public:
  grpc::ServerUnaryReactor* Once(grpc::CallbackServerContext* context, const Message* request,
                                 Message* reply) override {
    *reply = *request;
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  grpc::ServerBidiReactor<Message, Message>* Stream(grpc::CallbackServerContext*) override {
    return new StreamReactor;
  }
};

}  // namespace

int ServeEcho(const std::string& socket) {
  EchoService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  server->Wait();
  return 1;
}

}  // namespace blazed::bench
