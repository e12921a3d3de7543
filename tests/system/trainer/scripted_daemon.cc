#include "tests/system/trainer/scripted_daemon.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace blazed::trainer {

ScriptedDaemon::ScriptedDaemon(const std::string& socket, Script script)
    : script_(std::move(script)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

ScriptedDaemon::~ScriptedDaemon() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
}

grpc::Status ScriptedDaemon::Attach(
    grpc::ServerContext*, grpc::ServerReaderWriter<v1::DaemonMessage, v1::ShimMessage>* stream) {
  uint64_t sequence = 0;
  const Send send = [&](v1::DaemonMessage message) {
    message.set_sequence(++sequence);
    stream->Write(message);
  };
  for (v1::ShimMessage message; stream->Read(&message);) {
    if (message.has_hello()) {
      v1::DaemonMessage welcome;
      welcome.mutable_welcome()->set_session(std::string(16, 's'));
      welcome.mutable_welcome()->set_daemon_epoch(1);
      welcome.mutable_welcome()->set_daemon_version("scripted");
      welcome.mutable_welcome()->set_mode(message.hello().mode());
      welcome.mutable_welcome()->set_probe_batches(1);
      send(welcome);
    }
    script_(message, send);
    const std::lock_guard<std::mutex> lock(mutex_);
    heard_.push_back(message);
    heard_more_.notify_all();
  }
  return grpc::Status::OK;
}

std::vector<v1::ShimMessage> ScriptedDaemon::Heard() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return heard_;
}

bool ScriptedDaemon::WaitUntilHeard(const std::function<bool(const v1::ShimMessage&)>& wanted) {
  std::unique_lock<std::mutex> lock(mutex_);
  return heard_more_.wait_for(lock, std::chrono::minutes(1),
                              [&] { return std::any_of(heard_.begin(), heard_.end(), wanted); });
}

}  // namespace blazed::trainer
