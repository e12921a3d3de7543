#include "daemon/rpc/stream_link.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/rpc/convert.h"
#include "daemon/rpc/status_map.h"

namespace blazed::rpc {

void StreamLink::Send(const session::Outbound& message) {
  absl::MutexLock lock(&mutex_);
  if (reactor_ == nullptr || ending_) return;
  if (queue_.size() >= most_waiting_) {
    ending_ = true;
    end_ = absl::ResourceExhaustedError(
        absl::StrCat(queue_.size(), " messages wait to be read; read the stream and attach again"));
    // The write in flight waits for the reader. The status is queued behind it, the rest is not
    // sent.
    Finish();
    return;
  }
  queue_.push_back(ToProto(message, ++sequence_));
  if (!writing_) WriteNext();
}

void StreamLink::End(absl::Status status) {
  absl::MutexLock lock(&mutex_);
  if (reactor_ == nullptr || ending_) return;
  ending_ = true;
  end_ = std::move(status);
  if (!writing_) Finish();
}

void StreamLink::Read(v1::ShimMessage* into) {
  absl::MutexLock lock(&mutex_);
  if (reactor_ == nullptr || finished_) return;
  into->set_sequence(kNothingRead);
  reactor_->StartRead(into);
}

void StreamLink::Written(bool ok) {
  absl::MutexLock lock(&mutex_);
  writing_ = false;
  if (!queue_.empty()) queue_.pop_front();
  if (finished_ || reactor_ == nullptr) return;
  if (!ok) {
    ending_ = true;
    queue_.clear();
  }
  if (!queue_.empty()) {
    WriteNext();
  } else if (ending_) {
    Finish();
  }
}

void StreamLink::Gone() {
  absl::MutexLock lock(&mutex_);
  reactor_ = nullptr;
  queue_.clear();
}

void StreamLink::WriteNext() {
  writing_ = true;
  reactor_->StartWrite(&queue_.front());
}

void StreamLink::Finish() {
  if (finished_) return;
  finished_ = true;
  reactor_->Finish(ToGrpc(end_));
}

}  // namespace blazed::rpc
