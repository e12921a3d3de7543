#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "blazed/v1/tuner.grpc.pb.h"

namespace blazed::trainer {

// A daemon that follows a test's script in place of a planner: for every message of the shim the
// script says what to send. Speaks through grpc++ on a socket of its own.
class ScriptedDaemon : public v1::Tuner::Service {
 public:
  using Send = std::function<void(v1::DaemonMessage)>;
  using Script = std::function<void(const v1::ShimMessage& message, const Send& send)>;

  // Listens at `socket`. The script runs on gRPC's thread, one message at a time.
  ScriptedDaemon(const std::string& socket, Script script);
  ~ScriptedDaemon() override;

  grpc::Status Attach(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::DaemonMessage, v1::ShimMessage>* stream) override;

  // Everything the shim said so far.
  std::vector<v1::ShimMessage> Heard();
  // Blocks until the shim has said something for which `wanted` holds, at most a minute.
  bool WaitUntilHeard(const std::function<bool(const v1::ShimMessage&)>& wanted);

 private:
  const Script script_;
  std::mutex mutex_;
  std::condition_variable heard_more_;
  std::vector<v1::ShimMessage> heard_;  // guarded by mutex_
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace blazed::trainer
