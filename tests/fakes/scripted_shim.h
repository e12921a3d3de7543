// A shim that speaks the protocol through grpc++ and plays a SyntheticHost: it answers builds,
// probes and leases at once, with durations from the host's table. For whole tunings over a real
// daemon, fast, and for sending anything that a real shim would not.
//
// Not thread-safe. Every call has a deadline of four minutes; passing it fails the call.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "blazed/v1/tuner.grpc.pb.h"
#include "tests/fakes/synthetic_host.h"

namespace blazed::fakes {

// A channel to a daemon's socket that is of its own connection.
std::shared_ptr<grpc::Channel> DialDaemon(const std::string& socket);

// Adds what every call must carry, and the deadline.
void Prepare(grpc::ClientContext* context);

// What happened to the job so far.
struct ScriptedResult {
  std::string welcome_session;
  uint64_t epoch = 0;
  v1::Mode mode = v1::MODE_UNSPECIFIED;
  std::string mode_reason;
  uint64_t builds = 0, probes = 0, leases = 0;
  uint64_t pairs = 0;  // champion and challenger differ
  uint64_t noise_pairs = 0;
  std::optional<v1::Adopt> settled;  // the Adopt that ended exploring
  std::optional<v1::Adopt> adopted;  // the latest
  std::optional<v1::Stand> stand;
  std::optional<v1::Progress> progress;  // the latest
  uint64_t refused = 0;
  std::string refused_detail;
};

class ScriptedShim {
 public:
  ScriptedShim(std::string socket, SyntheticHost host, uint64_t seed);
  ~ScriptedShim();

  // What Hello says; change before Attach.
  v1::Hello& hello() { return hello_; }
  // Whether Attach waits for a daemon that is not there; change before Attach.
  bool wait_for_daemon = true;

  // Opens the stream, says Hello and waits for Welcome. The stream's status where there is none.
  grpc::Status Attach();
  // Says the graph and the workload.
  bool Describe();
  // Reads and answers until `done` of the result is true (true) or the stream ends (false).
  bool PlayUntil(const std::function<bool(const ScriptedResult&)>& done);
  // Attach, Describe, play until a settlement is in use.
  bool RunJob();
  void Bye();

  // Anything at all, with the next number of the stream or one of the caller's.
  bool Send(v1::ShimMessage message);
  bool SendNumbered(const v1::ShimMessage& message);
  // The next message that is no Progress, unanswered.
  std::optional<v1::DaemonMessage> Read();
  // Ends writing and brings the stream's status; that of the last one where none is open.
  grpc::Status Finish();
  // Waits, still attached, until the daemon ends the stream.
  grpc::Status AwaitEnd();
  // Drops the stream without a word, as a lost connection does.
  void Drop();

  // The session's report as JSON text.
  grpc::Status GetReport(std::string* json);

  const ScriptedResult& result() const { return result_; }

  // Called before each answer; false keeps the answer back.
  std::function<bool(const v1::DaemonMessage&)> before_answer;

 private:
  void Take(const v1::DaemonMessage& message);
  void Answer(const v1::Build& build);
  void Answer(const v1::Probe& probe);
  void Answer(const v1::RunPairs& lease);
  void Answer(const v1::Adopt& adopt);
  uint64_t UnitNs(uint32_t variant, uint32_t steps);

  const std::string socket_;
  const SyntheticHost host_;
  std::mt19937_64 random_;
  v1::Hello hello_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Tuner::Stub> stub_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ShimMessage, v1::DaemonMessage>> stream_;
  grpc::Status ended_{grpc::StatusCode::CANCELLED, "no stream"};  // how the last stream ended
  uint64_t sequence_ = 0;
  uint64_t step_ = 0;
  std::map<uint32_t, ProtoPlan> variants_;
  ScriptedResult result_;
};

}  // namespace blazed::fakes
