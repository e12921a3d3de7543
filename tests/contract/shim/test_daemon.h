// A real grpc++ callback server that speaks Tuner as the test says. What it receives is kept; what
// it sends is ordered by the test.
#pragma once

#include <blazed/v1/tuner.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace blazed::contract {

// A private folder for one test's socket, gone with it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  std::string Socket() const { return path_ + "/blazed.sock"; }

 private:
  std::string path_;
};

class TestDaemon final : public v1::Tuner::CallbackService {
 public:
  enum class Greeting {
    kWelcome,
    kSilent,       // takes the stream and says nothing
    kUnavailable,  // ends the stream with a status
    kForbidden,
  };

  explicit TestDaemon(std::string socket, Greeting greeting = Greeting::kWelcome,
                      std::string token = std::string(16, 't'));
  ~TestDaemon() override;

  void Send(const v1::DaemonMessage& message);
  // Ends the open stream with this status.
  void Finish(const grpc::Status& status);

  // Waits for a message that `wanted` accepts, among all received and not yet returned by WaitFor.
  // Fails the test after ten seconds.
  v1::ShimMessage WaitFor(const std::function<bool(const v1::ShimMessage&)>& wanted);
  v1::ShimMessage WaitFor(v1::ShimMessage::BodyCase kind);
  bool WaitForStreamEnd();
  int streams();
  std::vector<v1::ShimMessage> Received();
  std::multimap<std::string, std::string> Metadata();

  std::string report_json = "{}";
  grpc::Status report_status;

 private:
  class Stream;
  grpc::ServerBidiReactor<v1::ShimMessage, v1::DaemonMessage>* Attach(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* GetReport(grpc::CallbackServerContext* context,
                                      const v1::GetReportRequest* request,
                                      v1::GetReportReply* reply) override;
  void OnReceived(const v1::ShimMessage& message);

  const Greeting greeting_;
  const std::string token_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<v1::ShimMessage> received_;
  std::deque<v1::ShimMessage> unclaimed_;
  std::multimap<std::string, std::string> metadata_;
  Stream* stream_ = nullptr;
  int streams_ = 0;
};

}  // namespace blazed::contract
