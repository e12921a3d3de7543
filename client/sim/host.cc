#include "client/sim/host.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "daemon/planner/scale.h"
#include "daemon/planner/space.h"
#include "daemon/planner/thought.h"

namespace blazed::sim {

using namespace planner;  // the simulated host speaks the planner's vocabulary throughout

namespace {

constexpr uint64_t kWindowSteps = 16, kWindowEvery = 256;  // of service, as in the shim

// Kernels alone are steady: what moves step times of queued hosts is the host.
NoiseSettings DeviceNoise() {
  NoiseSettings noise;
  noise.sd = 0.002;
  noise.rho = 0;
  noise.drift_amplitude = 0.002;
  noise.outlier_share = 0;
  noise.regime_rate = 0;
  noise.walk = 0;
  return noise;
}

}  // namespace

Host::Host(const CostTable* table, HostSettings settings, TuningConfig config, TuningMemory memory,
           uint64_t seed)
    : table_(table),
      settings_(settings),
      config_(config),
      random_(seed),
      tuning_(std::make_unique<Tuning>(table->spec(), Contract::kRounding, config,
                                       std::move(memory))) {}

SessionId Host::Attach(const std::string& process, Mode mode, const std::string& device) {
  const SessionId id = next_session_++;
  Client& c = clients_[id];
  c.process = process;
  c.clock_ns = now_ns_;
  c.noise = std::make_unique<StepNoise>(settings_.noise, random_.Next());
  c.variants[kDefaultVariant] = {};
  const uint64_t salt = processes_[process].salt;
  SessionReady ready;
  ready.session = id;
  ready.process = process;
  ready.device = device;
  ready.job = process;
  ready.mode = mode;
  ready.seed = random_.Next();
  ready.default_signature = table_->Signature({}, salt);
  ready.default_step_ns = static_cast<uint64_t>(settings_.step_ns);
  ready.default_build_ns = static_cast<uint64_t>(settings_.step_ns * settings_.build_steps);
  ready.build_ns = settings_.build_guesses;
  ready.tune_until_steps = settings_.tune_until_steps;
  ready.default_peak_bytes = settings_.peak_bytes;
  if (settings_.queue) {
    c.queue = std::make_unique<LaunchQueue>(*settings_.queue);
    c.device_noise = std::make_unique<StepNoise>(DeviceNoise(), random_.Next());
    ready.default_step_ns =
        static_cast<uint64_t>(std::max(settings_.step_ns, settings_.queue_host_ns));
    ready.queued = settings_.queue_claims.queued;
  }
  if (bend_ready) bend_ready(ready);
  c.ready = ready;
  Send(ready);
  return id;
}

void Host::Detach(SessionId session) {
  clients_.erase(session);
  Send(SessionGone{session, "bye"});
}

void Host::Send(EventBody body) {
  Event event{now(), std::move(body)};
  events_.push_back(event);
  Take(tuning_->Apply(event));
  AnswerThoughts();
}

void Host::Answer(EventBody body) {
  if (among_others_ != nullptr) {
    among_others_->answers.push_back(std::move(body));
    return;
  }
  if (bend && !bend(body)) return;
  Send(std::move(body));
}

// Rows are kept at once; directives wait in the session's inbox for the next step.
void Host::Take(const std::vector<Action>& actions) {
  for (const Action& action : actions) {
    actions_.push_back(action);
    Keep(action);
    if (const auto* a = std::get_if<Think>(&action)) Ponder(*a);
    Deliver(action);
  }
}

void Host::Keep(const Action& action) {
  if (const auto* a = std::get_if<KeepPlan>(&action)) plans_[a->record.plan] = a->record;
  if (const auto* a = std::get_if<KeepRace>(&action)) {
    races_.push_back(a->record);
    highest_race_ = std::max(highest_race_, a->record.id);
    const RaceKind kind = a->record.kind;
    checks_ += kind == RaceKind::kVerification || kind == RaceKind::kReplication ? 1 : 0;
  }
  if (const auto* a = std::get_if<KeepForecast>(&action)) forecast_ = a->record;
  if (const auto* a = std::get_if<KeepDriftTimer>(&action)) drift_ = a->timer;
  if (std::get_if<DemoteSettlement>(&action)) {
    ++demotions_;
    demoted_at_ = steps_;
    settlement_.reset();
    for (auto& [id, c] : clients_) c.ended = false;
  }
  if (const auto* a = std::get_if<KeepOutcome>(&action)) {
    outcomes_[a->session] = *a;
    if (const auto it = clients_.find(a->session); it != clients_.end()) it->second.ended = true;
  }
  if (const auto* a = std::get_if<Settle>(&action)) Store(*a);
}

void Host::Store(const Settle& settle) {
  store_due_ns_ = now_ns_ + 2 * settings_.step_ns;
  if (store_fails) {
    answers_.push_back(SettlementFailed{settle.request, "disk full"});
    return;
  }
  SettlementRecord record = settle.record;
  record.id = next_settlement_++;
  answers_.push_back(SettlementStored{settle.request, record.id});
  settlement_ = record;
}

void Host::Deliver(const Action& action) {
  const auto inbox = [&](SessionId id) {
    if (const auto it = clients_.find(id); it != clients_.end()) it->second.inbox.push_back(action);
  };
  if (const auto* a = std::get_if<BuildVariant>(&action)) inbox(a->session);
  if (const auto* a = std::get_if<ProbeVariants>(&action)) inbox(a->session);
  if (const auto* a = std::get_if<RunPairs>(&action)) inbox(a->session);
  if (const auto* a = std::get_if<Adopt>(&action)) inbox(a->session);
  if (const auto* a = std::get_if<DropVariant>(&action)) inbox(a->session);
  if (const auto* a = std::get_if<Stand>(&action)) inbox(a->session);
}

double Host::StepNs(SessionId id, Client& c, VariantId variant) {
  const Plan plan = c.variants.contains(variant) ? c.variants[variant] : Plan{};
  if (on_live) on_live(id, variant, plan);
  const CostTable* table = live_table != nullptr ? live_table : table_;
  double cost = table->LogCost(plan);
  if (!plan.empty() && settings_.process_sd > 0) {
    const auto [it, fresh] = processes_[c.process].effect.try_emplace(plan, 0.0);
    if (fresh) it->second = settings_.process_sd * random_.Normal();
    cost += it->second;
  }
  cost += c.build_effect[variant];
  if (!plan.empty() && settings_.tail_share > 0 && random_.Uniform() < settings_.tail_share) {
    cost += std::log(kTailFactor);
  }
  const uint64_t key = HashPlan(plan) * (variant != 0);
  const double ns = c.queue != nullptr ? QueuedStepNs(c, plan, cost, key)
                                       : settings_.step_ns * std::exp(c.noise->Step(cost, key));
  const double excess = TrueExcess(plan, cost);
  lost_steps_ += std::max(0.0, excess);
  run_steps_ += 1 + excess;
  now_ns_ += ns;
  ++steps_;
  ++c.step;
  return ns;
}

// What passes on the host's clock, which is not what the step costs in the long run.
double Host::QueuedStepNs(Client& c, const Plan& plan, double cost, uint64_t key) {
  const double host_cost =
      settings_.queue_host_costs == nullptr ? 0 : settings_.queue_host_costs->LogCost(plan);
  const double before = c.queue->host_now();
  c.queue->Step(settings_.queue_host_ns * std::exp(c.noise->Step(host_cost, key)),
                settings_.step_ns * std::exp(c.device_noise->Step(cost, key)));
  if (c.step < settings_.queues_from_step) c.queue->Drain();
  return c.queue->host_now() - before;
}

// Against the default plan, as a share of its step: on a queued host the slower side decides.
double Host::TrueExcess(const Plan& plan, double cost) const {
  if (!settings_.queue) return std::exp(cost) - 1;
  const double host =
      settings_.queue_host_costs == nullptr
          ? settings_.queue_host_ns
          : settings_.queue_host_ns * std::exp(settings_.queue_host_costs->LogCost(plan));
  return std::max(host, settings_.step_ns * std::exp(cost)) /
             std::max(settings_.queue_host_ns, settings_.step_ns) -
         1;
}

double Host::Drain(Client& c) {
  if (c.queue == nullptr) return 0;
  const double waited = c.queue->Drain();
  now_ns_ += waited;
  return waited;
}

void Host::Build(SessionId id, Client& c, const BuildVariant& build) {
  if (build.rebuild_of != 0) {
    c.variants.erase(build.rebuild_of);
    if (c.in_use == build.rebuild_of) c.in_use = kDefaultVariant;
  }
  c.variants[build.variant] = build.plan;
  c.build_effect[build.variant] = settings_.rebuild_sd * random_.Normal();
  ++builds_;
  const double ns = settings_.step_ns * settings_.build_steps;
  now_ns_ += ns;
  overhead_steps_ += settings_.build_steps;
  VariantBuilt built;
  built.session = id;
  built.build = build.build;
  built.variant = build.variant;
  built.signature = table_->Signature(build.plan, processes_[c.process].salt);
  built.build_ns = static_cast<uint64_t>(ns);
  Answer(built);
}

void Host::Probe(SessionId id, Client& c, const ProbeVariants& probe) {
  const double share = 1.0 / static_cast<double>(std::max<size_t>(1, probe.variants.size()));
  for (VariantId variant : probe.variants) {
    const double ns = settings_.step_ns * settings_.probe_batch_steps * probe.batches * (1 + share);
    now_ns_ += ns;
    overhead_steps_ += ns / settings_.step_ns;
    ProbeDone done;
    done.session = id;
    done.probe = probe.probe;
    done.variant = variant;
    done.summary.equivalence = Equivalence::kIdentical;
    done.summary.elements = 1000;
    done.probe_ns = static_cast<uint64_t>(ns);
    c.passed[variant] += probe.batches;
    done.passed_batches = c.passed[variant];
    Answer(done);
    if (!clients_.contains(id)) return;
  }
}

void Host::SeeRunAhead(const Client& c, LeaseDone& done) {
  if (c.queue == nullptr) return;
  done.run_ahead = std::max(done.run_ahead.value_or(0), c.queue->InFlight());
}

// As the shim runs it: w warm steps, a drained point, k timed steps, a drained point.
UnitTime Host::Unit(SessionId id, Client& c, const RunPairs& run, bool challenger,
                    LeaseDone& done) {
  const VariantId variant = challenger ? run.challenger : run.champion;
  for (uint32_t i = 0; i < run.warm_steps; ++i) StepNs(id, c, variant);
  done.drain_ns += static_cast<uint64_t>(Drain(c));
  const double device_from = c.queue == nullptr ? 0 : c.queue->host_now();
  double ns = 0;
  for (uint32_t i = 0; i < run.timed_steps; ++i) {
    if (i + 1 == run.timed_steps) SeeRunAhead(c, done);
    ns += StepNs(id, c, variant);
  }
  const double waited = Drain(c);
  done.drain_ns += static_cast<uint64_t>(waited);
  UnitTime unit;
  if (c.queue != nullptr) {
    unit.device_ns = static_cast<uint64_t>(c.queue->device_end() - device_from);
  }
  unit.host_ns = static_cast<uint64_t>(ns + waited);
  const double limit = static_cast<double>(run.abort_step_ns) * run.timed_steps;
  if (challenger && run.abort_step_ns > 0 && ns + waited > limit) unit.flags = kUnitAborted;
  return unit;
}

void Host::Pairs(SessionId id, Client& c, const RunPairs& run) {
  LeaseDone done;
  done.session = id;
  done.lease = run.lease;
  done.first_step = c.step;
  SeeRunAhead(c, done);
  for (bool coin : run.challenger_first) {
    const bool first = settings_.fixed_order ? false : coin;
    for (bool challenger : {first, !first}) {
      done.units.push_back(Unit(id, c, run, challenger, done));
    }
    // In the negative control the planner has to believe that its coins were followed.
    if (settings_.fixed_order && coin) {
      std::swap(done.units[done.units.size() - 2], done.units[done.units.size() - 1]);
    }
  }
  const QueueClaims& claims = settings_.queue_claims;
  if (claims.run_ahead && c.queue != nullptr) done.run_ahead = claims.run_ahead;
  if (!claims.tells_run_ahead) done.run_ahead.reset();
  Answer(done);
}

void Host::Do(SessionId id, Client& c, const Action& action) {
  if (const auto* a = std::get_if<BuildVariant>(&action)) return Build(id, c, *a);
  if (const auto* a = std::get_if<ProbeVariants>(&action)) return Probe(id, c, *a);
  if (const auto* a = std::get_if<RunPairs>(&action)) return Pairs(id, c, *a);
  if (const auto* a = std::get_if<DropVariant>(&action)) {
    c.variants.erase(a->variant);
    if (c.in_use == a->variant) c.in_use = kDefaultVariant;
  }
  if (const auto* a = std::get_if<Adopt>(&action)) {
    c.in_use = a->variant;
    c.settled = a->settled;
    Answer(VariantAdopted{id, a->adopt, a->variant, c.step + 1});
  }
  if (std::get_if<Stand>(&action)) {
    c.in_use = kDefaultVariant;
    c.settled = false;
  }
}

void Host::TickIfDue() {
  if (now_ns_ - last_tick_ns_ < 1e9) return;
  last_tick_ns_ = now_ns_;
  Send(Tick{});
}

void Host::Pass(double steps) {
  now_ns_ += steps * settings_.step_ns;
  Send(Tick{});
}

void Host::AnswerStore() {
  while (!answers_.empty()) {
    const EventBody body = answers_.front();
    answers_.pop_front();
    Send(body);
  }
}

// On the search as it is when it asks, as the daemon does where nothing else is thought about.
void Host::Ponder(const Think& asked) {
  const auto thought = tuning_->FindThought(asked.session, asked.request);
  if (thought == nullptr) return;
  thoughts_.push_back(
      {{asked.session, asked.request, Conclude(*thought)}, steps_ + settings_.thought_steps});
}

// An answer may ask for the next thought, which this loop takes as well.
void Host::AnswerThoughts() {
  if (std::exchange(answers_thoughts_, true)) return;
  while (!thoughts_.empty() && thoughts_.front().due <= steps_) {
    EventBody done = std::move(thoughts_.front().done);
    thoughts_.pop_front();
    if (!bend || bend(done)) Send(std::move(done));
  }
  answers_thoughts_ = false;
}

void Host::Turn(SessionId id) {
  const auto it = clients_.find(id);
  StepNs(id, it->second, it->second.in_use);
  while (!it->second.inbox.empty()) {
    const Action action = it->second.inbox.front();
    it->second.inbox.pop_front();
    Do(id, it->second, action);
    if (std::holds_alternative<RunPairs>(action)) break;
  }
}

// Jobs run at the same time: whose clock is behind comes next. What he answers is heard once all
// others have come as far.
void Host::TurnAmongOthers() {
  const auto behind = std::min_element(
      clients_.begin(), clients_.end(),
      [](const auto& a, const auto& b) { return a.second.clock_ns < b.second.clock_ns; });
  const SessionId id = behind->first;
  Client& c = behind->second;
  now_ns_ = std::max(now_ns_, c.clock_ns);
  while (!c.answers.empty()) {
    const EventBody body = c.answers.front();
    c.answers.pop_front();
    Answer(body);
    if (!clients_.contains(id)) return;
  }
  if (now_ns_ >= store_due_ns_) AnswerStore();
  AnswerThoughts();
  TickIfDue();
  const double began = now_ns_;
  among_others_ = &c;
  StepNs(id, c, c.in_use);
  if (!c.inbox.empty()) {
    const Action action = c.inbox.front();
    c.inbox.pop_front();
    Do(id, c, action);
  }
  among_others_ = nullptr;
  c.clock_ns = now_ns_;
  now_ns_ = began;
}

bool Host::RunUntilEnd(SessionId session, uint64_t steps) {
  const uint64_t limit = steps_ + steps;
  for (auto& [id, c] : clients_) c.clock_ns = std::max(c.clock_ns, now_ns_);
  while (steps_ < limit && !clients_.empty()) {
    if (clients_.size() == 1 && clients_.begin()->second.answers.empty()) {
      Turn(clients_.begin()->first);
      AnswerStore();
      AnswerThoughts();
      TickIfDue();
    } else {
      TurnAmongOthers();
    }
    const auto it = clients_.find(session);
    if (it == clients_.end()) return false;
    const Client& c = it->second;
    if (c.ended && c.inbox.empty() && c.answers.empty()) return true;
  }
  return false;
}

// Rows are durable when they are emitted; the surrogate is written when a tuning closes, so a
// killed daemon has none. An open race has no row: the tuning allows for one by itself.
TuningMemory Host::Remembered(Restart how) const {
  TuningMemory memory;
  memory.settlement = settlement_;
  memory.drift = drift_;
  for (const auto& [plan, record] : plans_) memory.plans.push_back(record);
  memory.races = highest_race_;
  memory.checks = checks_ + highest_race_ - races_.size();
  if (how == Restart::kStopped) memory.surrogate = tuning_->SaveSurrogate();
  return memory;
}

void Host::RestartDaemon(Restart how) {
  constexpr int kEpochShift = 20;  // ids of one daemon's life never meet those of the next
  tuning_ = std::make_unique<Tuning>(table_->spec(), Contract::kRounding, config_, Remembered(how));
  ++restarts_;
  answers_.clear();
  thoughts_.clear();
  for (auto& [id, c] : clients_) {
    c.inbox.clear();
    c.ended = false;
    c.ready.seed = random_.Next();
    c.ready.first_directive = (restarts_ << kEpochShift) + 1;
    c.ready.first_variant = static_cast<VariantId>(c.ready.first_directive);
  }
  std::vector<SessionReady> again;
  for (const auto& [id, c] : clients_) again.push_back(c.ready);
  for (const SessionReady& ready : again) Send(ready);
}

// One step of ordinary service; as in the shim, the first kWindowSteps of every kWindowEvery are
// told as a window, unless something else ran among them.
void Host::ServeStep(SessionId session, Client& c) {
  if (c.step % kWindowEvery == 0) c.window_ns.clear();
  const bool fair = c.window_ns.size() == c.step % kWindowEvery;
  const uint64_t step = c.step;
  const double ns = StepNs(session, c, c.in_use);
  if (!fair || c.window_ns.size() >= kWindowSteps) return;
  c.window_ns.push_back(ns);
  if (c.window_ns.size() < kWindowSteps) return;
  ServiceWindow window;
  window.session = session;
  window.variant = c.in_use;
  window.first_step = step + 1 - kWindowSteps;
  window.steps = kWindowSteps;
  window.host_ns =
      static_cast<uint64_t>(std::accumulate(c.window_ns.begin(), c.window_ns.end(), 0.0));
  window.median_step_ns = static_cast<uint64_t>(Median(c.window_ns));
  Answer(window);
}

void Host::Serve(SessionId session, uint64_t steps) {
  const uint64_t limit = steps_ + steps;
  while (steps_ < limit) {
    const auto it = clients_.find(session);
    if (it == clients_.end()) return;
    Client& c = it->second;
    for (EventBody& late : std::exchange(c.answers, {})) Answer(std::move(late));
    ServeStep(session, c);
    while (!c.inbox.empty()) {
      const Action action = c.inbox.front();
      c.inbox.pop_front();
      Do(session, c, action);
    }
    AnswerStore();
    AnswerThoughts();
    TickIfDue();
  }
}

std::optional<KeepOutcome> Host::outcome(SessionId session) const {
  const auto it = outcomes_.find(session);
  if (it == outcomes_.end()) return std::nullopt;
  return it->second;
}

const Plan& Host::in_use(SessionId session) const {
  static const Plan kDefault;
  const auto c = clients_.find(session);
  if (c == clients_.end()) return kDefault;
  const auto v = c->second.variants.find(c->second.in_use);
  return v == c->second.variants.end() ? kDefault : v->second;
}

uint64_t Host::steps_of(SessionId session) const {
  const auto it = clients_.find(session);
  return it == clients_.end() ? 0 : it->second.step;
}

double Host::EffectOf(const std::string& process, const Plan& plan) const {
  const auto it = processes_.find(process);
  if (it == processes_.end()) return 0;
  const auto effect = it->second.effect.find(plan);
  return effect == it->second.effect.end() ? 0 : effect->second;
}

bool Host::settled(SessionId session) const {
  const auto it = clients_.find(session);
  return it != clients_.end() && it->second.settled;
}

}  // namespace blazed::sim
