#include "daemon/rpc/malformed_calls.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace blazed::rpc {
namespace {

namespace experimental = grpc::experimental;

class NameTheFault final : public experimental::Interceptor {
 public:
  explicit NameTheFault(std::string method) : method_(std::move(method)) {}

  // No handler of ours ends a call as UNIMPLEMENTED, and a method that does not exist has no
  // interceptor of this kind.
  void Intercept(experimental::InterceptorBatchMethods* methods) override {
    using Point = experimental::InterceptionHookPoints;
    if (methods->QueryInterceptionHookPoint(Point::PRE_SEND_STATUS)) {
      const grpc::Status status = methods->GetSendStatus();
      if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED &&
          status.error_message().empty()) {
        methods->ModifySendStatus(
            grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                         absl::StrCat("the request of ", method_,
                                      " is no message of its type; send it as its .proto says")));
      }
    }
    methods->Proceed();
  }

 private:
  const std::string method_;
};

class Factory final : public experimental::ServerInterceptorFactoryInterface {
 public:
  experimental::Interceptor* CreateServerInterceptor(experimental::ServerRpcInfo* info) override {
    using Type = experimental::ServerRpcInfo::Type;
    if (info->type() != Type::UNARY && info->type() != Type::SERVER_STREAMING) return nullptr;
    return new NameTheFault(info->method());  // gRPC owns it
  }
};

}  // namespace

std::vector<std::unique_ptr<experimental::ServerInterceptorFactoryInterface>>
InterceptMalformedCalls() {
  std::vector<std::unique_ptr<experimental::ServerInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<Factory>());
  return factories;
}

}  // namespace blazed::rpc
