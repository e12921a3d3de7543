#include "daemon/session/store_recorder.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/log.h"
#include "daemon/session/tuning_log.h"

namespace blazed::session {

namespace field = log::field;
using storage::Durability;
using storage::Store;
using storage::TuningId;

namespace {

absl::Status TooManyWorkloads(const Description& description) {
  return absl::InvalidArgumentError(
      absl::StrCat("the store keeps ", description.most_tunings, " workloads of user ",
                   description.key.uid, ", which is the limit; raise limits.workloads_per_user"));
}

}  // namespace

StoreRecorder::StoreRecorder(storage::Writer& writer, Loop& loop, Quarantine& quarantine,
                             std::function<void()> failed)
    : writer_(writer), loop_(loop), quarantine_(quarantine), failed_(std::move(failed)) {}

// Only the writer's own end is the daemon's business.
void StoreRecorder::CheckHealth() {
  const absl::Status health = writer_.health();
  if (!health.ok() && quarantine_.Enter(health) == Entered::kFirst) failed_();
}

void StoreRecorder::NoteDropped(const absl::Status& why) {
  ++dropped_;
  // A full queue refuses thousands in a row.
  if ((dropped_ & (dropped_ - 1)) == 0) {
    log::Warning("rows were not kept",
                 {{field::kReason, std::string(why.message())}, {field::kCount, dropped_}});
  }
  CheckHealth();
}

bool StoreRecorder::Keep(Durability durability, storage::Writer::Request request) {
  absl::Status taken = writer_.Submit(durability, storage::InOutage::kKeep, std::move(request),
                                      [this](const absl::Status& status) {
                                        if (!status.ok())
                                          loop_.Post([this, status] { NoteDropped(status); });
                                      });
  if (taken.ok()) return true;
  // Quarantine ends sessions, so it has to wait until their tunings are done with what they do.
  loop_.Post([this, taken] { NoteDropped(taken); });
  return false;
}

// The request may run more than once, so its result lives in a place that the last run fills.
template <typename T>
void StoreRecorder::Ask(std::function<absl::Status(Store&, T*)> request, Answer<T> answer) {
  auto result = std::make_shared<T>();
  auto finish = [this, result, answer = std::move(answer)](const absl::Status& status) {
    loop_.Post([this, result, answer, status] {
      CheckHealth();
      if (status.ok()) {
        answer(std::move(*result));
      } else {
        answer(status);
      }
    });
  };
  absl::Status taken = writer_.Submit(
      Durability::kSynced,
      [request = std::move(request), result](Store& store) {
        *result = T();
        return request(store, result.get());
      },
      finish);
  if (!taken.ok()) finish(taken);
}

void StoreRecorder::OpenSession(storage::SessionRow row, Answer<planner::SessionId> answer) {
  Ask<planner::SessionId>(
      [row = std::move(row)](Store& store, planner::SessionId* id) {
        absl::StatusOr<planner::SessionId> made = store.NewSessionId();
        if (!made.ok()) return made.status();
        storage::SessionRow numbered = row;
        numbered.id = *id = *made;
        return store.PutSession(numbered);
      },
      std::move(answer));
}

void StoreRecorder::UpdateSession(const storage::SessionRow& row) {
  Keep(Durability::kBatched, [row](Store& store) { return store.PutSession(row); });
}

void StoreRecorder::OpenTuning(Description description, Answer<OpenedTuning> answer) {
  Ask<OpenedTuning>(
      [description = std::move(description)](Store& store, OpenedTuning* opened) {
        absl::Status status = store.PutEnvironment(description.environment);
        for (const storage::GraphRow& graph : description.graphs) {
          if (status.ok()) status = store.PutGraph(graph);
        }
        if (status.ok()) status = store.PutWorkload(description.workload);
        if (!status.ok()) return status;
        absl::StatusOr<TuningId> id = store.PutTuning(description.key);
        if (!id.ok()) return id.status();
        const absl::StatusOr<uint64_t> count = store.CountTunings(description.key.uid, *id);
        if (!count.ok()) return count.status();
        if (*count > description.most_tunings) return TooManyWorkloads(description);
        storage::SessionRow session = description.session;
        session.tuning = opened->id = *id;
        status = store.PutSession(session);
        if (!status.ok()) return status;
        absl::StatusOr<Store::Memory> memory = store.LoadMemory(*id);
        if (!memory.ok()) return memory.status();
        opened->memory = *std::move(memory);
        return absl::OkStatus();
      },
      std::move(answer));
}

void StoreRecorder::KeepEvent(storage::EventRow event) {
  const TuningId tuning = event.tuning;
  const bool of_log = IsLogKind(event.kind);
  const auto gap = gaps_.find(tuning);
  const uint64_t missing = of_log && gap != gaps_.end() ? gap->second : 0;
  const bool kept =
      Keep(Durability::kBatched, [event = std::move(event), missing](Store& store) -> absl::Status {
        if (missing > 0) {
          const planner::Gap before{missing, "the queue to the disk was full"};
          absl::Status put = store.PutEvent(GapRow(event.tuning, event.wall_ns, before)).status();
          if (!put.ok()) return put;
        }
        return store.PutEvent(event).status();
      });
  if (!of_log) return;
  if (kept) {
    gaps_.erase(tuning);
  } else {
    ++gaps_[tuning];
  }
}

void StoreRecorder::KeepVariant(TuningId tuning, BuiltVariant variant) {
  Keep(Durability::kBatched, [tuning, v = std::move(variant)](Store& store) {
    return store.PutVariant(tuning, v.session, v.variant, v.plan, v.signature, v.build_ns,
                            v.peak_bytes, v.failure);
  });
}

void StoreRecorder::KeepKernels(TuningId tuning, storage::PlanKernels kernels) {
  Keep(Durability::kBatched, [tuning, kernels = std::move(kernels)](Store& store) {
    return store.PutKernels(tuning, kernels);
  });
}

void StoreRecorder::KeepSurrogate(TuningId tuning, std::vector<uint8_t> state) {
  Keep(Durability::kBatched, [tuning, state = std::move(state)](Store& store) {
    return store.PutSurrogate(tuning, state);
  });
}

void StoreRecorder::KeepRow(TuningId tuning, planner::Action row) {
  // A plan that was stood down must not come back with the next start. Sessions leave it at once
  // and hear of nothing that waits for this row; their number bounds how many there can be.
  const Durability durability = std::holds_alternative<planner::DemoteSettlement>(row)
                                    ? Durability::kSynced
                                    : Durability::kBatched;
  Keep(durability, [tuning, row = std::move(row)](Store& store) -> absl::Status {
    if (const auto* plan = std::get_if<planner::KeepPlan>(&row)) {
      return store.PutPlan(tuning, plan->record);
    }
    if (const auto* race = std::get_if<planner::KeepRace>(&row)) {
      return store.PutRace(tuning, race->record);
    }
    if (const auto* probe = std::get_if<planner::KeepProbe>(&row)) {
      return store.PutProbe(tuning, *probe);
    }
    if (const auto* forecast = std::get_if<planner::KeepForecast>(&row)) {
      return store.PutForecast(tuning, *forecast);
    }
    if (const auto* timer = std::get_if<planner::KeepDriftTimer>(&row)) {
      return store.PutDriftTimer(tuning, timer->timer);
    }
    if (const auto* demote = std::get_if<planner::DemoteSettlement>(&row)) {
      return store.Demote(demote->settlement, demote->reason);
    }
    if (const auto* outcome = std::get_if<planner::KeepOutcome>(&row)) {
      return store.PutOutcome(tuning, *outcome);
    }
    return absl::OkStatus();
  });
}

void StoreRecorder::Settle(TuningId tuning, planner::SettlementRecord record,
                           Answer<uint64_t> answer) {
  Ask<uint64_t>(
      [tuning, record = std::move(record)](Store& store, uint64_t* id) {
        absl::StatusOr<uint64_t> stored = store.PutSettlement(tuning, record);
        if (stored.ok()) *id = *stored;
        return stored.status();
      },
      std::move(answer));
}

}  // namespace blazed::session
