// The write side of one Attach stream: a bounded queue, one write in flight, one end.
//
// The reactor owns the stream and dies with it; a session may hold its link longer. So the link
// keeps the reactor only until the stream is done, under its lock. gRPC runs no reaction inside the
// calls made here.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "blazed/v1/tuner.pb.h"
#include "daemon/session/link.h"

namespace blazed::rpc {

using AttachReactor = grpc::ServerBidiReactor<v1::ShimMessage, v1::DaemonMessage>;

class StreamLink final : public session::Link {
 public:
  StreamLink(AttachReactor* reactor, size_t most_waiting)
      : most_waiting_(most_waiting), reactor_(reactor) {}

  void Send(const session::Outbound& message) override ABSL_LOCKS_EXCLUDED(mutex_);
  void End(absl::Status status) override ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- from the reactor ----
  // The number that `into` keeps where nothing was read into it: then the client is done writing.
  // Where bytes came that are no message, parsing has cleared it before it failed.
  static constexpr uint64_t kNothingRead = UINT64_MAX;
  void Read(v1::ShimMessage* into) ABSL_LOCKS_EXCLUDED(mutex_);
  void Written(bool ok) ABSL_LOCKS_EXCLUDED(mutex_);
  void Gone() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t most_waiting_;
  absl::Mutex mutex_;
  AttachReactor* reactor_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::DaemonMessage> queue_
      ABSL_GUARDED_BY(mutex_);  // the front is in flight while writing_
  uint64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace blazed::rpc
