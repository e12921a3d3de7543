#include "client/blazectl/watch.h"

#include <memory>

#include "absl/time/clock.h"
#include "blazed/v1/history.grpc.pb.h"

namespace blazed::blazectl {
namespace {

// One stream, from its opening to its end.
struct Round {
  grpc::Status status;
  uint64_t shown = 0;
  bool lost = false;  // the sink takes no more
};

bool IsLoss(const grpc::Status& status) {
  // An orderly stop ends the stream with OK or CANCELLED; asking again is right for it too.
  return status.ok() || status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::CANCELLED ||
         status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
}

Round RunRound(const Connection& connection, const v1::WatchRequest& request, uint64_t wanted,
               const std::function<Sunk(const v1::WatchEvent&)>& sink) {
  v1::History::Stub stub(connection.channel());
  grpc::ClientContext context;
  Connection::PrepareStream(context);
  std::unique_ptr<grpc::ClientReader<v1::WatchEvent>> reader = stub.Watch(&context, request);
  Round round;
  v1::WatchEvent event;
  while (reader->Read(&event)) {
    const Sunk sunk = sink(event);
    round.lost = sunk == Sunk::kLost;
    if (sunk == Sunk::kShown) ++round.shown;
    if ((wanted != 0 && round.shown == wanted) || round.lost) {
      context.TryCancel();
      while (reader->Read(&event)) {  // what was under way; Finish needs an empty stream
      }
      reader->Finish();
      return round;
    }
  }
  round.status = reader->Finish();
  return round;
}

}  // namespace

absl::Status Watch(const WatchOrder& order, const Connection& connection, const WatchSinks& sinks) {
  v1::WatchRequest request;
  request.set_workload(order.workload);
  request.set_after(order.after);
  uint64_t left = order.events;
  while (true) {
    const Round round = RunRound(connection, request, left, [&](const v1::WatchEvent& event) {
      request.set_after(event.id());
      return sinks.event(event);
    });
    // The caller knows what it lost.
    if (round.lost) return absl::OkStatus();
    if (order.events != 0) {
      left -= round.shown;
      if (left == 0) return absl::OkStatus();
    }
    if (!IsLoss(round.status)) return connection.Translate(round.status);
    sinks.link(Link::kLost);
    const absl::Time give_up =
        order.patience ? absl::Now() + *order.patience : absl::InfiniteFuture();
    // A stream that the daemon ends at once must not become a busy loop: one turn per reconnect
    // interval.
    absl::SleepFor(absl::Milliseconds(250));
    while (!connection.channel()->WaitForConnected(
        absl::ToChronoTime(std::min(give_up, absl::Now() + absl::Seconds(1))))) {
      if (absl::Now() >= give_up) {
        return connection.Translate(grpc::Status(grpc::StatusCode::UNAVAILABLE,
                                                 "the daemon did not come back; look at its log"));
      }
    }
    sinks.link(Link::kBack);
  }
}

}  // namespace blazed::blazectl
