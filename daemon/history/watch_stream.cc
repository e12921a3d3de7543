#include "daemon/history/watch_stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/history/convert.h"
#include "daemon/history/query.h"
#include "daemon/rpc/status_map.h"

namespace blazed::history {
namespace {

constexpr uint32_t kEventsARead = 256;

}  // namespace

WatchStream::WatchStream(storage::Reader& reader, WorkQueue& queue, rpc::Caller caller,
                         v1::WatchRequest request, std::function<void(WatchStream*)> gone)
    : reader_(reader),
      queue_(queue),
      caller_(std::move(caller)),
      request_(std::move(request)),
      gone_(std::move(gone)) {}

WatchStream::Next WatchStream::Decide() {
  if (finished_ || writing_) return {};
  if (ending_) {
    finished_ = true;
    return {Next::Kind::kFinish, nullptr};
  }
  if (placed_ && !greeted_) {
    greeted_ = writing_ = true;
    return {Next::Kind::kGreet, nullptr};
  }
  if (!buffer_.empty()) {
    writing_ = true;
    return {Next::Kind::kWrite, &buffer_.front()};
  }
  if (!wanted_ || reading_) return {};
  wanted_ = false;
  reading_ = true;
  return {Next::Kind::kRead, nullptr};
}

void WatchStream::Do(const Next& next) {
  switch (next.kind) {
    case Next::Kind::kNothing:
      break;
    case Next::Kind::kRead:
      queue_.AddAlways([self = shared_from_this()] { self->Read(); });
      break;
    case Next::Kind::kGreet:
      StartSendInitialMetadata();
      break;
    case Next::Kind::kWrite:
      StartWrite(next.event);
      break;
    case Next::Kind::kFinish: {
      absl::Status status;
      {
        absl::MutexLock lock(&mutex_);
        status = end_;
      }
      Finish(rpc::ToGrpc(status));
      break;
    }
  }
}

void WatchStream::Poke() {
  Next next;
  {
    absl::MutexLock lock(&mutex_);
    wanted_ = true;
    next = Decide();
  }
  Do(next);
}

void WatchStream::End(const absl::Status& status) {
  Next next;
  {
    absl::MutexLock lock(&mutex_);
    if (!ending_) end_ = status;
    ending_ = true;
    next = Decide();
  }
  Do(next);
}

void WatchStream::Written(bool ok) {
  writing_ = false;
  if (ok || ending_) return;
  ending_ = true;
  end_ = absl::CancelledError("the watcher is gone");
}

void WatchStream::OnSendInitialMetadataDone(bool ok) {
  Next next;
  {
    absl::MutexLock lock(&mutex_);
    Written(ok);
    next = Decide();
  }
  Do(next);
}

void WatchStream::OnWriteDone(bool ok) {
  Next next;
  {
    absl::MutexLock lock(&mutex_);
    buffer_.pop_front();
    Written(ok);
    next = Decide();
  }
  Do(next);
}

void WatchStream::OnCancel() { End(absl::CancelledError("the watcher went away")); }

void WatchStream::OnDone() {
  // Drops what is often the last reference, and with it this object: the function is run from a
  // copy.
  const std::function<void(WatchStream*)> gone = gone_;
  gone(this);
}

absl::Status WatchStream::FindStart() {
  absl::StatusOr<std::string> workload = ResolveWorkload(reader_, caller_, request_.workload());
  if (!workload.ok()) return workload.status();
  workload_ = *std::move(workload);
  absl::StatusOr<int64_t> last = reader_.LastEventId();
  if (!last.ok()) return last.status();
  if (request_.after() > static_cast<uint64_t>(*last)) {
    return absl::OutOfRangeError(
        absl::StrCat("event ", request_.after(), " is not stored, the last one is ", *last,
                     ": watch from there, the store may be a restored one"));
  }
  after_ = request_.after() == 0 ? *last : static_cast<int64_t>(request_.after());
  started_ = true;
  return absl::OkStatus();
}

absl::Status WatchStream::Fetch(std::deque<v1::WatchEvent>& events) {
  if (!started_) {
    if (absl::Status status = FindStart(); !status.ok()) return status;
  }
  // Read before the page: a short page then holds everything up to `last`, so rows of other users
  // need no second look.
  absl::StatusOr<int64_t> last = reader_.LastEventId();
  if (!last.ok()) return last.status();
  storage::EventPage page;
  page.after = after_;
  page.limit = kEventsARead;
  page.workload_hex = workload_;
  page.owner = ViewOf(caller_);
  absl::StatusOr<std::vector<storage::EventRow>> rows = reader_.Events(page);
  if (!rows.ok()) return rows.status();
  Lookup lookup(reader_);
  for (const storage::EventRow& row : *rows) {
    absl::StatusOr<v1::WatchEvent> event = ToProto(row, lookup);
    if (!event.ok()) return event.status();
    events.push_back(*std::move(event));
    after_ = row.id;
  }
  if (rows->size() < kEventsARead) after_ = std::max(after_, *last);
  return absl::OkStatus();
}

void WatchStream::Read() {
  std::deque<v1::WatchEvent> events;
  absl::Status status = Fetch(events);
  // A reader that is out of time is asked again at the next event.
  if (absl::IsDeadlineExceeded(status)) status = absl::OkStatus();
  Next next;
  {
    absl::MutexLock lock(&mutex_);
    reading_ = false;
    placed_ = started_;
    if (events.size() >= kEventsARead) wanted_ = true;
    std::move(events.begin(), events.end(), std::back_inserter(buffer_));
    if (!status.ok() && !ending_) {
      ending_ = true;
      end_ = status;
    }
    next = Decide();
  }
  Do(next);
}

}  // namespace blazed::history
