#include "tests/contract/shim/test_daemon.h"

#include <grpc/grpc.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace blazed::contract {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "blazed-XXXXXX";
  path_ = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // the system's cleaner takes what is left
  std::filesystem::remove_all(path_, ignored);
}

// One Attach call. Reads without end; writes one at a time from a queue.
class TestDaemon::Stream final
    : public grpc::ServerBidiReactor<v1::ShimMessage, v1::DaemonMessage> {
 public:
  explicit Stream(TestDaemon* daemon) : daemon_(daemon) { StartRead(&incoming_); }

  void Send(v1::DaemonMessage message) {
    std::lock_guard lock(mutex_);
    message.set_sequence(++sequence_);
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1 && !finished_) StartWrite(&outgoing_.front());
  }
  void End(const grpc::Status& status) {
    std::lock_guard lock(mutex_);
    if (finished_) return;
    finished_ = true;
    Finish(status);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      End(grpc::Status::OK);
      return;
    }
    daemon_->OnReceived(incoming_);
    StartRead(&incoming_);
  }
  void OnWriteDone(bool ok) override {
    std::lock_guard lock(mutex_);
    outgoing_.pop_front();
    if (ok && !outgoing_.empty() && !finished_) StartWrite(&outgoing_.front());
  }
  void OnDone() override {
    {
      std::lock_guard lock(daemon_->mutex_);
      if (daemon_->stream_ == this) daemon_->stream_ = nullptr;
      daemon_->changed_.notify_all();
    }
    delete this;
  }

 private:
  TestDaemon* daemon_;
  v1::ShimMessage incoming_;
  std::mutex mutex_;
  std::deque<v1::DaemonMessage> outgoing_;
  uint64_t sequence_ = 0;
  bool finished_ = false;
};

TestDaemon::TestDaemon(std::string socket, Greeting greeting, std::string token)
    : greeting_(greeting), token_(std::move(token)) {
  // gRPC's library stays up between servers: its own shutdown can take ten seconds.
  static const bool kept = (grpc_init(), true);
  EXPECT_TRUE(kept);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  EXPECT_NE(server_, nullptr);
}

TestDaemon::~TestDaemon() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

grpc::ServerBidiReactor<v1::ShimMessage, v1::DaemonMessage>* TestDaemon::Attach(
    grpc::CallbackServerContext* context) {
  auto* stream = new Stream(this);
  std::lock_guard lock(mutex_);
  for (const auto& [key, value] : context->client_metadata()) {
    metadata_.emplace(std::string(key.data(), key.size()), std::string(value.data(), value.size()));
  }
  stream_ = stream;
  ++streams_;
  changed_.notify_all();
  return stream;
}

grpc::ServerUnaryReactor* TestDaemon::GetReport(grpc::CallbackServerContext* context,
                                                const v1::GetReportRequest* request,
                                                v1::GetReportReply* reply) {
  auto* reactor = context->DefaultReactor();
  if (request->session() != token_) {
    reactor->Finish({grpc::StatusCode::NOT_FOUND, "no such session"});
  } else {
    reply->set_json(report_json);
    reactor->Finish(report_status);
  }
  return reactor;
}

void TestDaemon::OnReceived(const v1::ShimMessage& message) {
  Stream* stream = nullptr;
  {
    std::lock_guard lock(mutex_);
    received_.push_back(message);
    unclaimed_.push_back(message);
    stream = stream_;
    changed_.notify_all();
  }
  if (!message.has_hello() || stream == nullptr) return;
  if (greeting_ == Greeting::kUnavailable) {
    stream->End({grpc::StatusCode::UNAVAILABLE, "starting"});
  } else if (greeting_ == Greeting::kForbidden) {
    stream->End({grpc::StatusCode::PERMISSION_DENIED, "not for this user"});
  } else if (greeting_ == Greeting::kWelcome) {
    v1::DaemonMessage welcome;
    welcome.mutable_welcome()->set_session(token_);
    welcome.mutable_welcome()->set_daemon_epoch(5);
    welcome.mutable_welcome()->set_mode(message.hello().mode());
    stream->Send(welcome);
  }
}

void TestDaemon::Send(const v1::DaemonMessage& message) {
  std::lock_guard lock(mutex_);
  if (stream_ != nullptr) stream_->Send(message);
}

void TestDaemon::Finish(const grpc::Status& status) {
  std::lock_guard lock(mutex_);
  if (stream_ != nullptr) stream_->End(status);
}

v1::ShimMessage TestDaemon::WaitFor(const std::function<bool(const v1::ShimMessage&)>& wanted) {
  std::unique_lock lock(mutex_);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    for (auto it = unclaimed_.begin(); it != unclaimed_.end(); ++it) {
      if (!wanted(*it)) continue;
      v1::ShimMessage message = *it;
      unclaimed_.erase(unclaimed_.begin(), it + 1);
      return message;
    }
    if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) {
      ADD_FAILURE() << "the shim did not send what was waited for";
      return {};
    }
  }
}

v1::ShimMessage TestDaemon::WaitFor(v1::ShimMessage::BodyCase kind) {
  return WaitFor([kind](const v1::ShimMessage& message) { return message.body_case() == kind; });
}

bool TestDaemon::WaitForStreamEnd() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [this] { return streams_ > 0 && stream_ == nullptr; });
}

int TestDaemon::streams() {
  std::lock_guard lock(mutex_);
  return streams_;
}

std::vector<v1::ShimMessage> TestDaemon::Received() {
  std::lock_guard lock(mutex_);
  return received_;
}

std::multimap<std::string, std::string> TestDaemon::Metadata() {
  std::lock_guard lock(mutex_);
  return metadata_;
}

}  // namespace blazed::contract
