// What passes between the host's thread and the link's thread, and the engine's side of it.
#pragma once

#include <cstdint>
#include <string>

#include "client/cpp/wire/messages.h"

namespace blazed::shim {

enum class OutgoingKind {
  kAnswer,       // to a directive; kept and sent again after a resumed stream
  kDescription,  // graph or workload; sent on every stream
  kWindow,       // a service window; the first to go where a queue is full
  kKernels,      // of a plan; the next to go, and asked for again where it was lost with a stream
};

// Host's thread to link.
struct Outgoing {
  OutgoingKind kind = OutgoingKind::kAnswer;
  uint64_t generation = 0;  // of the daemon's session it belongs to; of others it is dropped
  std::string body;         // encoded, but for windows
  ServiceWindow window;
  bool can_wait = false;  // for the link's next look at the queue: sending it makes no system call
};

enum class LinkStage {
  kTrying,  // no answer yet, or none any more; the link goes on trying
  kUp,
  kDead,  // for good
};

// `generation` counts the daemon's sessions of this shim from 1: a number that grew says that all
// variants known before are unknown to the daemon.
struct LinkState {
  LinkStage stage = LinkStage::kTrying;
  uint64_t generation = 0;
  Welcome welcome;     // of that generation's latest stream
  std::string reason;  // where not up
  uint32_t reconnects = 0;
  uint32_t lost = 0;  // messages dropped in the link's queues
};

// Link to host's thread. One of an earlier generation is void.
struct Directive {
  DaemonBody body;
  uint64_t received_ns = 0;
  uint64_t generation = 0;
  uint64_t order = 0;  // of arrival, from 1
};

// A Stand never queues behind directives and is never lost. It voids what arrived before it.
struct StandOrder {
  Stand stand;
  uint64_t generation = 0;
  uint64_t order = 0;
};

// Tests put a scripted daemon here. Used by the session's thread only; nothing ever waits for I/O.
class Channel {
 public:
  virtual ~Channel() = default;

  // False: the queue is full and the message is lost.
  virtual bool Send(Outgoing&& message) = 0;

  // The oldest directive not yet taken. False: none. Before a directive of a later generation comes
  // out, TakeLinkState shows that generation.
  virtual bool Receive(Directive& directive) = 0;

  // False: nothing changed since the last call.
  virtual bool TakeLinkState(LinkState& state) = 0;
  virtual bool TakeStand(StandOrder& stand) = 0;
  virtual bool TakeProgress(Progress& progress) = 0;
};

}  // namespace blazed::shim
