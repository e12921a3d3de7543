#include "daemon/history/service.h"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/history/convert.h"
#include "daemon/history/page_token.h"
#include "daemon/history/query.h"
#include "daemon/history/report.h"
#include "daemon/rpc/status_map.h"

namespace blazed::history {
namespace {

absl::Status Busy() {
  return absl::ResourceExhaustedError("too many queries are waiting: try again in a moment");
}

// A stream that ends before it began.
class RefusedWatch final : public grpc::ServerWriteReactor<v1::WatchEvent> {
 public:
  explicit RefusedWatch(const absl::Status& status) { Finish(rpc::ToGrpc(status)); }
  void OnDone() override { delete this; }
};

uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// The daemon's sentence, and what readers met since.
std::string StoreDetail(const DaemonStatus& status, const storage::Reader& reader) {
  const uint64_t damaged = reader.DamagedRows();
  if (damaged == 0) return status.store_detail;
  return absl::StrCat(status.store_detail, status.store_detail.empty() ? "" : "; ", damaged,
                      " damaged rows were met and left out");
}

absl::Status FillStatus(const DaemonStatus& status, const rpc::Caller& caller,
                        storage::Reader& reader, v1::GetStatusReply* reply) {
  reply->set_version(status.version);
  reply->set_commit(status.commit);
  reply->set_daemon_epoch(status.epoch);
  reply->set_uptime_ns(status.uptime_ns);
  reply->set_store_path(status.store_path);
  reply->set_store_state(status.store_state);
  reply->set_store_detail(StoreDetail(status, reader));
  reply->set_rss_bytes(ResidentBytes());
  reply->set_sqlite_version(sqlite3_libversion());
  *reply->mutable_store_opening() = ToProto(status.store_opening);
  reply->set_store_read_only_since_unix_ns(status.read_only_since_ns);
  reply->set_rows_waiting(status.rows_waiting);
  reply->set_rows_dropped(status.rows_dropped);
  for (const SessionStatus& session : status.sessions) {
    const bool own = session.uid == caller.uid && session.principal == caller.principal;
    if (own || caller.is_root) *reply->add_sessions() = ToProto(session);
  }
  // A status is wanted most when the store cannot be read.
  const absl::StatusOr<uint64_t> bytes = reader.SizeBytes();
  if (bytes.ok()) reply->set_store_bytes(*bytes);
  return absl::OkStatus();
}

// One page of a list: `read(page)` gives rows with ids, `add(row)` puts one into the reply.
template <typename Reply, typename Read, typename IdOf, typename Add>
absl::Status AnswerPage(storage::Reader& reader, const rpc::Caller& caller, const std::string& list,
                        const v1::ListRequest& request, Reply* reply, Read read, IdOf id_of,
                        Add add) {
  absl::StatusOr<storage::Page> page = PageOf(reader, caller, list, request);
  if (!page.ok()) return page.status();
  auto rows = read(*page);
  if (!rows.ok()) return rows.status();
  for (const auto& row : *rows) {
    if (absl::Status status = add(row); !status.ok()) return status;
  }
  if (rows->size() == page->limit) {
    reply->set_next_page_token(MakePageToken(list, id_of(rows->back())));
  }
  return absl::OkStatus();
}

// Adds a converted row, or says why not.
template <typename Row, typename List>
absl::Status AddRow(absl::StatusOr<Row> row, List* list) {
  if (!row.ok()) return row.status();
  *list->Add() = *std::move(row);
  return absl::OkStatus();
}

}  // namespace

HistoryService::HistoryService(std::unique_ptr<storage::Reader> reader, rpc::CallerOf caller_of,
                               StatusSource& status, ServiceOptions options)
    : reader_(std::move(reader)),
      caller_of_(std::move(caller_of)),
      status_(status),
      options_(options),
      queue_(options.query_threads, options.queries_waiting) {}

HistoryService::~HistoryService() = default;

grpc::ServerUnaryReactor* HistoryService::Answer(
    grpc::CallbackServerContext* context, std::function<absl::Status(const rpc::Caller&)> query) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::StatusOr<rpc::Caller> caller = caller_of_(context);
  if (!caller.ok()) {
    reactor->Finish(rpc::ToGrpc(caller.status()));
    return reactor;
  }
  const Taken taken = queue_.Add([reactor, caller = *std::move(caller), query = std::move(query)] {
    reactor->Finish(rpc::ToGrpc(query(caller)));
  });
  if (taken == Taken::kFull) reactor->Finish(rpc::ToGrpc(Busy()));
  return reactor;
}

grpc::ServerUnaryReactor* HistoryService::GetStatus(grpc::CallbackServerContext* context,
                                                    const v1::GetStatusRequest*,
                                                    v1::GetStatusReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::StatusOr<rpc::Caller> caller = caller_of_(context);
  if (!caller.ok()) {
    reactor->Finish(rpc::ToGrpc(caller.status()));
    return reactor;
  }
  status_.Snapshot([this, reactor, reply, caller = *std::move(caller)](DaemonStatus status) {
    const Taken taken = queue_.Add([this, reactor, reply, caller, status = std::move(status)] {
      reactor->Finish(rpc::ToGrpc(FillStatus(status, caller, *reader_, reply)));
    });
    if (taken == Taken::kFull) reactor->Finish(rpc::ToGrpc(Busy()));
  });
  return reactor;
}

grpc::ServerUnaryReactor* HistoryService::ListWorkloads(grpc::CallbackServerContext* context,
                                                        const v1::ListRequest* request,
                                                        v1::ListWorkloadsReply* reply) {
  return Answer(context, [this, request, reply](const rpc::Caller& caller) {
    return AnswerPage(
        *reader_, caller, "workloads", *request, reply,
        [this](const storage::Page& page) { return reader_->Workloads(page); },
        [](const storage::Reader::Workload& row) { return row.id; },
        [reply](const storage::Reader::Workload& row) {
          *reply->add_rows() = ToProto(row);
          return absl::OkStatus();
        });
  });
}

grpc::ServerUnaryReactor* HistoryService::ListGraphs(grpc::CallbackServerContext* context,
                                                     const v1::ListRequest* request,
                                                     v1::ListGraphsReply* reply) {
  return Answer(context, [this, request, reply](const rpc::Caller& caller) {
    return AnswerPage(
        *reader_, caller, "graphs", *request, reply,
        [this](const storage::Page& page) { return reader_->Graphs(page); },
        [](const storage::Reader::Graph& row) { return row.id; },
        [reply](const storage::Reader::Graph& row) {
          *reply->add_rows() = ToProto(row);
          return absl::OkStatus();
        });
  });
}

grpc::ServerUnaryReactor* HistoryService::ListPlans(grpc::CallbackServerContext* context,
                                                    const v1::ListRequest* request,
                                                    v1::ListPlansReply* reply) {
  return Answer(context, [this, request, reply](const rpc::Caller& caller) {
    Lookup lookup(*reader_);
    return AnswerPage(
        *reader_, caller, "plans", *request, reply,
        [this](const storage::Page& page) { return reader_->Plans(page); },
        [](const storage::StoredPlan& row) { return row.id; },
        [&lookup, reply](const storage::StoredPlan& row) {
          return AddRow(ToProto(row, lookup), reply->mutable_rows());
        });
  });
}

grpc::ServerUnaryReactor* HistoryService::ListRaces(grpc::CallbackServerContext* context,
                                                    const v1::ListRequest* request,
                                                    v1::ListRacesReply* reply) {
  return Answer(context, [this, request, reply](const rpc::Caller& caller) {
    Lookup lookup(*reader_);
    return AnswerPage(
        *reader_, caller, "races", *request, reply,
        [this](const storage::Page& page) { return reader_->Races(page); },
        [](const storage::StoredRace& row) { return row.id; },
        [&lookup, reply](const storage::StoredRace& row) {
          return AddRow(ToProto(row, lookup), reply->mutable_rows());
        });
  });
}

grpc::ServerUnaryReactor* HistoryService::ListSettlements(grpc::CallbackServerContext* context,
                                                          const v1::ListRequest* request,
                                                          v1::ListSettlementsReply* reply) {
  return Answer(context, [this, request, reply](const rpc::Caller& caller) {
    Lookup lookup(*reader_);
    return AnswerPage(
        *reader_, caller, "settlements", *request, reply,
        [this](const storage::Page& page) { return reader_->Settlements(page); },
        [](const storage::StoredSettlement& row) { return static_cast<int64_t>(row.record.id); },
        [&lookup, reply](const storage::StoredSettlement& row) {
          return AddRow(ToProto(row, lookup), reply->mutable_rows());
        });
  });
}

grpc::ServerUnaryReactor* HistoryService::Explain(grpc::CallbackServerContext* context,
                                                  const v1::ExplainRequest* request,
                                                  v1::ExplainReply* reply) {
  return Answer(context, [this, request, reply](const rpc::Caller& caller) {
    return AnswerExplain(*reader_, caller, *request, reply);
  });
}

void HistoryService::Report(planner::SessionId session, const Beside& beside,
                            std::function<void(absl::StatusOr<std::string>)> answer) {
  const Taken taken = queue_.Add([this, session, beside, answer] {
    absl::StatusOr<storage::Reader::SessionStory> story = reader_->Story(session);
    if (!story.ok()) return answer(story.status());
    answer(JobReportText(*reader_, *story, beside));
  });
  if (taken == Taken::kFull) answer(Busy());
}

grpc::ServerWriteReactor<v1::WatchEvent>* HistoryService::Watch(
    grpc::CallbackServerContext* context, const v1::WatchRequest* request) {
  absl::StatusOr<rpc::Caller> caller = caller_of_(context);
  if (!caller.ok()) return new RefusedWatch(caller.status());
  auto stream = std::make_shared<WatchStream>(*reader_, queue_, *std::move(caller), *request,
                                              [this](WatchStream* gone) { Forget(gone); });
  if (absl::Status status = Admit(stream); !status.ok()) return new RefusedWatch(status);
  stream->Poke();
  return stream.get();
}

absl::Status HistoryService::Admit(const std::shared_ptr<WatchStream>& stream) {
  absl::MutexLock lock(&mutex_);
  if (stopping_) return absl::UnavailableError("blazed is stopping: watch again when it is back");
  const auto same_user =
      static_cast<size_t>(std::count_if(watchers_.begin(), watchers_.end(), [&](const auto& other) {
        return other->uid() == stream->uid();
      }));
  if (watchers_.size() >= options_.watchers || same_user >= options_.watchers_per_user) {
    return absl::ResourceExhaustedError("too many watches are open: end one of them");
  }
  watchers_.push_back(stream);
  return absl::OkStatus();
}

void HistoryService::Forget(WatchStream* stream) {
  std::shared_ptr<WatchStream> last;  // freed after the lock
  absl::MutexLock lock(&mutex_);
  const auto found = std::find_if(watchers_.begin(), watchers_.end(),
                                  [stream](const auto& other) { return other.get() == stream; });
  if (found == watchers_.end()) return;
  last = std::move(*found);
  watchers_.erase(found);
}

std::vector<std::shared_ptr<WatchStream>> HistoryService::Watchers() {
  absl::MutexLock lock(&mutex_);
  return watchers_;
}

void HistoryService::EventsCommitted() {
  for (const auto& watcher : Watchers()) watcher->Poke();
}

void HistoryService::StopWatches() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (const auto& watcher : Watchers()) {
    watcher->End(absl::UnavailableError("blazed is stopping: watch again when it is back"));
  }
}

}  // namespace blazed::history
