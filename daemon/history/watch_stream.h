// One client following events. Reads the store on the query threads, writes one message at a time,
// and reads again only when everything read is written: a slow client costs one page of memory.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "blazed/v1/history.pb.h"
#include "daemon/history/work_queue.h"
#include "daemon/rpc/caller.h"
#include "storage/store.h"

namespace blazed::history {

class WatchStream final : public grpc::ServerWriteReactor<v1::WatchEvent>,
                          public std::enable_shared_from_this<WatchStream> {
 public:
  // `reader` and `queue` outlive the stream. `gone` runs once, when gRPC is done with it.
  WatchStream(storage::Reader& reader, WorkQueue& queue, rpc::Caller caller,
              v1::WatchRequest request, std::function<void(WatchStream*)> gone);

  uint32_t uid() const { return caller_.uid; }

  // Events may be waiting. Cheap, any thread.
  void Poke() ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the call once no write is under way. Any thread; the first status counts.
  void End(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  void OnSendInitialMetadataDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override;
  void OnDone() override;

 private:
  // What the state asks for; done after the lock is released, because gRPC may call back from
  // within.
  struct Next {
    enum class Kind { kNothing, kRead, kGreet, kWrite, kFinish } kind = Kind::kNothing;
    const v1::WatchEvent* event = nullptr;
  };
  Next Decide() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Do(const Next& next) ABSL_LOCKS_EXCLUDED(mutex_);
  void Written(bool ok) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Read() ABSL_LOCKS_EXCLUDED(mutex_);
  // On a query thread. Appends what is stored after `after_`.
  absl::Status Fetch(std::deque<v1::WatchEvent>& events);
  absl::Status FindStart();

  storage::Reader& reader_;
  WorkQueue& queue_;
  const rpc::Caller caller_;
  const v1::WatchRequest request_;
  const std::function<void(WatchStream*)> gone_;

  // The one read under way; nobody else touches these.
  bool started_ = false;
  int64_t after_ = 0;
  std::string workload_;

  absl::Mutex mutex_;
  std::deque<v1::WatchEvent> buffer_ ABSL_GUARDED_BY(mutex_);
  bool wanted_ ABSL_GUARDED_BY(mutex_) = true;    // something may be stored that was not read
  bool placed_ ABSL_GUARDED_BY(mutex_) = false;   // the place to follow from is known
  bool greeted_ ABSL_GUARDED_BY(mutex_) = false;  // the client was told so, by the initial metadata
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;  // a write or the greeting is under way
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace blazed::history
