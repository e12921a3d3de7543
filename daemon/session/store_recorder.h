// Recorder over the writer thread. Methods on the strand; answers hop back to it.
// A writer that has stopped puts the daemon in quarantine. While the store only cannot be written,
// rows wait with the writer and whoever asks is answered with the cause. A row that finds the queue
// full is dropped and counted, since the strand never waits and evidence that is lost costs a
// search some pairs and nothing else; where it was a row of a tuning's log, the log says so at that
// place. A demotion is never dropped: it is synced, waits in an outage, and finds no queue full.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "daemon/base/quarantine.h"
#include "daemon/session/loop.h"
#include "daemon/session/recorder.h"
#include "storage/writer.h"

namespace blazed::session {

class StoreRecorder final : public Recorder {
 public:
  // `failed` runs on the strand, once, when the first failure put the daemon in quarantine.
  StoreRecorder(storage::Writer& writer, Loop& loop, Quarantine& quarantine,
                std::function<void()> failed);

  uint64_t epoch() const override { return writer_.epoch(); }
  void OpenSession(storage::SessionRow row, Answer<planner::SessionId> answer) override;
  void UpdateSession(const storage::SessionRow& row) override;
  void OpenTuning(Description description, Answer<OpenedTuning> answer) override;
  void KeepEvent(storage::EventRow event) override;
  void KeepVariant(storage::TuningId tuning, BuiltVariant variant) override;
  void KeepKernels(storage::TuningId tuning, storage::PlanKernels kernels) override;
  void KeepSurrogate(storage::TuningId tuning, std::vector<uint8_t> state) override;
  void KeepRow(storage::TuningId tuning, planner::Action row) override;
  void Settle(storage::TuningId tuning, planner::SettlementRecord record,
              Answer<uint64_t> answer) override;

  // Rows dropped since the start. On the strand.
  uint64_t dropped() const { return dropped_; }

 private:
  // False: the row was dropped at once.
  bool Keep(storage::Durability durability, storage::Writer::Request request);
  void CheckHealth();
  void NoteDropped(const absl::Status& why);
  template <typename T>
  void Ask(std::function<absl::Status(storage::Store&, T*)> request, Answer<T> answer);

  storage::Writer& writer_;
  Loop& loop_;
  Quarantine& quarantine_;
  std::function<void()> failed_;
  uint64_t dropped_ = 0;  // the strand only
  std::map<storage::TuningId, uint64_t>
      gaps_;  // rows of a log dropped since its last one; as above
};

}  // namespace blazed::session
