// History: what the machine remembers. Handlers identify the caller, hand the query to the query
// threads, and convert; a caller sees its own principal's rows, root of the machine sees all.
//
// Threads: gRPC's call the handlers, the writer thread calls EventsCommitted. The service outlives
// the server.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "blazed/v1/history.grpc.pb.h"
#include "daemon/history/report.h"
#include "daemon/history/status_source.h"
#include "daemon/history/watch_stream.h"
#include "daemon/history/work_queue.h"
#include "daemon/rpc/caller.h"
#include "storage/store.h"

namespace blazed::history {

struct ServiceOptions {
  size_t query_threads = 2;
  size_t queries_waiting = 256;  // beyond it a query is refused with RESOURCE_EXHAUSTED
  size_t watchers = 64;
  size_t watchers_per_user = 16;
};

class HistoryService final : public v1::History::CallbackService {
 public:
  // `status` outlives the service.
  HistoryService(std::unique_ptr<storage::Reader> reader, rpc::CallerOf caller_of,
                 StatusSource& status, ServiceOptions options);
  ~HistoryService() override;

  // Wakes the watchers. Cheap; from any thread, for the writer's `committed`.
  void EventsCommitted() ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends every watch with UNAVAILABLE and takes no further one; the first step of an orderly stop.
  void StopWatches() ABSL_LOCKS_EXCLUDED(mutex_);

  // A session's report, for Tuner.GetReport; `beside` as in report.h, without what the store holds.
  // Runs on a query thread; `answer` is called exactly once. RESOURCE_EXHAUSTED where too many
  // queries wait.
  void Report(planner::SessionId session, const Beside& beside,
              std::function<void(absl::StatusOr<std::string>)> answer);

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::GetStatusReply* reply) override;
  grpc::ServerUnaryReactor* ListWorkloads(grpc::CallbackServerContext* context,
                                          const v1::ListRequest* request,
                                          v1::ListWorkloadsReply* reply) override;
  grpc::ServerUnaryReactor* ListGraphs(grpc::CallbackServerContext* context,
                                       const v1::ListRequest* request,
                                       v1::ListGraphsReply* reply) override;
  grpc::ServerUnaryReactor* ListPlans(grpc::CallbackServerContext* context,
                                      const v1::ListRequest* request,
                                      v1::ListPlansReply* reply) override;
  grpc::ServerUnaryReactor* ListRaces(grpc::CallbackServerContext* context,
                                      const v1::ListRequest* request,
                                      v1::ListRacesReply* reply) override;
  grpc::ServerUnaryReactor* ListSettlements(grpc::CallbackServerContext* context,
                                            const v1::ListRequest* request,
                                            v1::ListSettlementsReply* reply) override;
  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                    const v1::ExplainRequest* request,
                                    v1::ExplainReply* reply) override;
  grpc::ServerWriteReactor<v1::WatchEvent>* Watch(grpc::CallbackServerContext* context,
                                                  const v1::WatchRequest* request) override;

 private:
  // Runs the query on a query thread and ends the call with its status.
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   std::function<absl::Status(const rpc::Caller&)> query);
  absl::Status Admit(const std::shared_ptr<WatchStream>& stream) ABSL_LOCKS_EXCLUDED(mutex_);
  void Forget(WatchStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<std::shared_ptr<WatchStream>> Watchers() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::unique_ptr<storage::Reader> reader_;
  const rpc::CallerOf caller_of_;
  StatusSource& status_;
  const ServiceOptions options_;

  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<WatchStream>> watchers_ ABSL_GUARDED_BY(mutex_);

  WorkQueue queue_;  // last: its threads use everything above
};

// The answer to Explain, in explain_query.cc.
absl::Status AnswerExplain(storage::Reader& reader, const rpc::Caller& caller,
                           const v1::ExplainRequest& request, v1::ExplainReply* reply);

}  // namespace blazed::history
