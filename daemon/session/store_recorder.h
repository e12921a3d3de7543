// Recorder over the writer thread. Methods on the strand; answers hop back to it.
// A request that the writer refuses because it has stopped puts the daemon in quarantine; one that
// finds the queue full is dropped and counted, since evidence that is lost costs a search some
// pairs and nothing else.
#pragma once

#include <cstdint>
#include <functional>

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
  void KeepSurrogate(storage::TuningId tuning, std::vector<uint8_t> state) override;
  void KeepRow(storage::TuningId tuning, planner::Action row) override;
  void Settle(storage::TuningId tuning, planner::SettlementRecord record,
              Answer<uint64_t> answer) override;

  uint64_t dropped() const { return dropped_; }

 private:
  void Keep(storage::Durability durability, storage::Writer::Request request);
  void Check(const absl::Status& status);
  template <typename T>
  void Ask(std::function<absl::Status(storage::Store&, T*)> request, Answer<T> answer);

  storage::Writer& writer_;
  Loop& loop_;
  Quarantine& quarantine_;
  std::function<void()> failed_;
  uint64_t dropped_ = 0;  // the strand only
};

}  // namespace blazed::session
