// The session room's way to the store: what it needs kept and remembered, in its own words.
// StoreRecorder does it over storage::Writer. Called on the strand; never blocks; every answer
// comes back on the strand, in order. Rows kept without an answer are batched, and wait while the
// store cannot be written; only its end puts the daemon in quarantine.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/planner/action.h"
#include "daemon/planner/types.h"
#include "storage/records.h"
#include "storage/store.h"

namespace blazed::session {

// Everything that a described session brings.
struct Description {
  storage::TuningKey key;
  storage::EnvironmentRow environment;
  std::vector<storage::GraphRow> graphs;
  storage::WorkloadRow workload;
  storage::SessionRow session;         // its tuning is filled in here
  uint32_t most_tunings = UINT32_MAX;  // of the key's user; a further key is refused
};

struct OpenedTuning {
  storage::TuningId id = 0;
  storage::Store::Memory memory;
};

struct BuiltVariant {
  planner::SessionId session = 0;
  planner::VariantId variant = 0;
  planner::Plan plan;
  planner::Digest signature{};
  uint64_t build_ns = 0;
  uint64_t peak_bytes = 0;
  std::string failure;  // empty: built
};

class Recorder {
 public:
  template <typename T>
  using Answer = std::function<void(absl::StatusOr<T>)>;

  virtual ~Recorder() = default;

  virtual uint64_t epoch() const = 0;

  // Gives the session its id and keeps its row.
  virtual void OpenSession(storage::SessionRow row, Answer<planner::SessionId> answer) = 0;
  virtual void UpdateSession(const storage::SessionRow& row) = 0;
  // Keeps the description and answers with what is known about the tuning. INVALID_ARGUMENT: this
  // description is not taken, and nothing of it is kept; the sentence is for its sender.
  virtual void OpenTuning(Description description, Answer<OpenedTuning> answer) = 0;

  virtual void KeepEvent(storage::EventRow event) = 0;
  virtual void KeepVariant(storage::TuningId tuning, BuiltVariant variant) = 0;
  virtual void KeepKernels(storage::TuningId tuning, storage::PlanKernels kernels) = 0;
  virtual void KeepSurrogate(storage::TuningId tuning, std::vector<uint8_t> state) = 0;
  // Any of the planner's rows but Settle.
  virtual void KeepRow(storage::TuningId tuning, planner::Action row) = 0;

  // Answers with the row id once the settlement is on the disk.
  virtual void Settle(storage::TuningId tuning, planner::SettlementRecord record,
                      Answer<uint64_t> answer) = 0;
};

}  // namespace blazed::session
