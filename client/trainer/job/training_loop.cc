#include "client/trainer/job/training_loop.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/trainer/host/describe.h"
#include "client/trainer/job/loss_curve.h"
#include "client/trainer/job/step_times.h"
#include "client/trainer/signals.h"
#include "client/trainer/stopwatch.h"

namespace blazed::trainer {
namespace {

// Steps after the answer, so that a run ends under its champion and not at the edge of a trial.
constexpr int64_t kStepsAfterAnswer = 128;

ProgressSnapshot SnapshotOf(const blz_status_info& status) {
  ProgressSnapshot out;
  out.tuning = status.state != BLZ_STATE_OFF && status.state != BLZ_STATE_CLOSED;
  out.phase = status.state == BLZ_STATE_ATTACHED ? NameOf(status.phase) : NameOf(status.state);
  out.candidates = status.candidates;
  out.dropped = status.dropped;
  out.races = status.races;
  out.builds = status.builds;
  out.pairs = status.search_pairs + status.replication_pairs;
  out.gain = status.gain;
  out.provisional = status.phase != BLZ_PHASE_SETTLED && status.phase != BLZ_PHASE_SERVED;
  out.spent_building = absl::Nanoseconds(status.build_ns);
  out.spent_probing = absl::Nanoseconds(status.probe_ns);
  out.regret = absl::Nanoseconds(status.regret_ns);
  out.window = absl::Nanoseconds(status.window_ns);
  // A served job has none of its own: what the daemon names is that of the job that searched.
  if (status.phase != BLZ_PHASE_SERVED) {
    out.forecast_window = absl::Nanoseconds(status.forecast_window_ns);
    out.forecast_builds = status.forecast_builds;
    out.forecast_resolvable = status.forecast_resolvable;
    if (status.forecast_based_on != nullptr) out.forecast_based_on = status.forecast_based_on;
  }
  const auto text = [](const char* sentence) {
    return std::string(sentence != nullptr ? sentence : "");
  };
  // The shim's own sentence may be of long ago: what the daemon says of this moment goes first.
  const bool attached = status.state == BLZ_STATE_ATTACHED;
  out.note = attached ? text(status.note) : text(status.reason);
  if (out.note.empty()) out.note = attached ? text(status.reason) : text(status.note);
  out.idle = !attached || status.phase == BLZ_PHASE_NONE || status.phase == BLZ_PHASE_WAITING ||
             status.phase == BLZ_PHASE_STANDING;
  return out;
}

// The state of one run between its steps.
class Loop {
 public:
  Loop(const TrainOptions& options, ExecutorHost* host, Session* session, Progress* progress)
      : options_(options), host_(*host), session_(session), progress_(*progress) {}

  absl::StatusOr<RunFacts> Run(const StepObserver& observer);

 private:
  absl::Status Step();
  // Draws, and notes whether the answer is there; only when a look is due.
  void Look();
  ProgressSnapshot Snapshot();
  std::optional<Stopped> End() const;

  const TrainOptions& options_;
  ExecutorHost& host_;
  Session* const session_;
  Progress& progress_;
  const Stopwatch watch_;
  LossCurve losses_;
  StepTimes times_;
  int64_t steps_ = 0;
  std::optional<int64_t> answered_at_;
  Stopped answer_ = Stopped::kUndecided;  // meaningful from answered_at_ on
  bool settled_itself_ = false;
};

absl::Status Loop::Step() {
  if (absl::Status status = host_.LoadBatch(steps_); !status.ok()) return status;
  const uint64_t handle = session_ != nullptr ? session_->StepBegin() : 0;
  const absl::Duration begin = watch_.Elapsed();
  const cpu::StepResult result = host_.Run(handle);
  times_.Add(watch_.Elapsed() - begin);
  if (session_ != nullptr) session_->StepEnd();
  losses_.Add(result.loss);
  ++steps_;
  return absl::OkStatus();
}

ProgressSnapshot Loop::Snapshot() {
  ProgressSnapshot snapshot;
  if (session_ != nullptr) {
    const blz_status_info status = session_->Status();
    snapshot = SnapshotOf(status);
    if (status.settled != 0) {
      // The shim says "settled" of every search that ended; only a settlement is an answer.
      const bool settlement = status.settlement != BLZ_SETTLEMENT_NONE;
      answer_ = settlement ? Stopped::kSettled : Stopped::kUndecided;
      // A daemon that was restarted since serves the job what the job itself found.
      if (settlement && status.phase == BLZ_PHASE_SETTLED) settled_itself_ = true;
      if (!answered_at_) times_.Clear();
      answered_at_ = answered_at_.value_or(steps_);
    }
  }
  snapshot.steps = steps_;
  snapshot.most_steps = options_.steps;
  snapshot.step_ns = times_.MedianNs();
  if (options_.regime == Regime::kTraining) snapshot.loss = losses_.smoothed();
  return snapshot;
}

void Loop::Look() {
  const absl::Duration now = watch_.Elapsed();
  if (progress_.Due(now)) progress_.Update(now, Snapshot());
}

std::optional<Stopped> Loop::End() const {
  if (EndAsked() != 0) return Stopped::kSignal;
  if (options_.until == Until::kSettled && answered_at_ &&
      steps_ >= *answered_at_ + kStepsAfterAnswer) {
    return answer_;
  }
  if (options_.seconds > 0 && watch_.Elapsed() >= absl::Seconds(options_.seconds)) {
    return Stopped::kSeconds;
  }
  if (steps_ >= options_.steps) return Stopped::kSteps;
  return std::nullopt;
}

absl::StatusOr<RunFacts> Loop::Run(const StepObserver& observer) {
  std::optional<Stopped> stopped;
  while (!(stopped = End())) {
    const int64_t step = steps_;
    if (absl::Status status = Step(); !status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("the batch of step ", step, ": ", status.message()));
    }
    Look();
    if (observer && !observer(step, losses_.last())) {
      stopped = Stopped::kSignal;
      break;
    }
  }
  progress_.Finish(watch_.Elapsed(), Snapshot());
  RunFacts facts;
  facts.steps = steps_;
  facts.stopped = *stopped;
  facts.settled_itself = settled_itself_;
  if (options_.regime == Regime::kTraining) {
    facts.first_loss = losses_.first();
    facts.last_loss = losses_.smoothed();
    facts.loss_curve = losses_.points();
  }
  facts.loss_digest = losses_.Digest().ToHex();
  facts.model_digest = host_.model().Digest().ToHex();
  facts.wall = watch_.Elapsed();
  facts.base_step_ns = absl::ToDoubleNanoseconds(host_.base_step());
  facts.median_step_ns = times_.MedianNs();
  return facts;
}

// The shim gives no reason while it still hopes for an answer.
const char* WhyNoAnswer(blz_state state) {
  return state == BLZ_STATE_ATTACHING || state == BLZ_STATE_RECONNECTING
             ? "no daemon answered before the job ended; see whether blazed runs and look at its "
               "log"
             : "the session ended before a daemon answered";
}

}  // namespace

absl::StatusOr<RunFacts> Train(const TrainOptions& options, ExecutorHost* host, Session* session,
                               Progress* progress, const StepObserver& observer) {
  return Loop(options, host, session, progress).Run(observer);
}

SessionFacts LookAt(const Session& session, const fuse::DecisionSpace& space) {
  blz_status_info status = session.Status();
  SessionFacts facts;
  facts.state = status.state;
  facts.phase = status.phase;
  facts.attached = status.daemon_epoch != 0;
  facts.settled = status.settled != 0;
  facts.settlement = status.settlement;
  if (status.reason != nullptr) facts.reason = status.reason;
  if (facts.reason.empty() && !facts.attached) facts.reason = WhyNoAnswer(status.state);
  fuse::Plan plan;
  for (size_t i = 0; i < status.champion_choice_count; ++i) {
    plan.push_back({static_cast<int32_t>(status.champion_choices[i].decision),
                    static_cast<int32_t>(status.champion_choices[i].option)});
  }
  facts.plan = PlanNames(space, plan);
  status.reason = status.note = status.forecast_based_on = nullptr;
  status.champion_choices = nullptr;
  facts.counters = status;
  return facts;
}

}  // namespace blazed::trainer
