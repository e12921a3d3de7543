// An answer for calls whose request is no message of its type. gRPC ends them as UNIMPLEMENTED
// without a word, before any handler of ours runs.
#pragma once

#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <vector>

namespace blazed::rpc {

// INVALID_ARGUMENT with a sentence instead. For calls with one request; a stream says it itself
// (attach_stream.h). For ServerBuilder, which owns what it takes.
std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
InterceptMalformedCalls();

}  // namespace blazed::rpc
