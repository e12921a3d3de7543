#include "storage/memory/memory_store.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "storage/memory/memory_state.h"

namespace blazed::storage {

struct MemoryStore::Published {
  absl::Mutex mutex;
  MemoryState state ABSL_GUARDED_BY(mutex);
};

class MemoryStore::PublishedReader : public Reader {
 public:
  explicit PublishedReader(std::shared_ptr<Published> published)
      : published_(std::move(published)) {}

  absl::StatusOr<std::vector<Workload>> Workloads(const Page& page) override {
    return Read(&MemoryState::Workloads, page);
  }
  absl::StatusOr<std::vector<Graph>> Graphs(const Page& page) override {
    return Read(&MemoryState::Graphs, page);
  }
  absl::StatusOr<std::vector<StoredPlan>> Plans(const Page& page) override {
    return Read(&MemoryState::Plans, page);
  }
  absl::StatusOr<std::vector<StoredRace>> Races(const Page& page) override {
    return Read(&MemoryState::Races, page);
  }
  absl::StatusOr<std::vector<StoredSettlement>> Settlements(const Page& page) override {
    return Read(&MemoryState::Settlements, page);
  }
  absl::StatusOr<std::vector<EventRow>> Events(const EventPage& page) override {
    return Read(&MemoryState::Events, page);
  }
  absl::StatusOr<int64_t> LastEventId() override { return Read(&MemoryState::LastEventId); }
  absl::StatusOr<std::vector<planner::PairSample>> LoadPairs(int64_t race_row) override {
    return Read(&MemoryState::LoadPairs, race_row);
  }
  absl::StatusOr<Tuning> TuningById(TuningId id) override {
    return Read(&MemoryState::TuningById, id);
  }
  absl::StatusOr<int64_t> PlanId(TuningId tuning, const planner::Plan& plan) override {
    return Read(&MemoryState::PlanId, tuning, plan);
  }
  absl::StatusOr<WorkloadRow> WorkloadByPrefix(const std::string& hex_prefix) override {
    return Read(&MemoryState::WorkloadByPrefix, hex_prefix);
  }
  absl::StatusOr<EnvironmentRow> Environment(const Digest& fingerprint) override {
    return Read(&MemoryState::Environment, fingerprint);
  }
  absl::StatusOr<std::optional<planner::DriftTimer>> Drift(int64_t settlement) override {
    return Read(&MemoryState::Drift, settlement);
  }
  absl::StatusOr<std::optional<StoredKernels>> Kernels(TuningId tuning,
                                                       const planner::Plan& plan) override {
    return Read(&MemoryState::Kernels, tuning, plan);
  }
  absl::StatusOr<std::optional<SessionRow>> Session(planner::SessionId id) override {
    return Read(&MemoryState::Session, id);
  }
  absl::StatusOr<SessionStory> Story(planner::SessionId id) override {
    return Read(&MemoryState::Story, id);
  }
  // Nothing of it is on a disk.
  absl::StatusOr<uint64_t> SizeBytes() override { return 0; }
  uint64_t DamagedRows() const override { return 0; }

 private:
  template <typename Answer, typename... Asked, typename... Given>
  Answer Read(Answer (MemoryState::*question)(Asked...) const, const Given&... given) {
    absl::ReaderMutexLock lock(&published_->mutex);
    return (published_->state.*question)(given...);
  }

  const std::shared_ptr<Published> published_;
};

MemoryStore::MemoryStore(MemoryOptions options)
    : options_([&options] {
        if (!options.clock) options.clock = [] { return absl::GetCurrentTimeNanos(); };
        return std::move(options);
      }()),
      published_(std::make_shared<Published>()),
      working_(std::make_unique<MemoryState>()) {}

MemoryStore::~MemoryStore() = default;

absl::Status MemoryStore::Begin() {
  if (in_transaction_) return absl::FailedPreconditionError("a transaction is already open");
  in_transaction_ = true;
  return absl::OkStatus();
}

absl::Status MemoryStore::Commit(Durability) {
  if (!in_transaction_) return absl::FailedPreconditionError("no transaction is open");
  in_transaction_ = false;
  Publish();
  return absl::OkStatus();
}

void MemoryStore::Publish() {
  absl::MutexLock lock(&published_->mutex);
  // Each passed on the working state, which was the same, so each passes here.
  for (const Change& change : pending_) change(published_->state).IgnoreError();
  pending_.clear();
}

void MemoryStore::Rollback() {
  if (!in_transaction_) return;
  in_transaction_ = false;
  pending_.clear();
  absl::ReaderMutexLock lock(&published_->mutex);
  *working_ = published_->state;
}

absl::Status MemoryStore::Edit(Change change) {
  absl::Status status = change(*working_);
  if (!status.ok()) return status;
  pending_.push_back(std::move(change));
  if (!in_transaction_) Publish();
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<T> MemoryStore::EditFor(std::function<absl::StatusOr<T>(MemoryState&)> change) {
  // Applied twice, to the working state and at the commit to the readers', with the same answer.
  const auto value = std::make_shared<T>();
  absl::Status status = Edit([value, change = std::move(change)](MemoryState& state) {
    absl::StatusOr<T> made = change(state);
    if (made.ok()) *value = *made;
    return made.status();
  });
  if (!status.ok()) return status;
  return *value;
}

absl::Status MemoryStore::PutEnvironment(const EnvironmentRow& row) {
  return Edit([row](MemoryState& state) { return state.PutEnvironment(row); });
}

absl::Status MemoryStore::PutGraph(const GraphRow& row) {
  return Edit(
      [row, now = options_.clock()](MemoryState& state) { return state.PutGraph(row, now); });
}

absl::Status MemoryStore::PutWorkload(const WorkloadRow& row) {
  return Edit(
      [row, now = options_.clock()](MemoryState& state) { return state.PutWorkload(row, now); });
}

absl::StatusOr<TuningId> MemoryStore::PutTuning(const TuningKey& key) {
  return EditFor<TuningId>([key](MemoryState& state) { return state.PutTuning(key); });
}

absl::StatusOr<uint64_t> MemoryStore::CountTunings(uint32_t uid, TuningId up_to) {
  return working_->CountTunings(uid, up_to);
}

absl::StatusOr<planner::SessionId> MemoryStore::NewSessionId() {
  return EditFor<planner::SessionId>([](MemoryState& state) { return state.NewSessionId(); });
}

absl::Status MemoryStore::PutSession(const SessionRow& row) {
  return Edit([row](MemoryState& state) { return state.PutSession(row); });
}

absl::Status MemoryStore::PutPlan(TuningId tuning, const planner::PlanRecord& record) {
  return Edit([tuning, record, now = options_.clock()](MemoryState& state) {
    return state.PutPlan(tuning, record, now);
  });
}

// Variants and probes have no reader; only their reference is checked, as the tables do.
absl::Status MemoryStore::PutVariant(TuningId tuning, planner::SessionId, planner::VariantId,
                                     const planner::Plan&, const Digest&, uint64_t, uint64_t,
                                     const std::string&) {
  return working_->CheckTuning(tuning);
}

absl::Status MemoryStore::PutProbe(TuningId tuning, const planner::KeepProbe&) {
  return working_->CheckTuning(tuning);
}

absl::Status MemoryStore::PutRace(TuningId tuning, const planner::RaceRecord& record) {
  return Edit([tuning, record, now = options_.clock()](MemoryState& state) {
    return state.PutRace(tuning, record, now);
  });
}

absl::Status MemoryStore::PutForecast(TuningId tuning, const planner::KeepForecast& forecast) {
  return Edit(
      [tuning, forecast](MemoryState& state) { return state.PutForecast(tuning, forecast); });
}

absl::Status MemoryStore::PutOutcome(TuningId tuning, const planner::KeepOutcome& outcome) {
  return Edit([tuning, outcome, now = options_.clock()](MemoryState& state) {
    return state.PutOutcome(tuning, outcome, now);
  });
}

absl::Status MemoryStore::PutSurrogate(TuningId tuning, const std::vector<uint8_t>& bytes) {
  return Edit([tuning, bytes](MemoryState& state) { return state.PutSurrogate(tuning, bytes); });
}

absl::Status MemoryStore::PutDriftTimer(TuningId tuning, const planner::DriftTimer& timer) {
  return Edit([tuning, timer](MemoryState& state) { return state.PutDriftTimer(tuning, timer); });
}

absl::Status MemoryStore::PutKernels(TuningId tuning, const PlanKernels& kernels) {
  return Edit([tuning, kernels, now = options_.clock()](MemoryState& state) {
    return state.PutKernels(tuning, kernels, now);
  });
}

absl::StatusOr<int64_t> MemoryStore::PutEvent(const EventRow& event) {
  return EditFor<int64_t>([event](MemoryState& state) { return state.PutEvent(event); });
}

absl::StatusOr<uint64_t> MemoryStore::PutSettlement(TuningId tuning,
                                                    const planner::SettlementRecord& record) {
  return EditFor<uint64_t>([tuning, record, now = options_.clock()](MemoryState& state) {
    return state.PutSettlement(tuning, record, now);
  });
}

absl::Status MemoryStore::Demote(uint64_t settlement, const std::string& reason) {
  return Edit(
      [settlement, reason](MemoryState& state) { return state.Demote(settlement, reason); });
}

absl::StatusOr<Store::Memory> MemoryStore::LoadMemory(TuningId tuning) {
  return working_->LoadMemory(tuning);
}

std::unique_ptr<Reader> MemoryStore::NewReader() {
  return std::make_unique<PublishedReader>(published_);
}

absl::Status MemoryStore::Checkpoint() { return absl::OkStatus(); }

absl::StatusOr<uint64_t> MemoryStore::Prune() {
  if (in_transaction_) return absl::FailedPreconditionError("a transaction is open");
  return EditFor<uint64_t>([this](MemoryState& state) {
    return state.Prune(options_.events_kept, options_.kernels_kept, options_.pair_sets_kept,
                       options_.prune_batch);
  });
}

absl::StatusOr<std::string> MemoryStore::Backup() {
  return absl::FailedPreconditionError(
      "the store is in memory, so there is nothing to back up: start blazed with --state");
}

}  // namespace blazed::storage
