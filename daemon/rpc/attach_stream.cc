#include "daemon/rpc/attach_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/log.h"
#include "daemon/rpc/convert.h"

namespace blazed::rpc {

namespace field = log::field;

AttachStream::AttachStream(session::Loop& loop, session::SessionTable& sessions, session::Peer peer,
                           size_t most_waiting)
    : loop_(loop), sessions_(sessions), link_(std::make_shared<StreamLink>(this, most_waiting)) {
  loop_.Post([&sessions, link = link_, peer = std::move(peer)] { sessions.Attach(link, peer); });
  link_->Read(&incoming_);
}

void AttachStream::OnReadDone(bool ok) {
  if (!ok) {
    // The client is done writing, or the stream is. A session may be resumed on another one.
    if (incoming_.sequence() == StreamLink::kNothingRead) return link_->End(absl::OkStatus());
    absl::Status malformed = absl::InvalidArgumentError(
        absl::StrCat("what came after message ", sequence_,
                     " is no ShimMessage; send messages as tuner.proto says, with text in UTF-8"));
    log::Info("message rejected", {{field::kReason, std::string(malformed.message())}});
    link_->End(std::move(malformed));
    return;
  }
  if (incoming_.sequence() != sequence_ + 1) {
    link_->End(absl::InvalidArgumentError(
        absl::StrCat("message ", incoming_.sequence(), " came where ", sequence_ + 1,
                     " was due; number the messages of a stream 1, 2, 3 and so on")));
    return;
  }
  ++sequence_;
  absl::StatusOr<std::optional<session::Inbound>> message = FromProto(incoming_);
  if (!message.ok()) {
    log::Info("message rejected", {{field::kReason, std::string(message.status().message())}});
    link_->End(message.status());
    return;
  }
  if (!message->has_value()) {
    link_->Read(&incoming_);
    return;
  }
  HandOn(sequence_, **std::move(message));
}

// `incoming_` is used again only by the read that follows `done`, which is nothing once the stream
// is gone.
void AttachStream::HandOn(uint64_t sequence, session::Inbound message) {
  auto done = [link = link_, into = &incoming_](absl::Status status) {
    if (status.ok()) {
      link->Read(into);
    } else {
      link->End(std::move(status));
    }
  };
  loop_.Post([&sessions = sessions_, link = link_, sequence, message = std::move(message),
              done = std::move(done)]() mutable {
    sessions.Receive(link, sequence, std::move(message), std::move(done));
  });
}

void AttachStream::OnWriteDone(bool ok) { link_->Written(ok); }

void AttachStream::OnCancel() { link_->End(absl::CancelledError("the stream was cancelled")); }

void AttachStream::OnDone() {
  link_->Gone();
  loop_.Post([&sessions = sessions_, link = link_] { sessions.Detach(link, "the stream ended"); });
  delete this;
}

}  // namespace blazed::rpc
