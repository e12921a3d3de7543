// The read side of one Attach stream: one message at a time goes to the strand, and the next one is
// read when the strand is done with it. So a client that floods waits in its own socket.
#pragma once

#include <memory>

#include "daemon/rpc/stream_link.h"
#include "daemon/session/loop.h"
#include "daemon/session/session_table.h"

namespace blazed::rpc {

// Owns itself; gone after OnDone.
class AttachStream final : public AttachReactor {
 public:
  AttachStream(session::Loop& loop, session::SessionTable& sessions, session::Peer peer,
               size_t most_waiting);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  void HandOn(uint64_t sequence, session::Inbound message);

  session::Loop& loop_;
  session::SessionTable& sessions_;
  const std::shared_ptr<StreamLink> link_;
  v1::ShimMessage incoming_;
  uint64_t sequence_ = 0;  // of the last message; only one read is under way at a time
};

}  // namespace blazed::rpc
