#include "client/cpp/engine/engine.h"

#include <algorithm>
#include <utility>

#include "client/cpp/transport/fork_guard.h"
#include "client/cpp/wire/codec.h"

namespace blazed::shim {
namespace {

// Never above what was asked; an unknown mode of a later daemon is the lowest.
blz_mode GrantedMode(blz_mode asked, WireMode granted) {
  switch (granted) {
    case WireMode::kTune:
      return asked;
    case WireMode::kPinned:
      return asked == BLZ_MODE_OBSERVE ? BLZ_MODE_OBSERVE : BLZ_MODE_PINNED;
    default:
      return BLZ_MODE_OBSERVE;
  }
}

bool IsCostly(const DaemonBody& body) {
  return std::holds_alternative<Build>(body) || std::holds_alternative<Probe>(body);
}

bool IsVoidedByStand(const DaemonBody& body) {
  return std::holds_alternative<RunPairs>(body) || std::holds_alternative<Adopt>(body);
}

}  // namespace

Engine::Engine(Config config, const blz_host_ops& ops, Clock& clock, std::atomic<uint32_t>& hot,
               Channel& channel)
    : config_(std::move(config)),
      ops_(ops),
      clock_(clock),
      hot_(hot),
      channel_(channel),
      attached_ns_(clock.Now()),
      prober_(ops_, clock_, config_.contract, config_.probe_memory_bytes),
      reason_(config_.note) {}

blz_result Engine::DescribeGraph(const blz_graph* graph) {
  std::string error;
  std::optional<GraphSeen> seen = CheckGraph(graph, error);
  if (seen.has_value() && workload_.has_value()) error = "graphs are described before the workload";
  const bool known = seen.has_value() && std::any_of(graphs_.begin(), graphs_.end(), [&](auto& g) {
                       return g.fingerprint == seen->fingerprint;
                     });
  if (error.empty() && known) return BLZ_OK;
  if (error.empty() && graphs_.size() == kMaxGraphs) error = "a session has at most 64 graphs";
  if (!error.empty()) {
    Say(BLZ_LOG_WARNING, error);
    return BLZ_INVALID;
  }
  Send(OutgoingKind::kDescription, Encode(*seen));
  graphs_.push_back(std::move(*seen));
  return BLZ_OK;
}

blz_result Engine::DescribeWorkload(const blz_workload* workload) {
  std::string error;
  std::optional<WorkloadSeen> seen = CheckWorkload(workload, graphs_, error);
  if (seen.has_value() && workload_.has_value()) error = "the workload was described before";
  std::string body;
  if (error.empty()) {
    seen->queued = ops_.drain != nullptr;
    body = Encode(*seen);
    if (body.empty()) error = "the workload's description is larger than 1 MiB";
  }
  if (!error.empty()) {
    Say(BLZ_LOG_WARNING, error);
    return BLZ_INVALID;
  }
  workload_ = std::move(seen);
  usual_step_ns_ = workload_->default_step_ns;
  Send(OutgoingKind::kDescription, std::move(body));
  return BLZ_OK;
}

void Engine::Poll() {
  hot_.fetch_and(~kHotAttention, std::memory_order_acquire);
  TakeLink();
  TakeStand();
  TakeDirectives();
  Progress progress;
  if (channel_.TakeProgress(progress)) progress_ = std::move(progress);
  UpdateHot();
}

void Engine::TakeLink() {
  LinkState state;
  if (!channel_.TakeLinkState(state)) return;
  const bool opened = state.generation != link_.generation;
  const bool fresh = opened && link_.generation != 0;
  link_ = std::move(state);
  // Not moved by a resume: what was proven would turn unproven in the middle of its races.
  if (opened) session_batches_ = link_.welcome.probe_batches;
  if (fresh) OnFreshSession();
  if (link_.stage != LinkStage::kUp) {
    Say(BLZ_LOG_WARNING, link_.reason.empty() ? "the link to the daemon ended" : link_.reason);
    return;
  }
  granted_ = GrantedMode(config_.mode, link_.welcome.mode);
  Say(BLZ_LOG_INFO, ModeReason());
}

// The daemon knows none of our variants. The plan in use was proven here and stays in use until the
// daemon says otherwise; the others go.
void Engine::OnFreshSession() {
  queue_.clear();
  answers_.Clear();
  lease_.reset();
  probe_id_.reset();
  probe_items_.clear();
  settled_ = false;
  adopted_ = {};
  kernels_wanted_ = 0;
  stand_reason_ = 0;
  for (Variant& variant : variants_.TakeAll()) {
    if (variant.id == champion_) {
      orphan_ = std::move(variant);
    } else {
      DropHandle(variant.handle);
    }
  }
  champion_ = 0;
}

void Engine::TakeStand() {
  StandOrder order;
  if (!channel_.TakeStand(order)) return;
  if (order.generation != link_.generation) TakeLink();
  if (order.generation != link_.generation) return;
  stand_order_ = order.order;  // also for what an adoption has overtaken in the queue
  // A lease or adoption that came after it has been followed already: it was answered by them.
  if (order.order < acted_order_) return;
  const bool has_detail = !order.stand.detail.empty();
  StandDown(std::max(order.stand.reason, 1u),
            has_detail ? order.stand.detail : "the daemon asked to go back to the default plan");
}

void Engine::TakeDirectives() {
  Directive directive;
  while (channel_.Receive(directive)) {
    if (directive.generation > link_.generation) TakeLink();
    if (directive.generation != link_.generation) continue;
    Enqueue(std::move(directive));
  }
}

void Engine::Enqueue(Directive&& directive) {
  if (const auto* refused = std::get_if<Refused>(&directive.body)) {
    Say(BLZ_LOG_WARNING, "the daemon could not use a message: " + refused->detail);
  } else if (queue_.size() < kMaxQueued) {
    queue_.push_back(std::move(directive));
  } else {
    ++refused_;  // the link refuses floods by message; this is the last fence behind it
  }
}

uint64_t Engine::BeginStep(uint64_t step) {
  step_ = step;
  worked_ = false;
  Poll();
  bool leased = false;
  while (!leased) {
    if (!lease_.has_value()) Work();
    if (!lease_.has_value()) break;
    leased = BeginLeaseStep(step);
  }
  UpdateHot();
  if (leased) return HandleOf(lease_->variant());
  if (ServiceTimer::Covers(step)) timer_.Begin(step, clock_.Now());
  if (worked_) timer_.Spoil();
  return champion_handle_;
}

void Engine::EndStep(uint64_t step, uint32_t flags) {
  if (lease_.has_value() && lease_->step_open()) {
    EndLeaseStep(flags);
    UpdateHot();
  } else if (ServiceTimer::Covers(step) && timer_.End(step, clock_.Now(), flags)) {
    OnServiceWindow(timer_);
  }
}

bool Engine::IsVoid(const Directive& directive) const {
  return directive.order < stand_order_ && IsVoidedByStand(directive.body);
}

void Engine::Work() {
  while (!lease_.has_value() && !queue_.empty()) {
    Directive& front = queue_.front();
    if (IsVoid(front)) {
      ++refused_;
      queue_.pop_front();
      continue;
    }
    if (IsCostly(front.body)) {
      if ((worked_ && !BudgetLeft()) || !PaceAllows()) return AdoptAhead();
      if (!worked_) {
        point_start_ns_ = clock_.Now();
        prober_.StartPoint();
      }
      worked_ = true;
    }
    if (!Do(front)) return AdoptAhead();
    queue_.pop_front();
  }
}

// The front waits for its time or its batches, and no change of plan waits with it: the way back to
// the default least of all. Adoptions are answered in their order: one that waits for what the
// front brings is refused where a later one can be followed.
void Engine::AdoptAhead() {
  const auto can_follow = [this](const Directive& directive) {
    const auto* adopt = std::get_if<Adopt>(&directive.body);
    return adopt != nullptr && !IsVoid(directive) && !WhyNoAdoption(*adopt).has_value();
  };
  const auto latest = std::find_if(queue_.rbegin(), queue_.rend(), can_follow);
  if (latest == queue_.rend()) return;
  const auto end = latest.base();
  const auto adoption = [](const Directive& directive) {
    return std::holds_alternative<Adopt>(directive.body);
  };
  const auto adoptions = std::stable_partition(
      queue_.begin(), end, [&](const Directive& each) { return !adoption(each); });
  for (auto each = adoptions; each != end; ++each) {
    if (IsVoid(*each)) {
      ++refused_;
    } else {
      Do(*each);
    }
  }
  queue_.erase(adoptions, end);
}

bool Engine::BeginLeaseStep(uint64_t step) {
  if (lease_->step_open()) {  // begun and never ended
    drained_ = false;
    lease_->RestartUnit();
  }
  uint64_t now = clock_.Now();
  if (lease_->Expired(now) || !MayLease(lease_->pairs())) {
    FinishLease();
    return false;
  }
  if (lease_->AsksRunAhead()) SeeRunAhead();
  uint64_t device_ns = 0;
  if (lease_->NeedsDrainedPoint()) {
    DrainedPoint(now);
    if (ops_.unit_flags != nullptr) ops_.unit_flags(ops_.user);  // of what came before the unit
    if (ops_.device_clock_ns != nullptr) device_ns = ops_.device_clock_ns(ops_.user);
    now = clock_.Now();  // what was asked is none of the unit's time
  }
  lease_->LimitStep(LongestStep(lease_->variant()));
  lease_->Begin(step, now, device_ns);
  drained_ = false;
  return true;
}

void Engine::EndLeaseStep(uint32_t flags) {
  uint64_t now = clock_.Now();
  lease_->EndStep(flags);
  const uint32_t id = lease_->variant();
  if (lease_->MustAbort(now - lease_->step_began_ns())) {
    lease_->AbortUnit(DrainedPoint(now));
  } else if (!lease_->EndsUnit()) {
    lease_->NextStep();
    return;
  } else {
    now = DrainedPoint(now);
    if (ops_.unit_flags != nullptr) lease_->AddFlags(ops_.unit_flags(ops_.user));
    const bool has_clock = ops_.device_clock_ns != nullptr;
    lease_->CloseUnit(now, has_clock ? ops_.device_clock_ns(ops_.user) : 0);
    if (RunsAnyway(id)) usual_step_ns_ = lease_->StepNs();
  }
  ++units_;
  Variant* variant = variants_.Find(id);
  if (variant != nullptr && !SignatureHolds(*variant)) {
    VoidLease(id);
  } else if (lease_->Complete() || lease_->Aborted()) {
    FinishLease();
  }
}

uint64_t Engine::DrainedPoint(uint64_t now) {
  if (ops_.drain == nullptr || drained_) return now;
  ops_.drain(ops_.user);
  drained_ = true;
  const uint64_t after = clock_.Now();
  lease_->AddDrain(after - now);
  drain_ns_ += after - now;
  return after;
}

// A number that no host can have in flight is no answer.
void Engine::SeeRunAhead() {
  if (ops_.drain == nullptr || ops_.steps_in_flight == nullptr) return;
  const uint32_t steps = drained_ ? 0 : ops_.steps_in_flight(ops_.user);
  if (steps < step_) lease_->SeeRunAhead(steps);
}

void Engine::FinishLease() {
  const uint64_t id = lease_->pairs().lease_id;
  Answer(DirectiveKind::kRunPairs, id, Encode(lease_->Finish()));
  lease_.reset();
}

// What was timed was not the variant that the daemon means: none of it is handed over.
void Engine::VoidLease(uint32_t variant) {
  const uint64_t id = lease_->pairs().lease_id;
  lease_.reset();
  Refuse(DirectiveKind::kRunPairs, id, variant, Refusal::kNotProven,
         "the variant ran under another signature than it was proven with, probe it again");
}

void Engine::OnServiceWindow(const ServiceTimer& timer) {
  Variant* used = orphan_.has_value() ? &*orphan_ : variants_.Find(champion_);
  if (used != nullptr && !SignatureHolds(*used)) return;  // it timed another plan than was adopted
  const bool queued = ops_.drain != nullptr;
  const uint64_t host_ns = queued ? timer.SpanNs() : timer.SumNs();
  usual_step_ns_ = host_ns / ServiceTimer::kSteps;
  if (link_.generation == 0 || !workload_.has_value() || orphan_.has_value()) return;
  Outgoing message;
  message.kind = OutgoingKind::kWindow;
  message.can_wait = true;
  message.generation = link_.generation;
  message.window = {champion_, timer.first_step(), ServiceTimer::kSteps, host_ns,
                    queued ? timer.MedianPaceNs() : timer.MedianStepNs()};
  if (!channel_.Send(std::move(message))) ++lost_;
}

void Engine::UpdateHot() {
  if (hot_.load(std::memory_order_relaxed) == 0) return;  // off, or a forked child
  if (lease_.has_value() || !queue_.empty()) {
    hot_.fetch_or(kHotEngaged, std::memory_order_relaxed);
  } else {
    hot_.fetch_and(~kHotEngaged, std::memory_order_relaxed);
  }
}

void Engine::Close() {
  if (lease_.has_value()) FinishLease();
  queue_.clear();
  for (const Variant& variant : variants_.TakeAll()) DropHandle(variant.handle);
  DropOrphan();
  champion_ = 0;
  champion_handle_ = 0;
}

void Engine::Answer(DirectiveKind kind, uint64_t id, const std::string& body) {
  answers_.Keep(kind, id, body);
  // A lease ends inside a timed step, where waking another thread would cost more than the step's
  // whole share of blazed.
  Send(OutgoingKind::kAnswer, body, kind == DirectiveKind::kRunPairs);
}

void Engine::Refuse(DirectiveKind kind, uint64_t id, uint32_t variant, Refusal reason,
                    const std::string& detail) {
  ++refused_;
  const std::string body = Encode(DirectiveRefused{id, variant, reason, detail});
  // What is over a limit today may fit tomorrow.
  if (reason == Refusal::kOverLimit) {
    Send(OutgoingKind::kAnswer, body);
  } else {
    Answer(kind, id, body);
  }
  Say(BLZ_LOG_WARNING, "a directive was refused: " + detail);
}

void Engine::Send(OutgoingKind kind, std::string body, bool can_wait) {
  Outgoing message;
  message.kind = kind;
  message.can_wait = can_wait;
  message.generation = link_.generation;
  message.body = std::move(body);
  if (!channel_.Send(std::move(message))) ++lost_;
}

void Engine::Say(blz_log_level level, const std::string& sentence) {
  reason_ = sentence;
  if (config_.log != nullptr && !sentence.empty()) {
    config_.log(config_.log_user, level, reason_.c_str());
  }
}

}  // namespace blazed::shim
