// What exploring may still cost this job: every directive is paid from its session's budget. An
// empty one pauses the search, which costs nothing, and the job runs on the plan in use.
#include <algorithm>
#include <limits>

#include "daemon/planner/counted.h"
#include "daemon/planner/forecast.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr double kProbeSteps = 1.3;  // of one batch, in steps, until one was measured
constexpr Nanos kShortPause = std::chrono::seconds(30);
constexpr double kGoOnFor = 2;  // a pause ends with room for more than the next directive
constexpr uint32_t kReplicationPairs = 100;  // of a gain near 1 %; a large one takes 40

}  // namespace

double Tuning::State::BuildNs(const Session& s) const {
  const uint64_t of_default = std::min(s.ready.default_build_ns, kLongestUnitNs);
  return s.ledger.UsualBuildNs(static_cast<double>(of_default));
}

// Where the host guesses it of each of the plan's options: the longest of those.
std::optional<uint64_t> Tuning::State::GuessedBuildNs(const Session& s, const Plan& plan) const {
  const std::vector<uint64_t>& guesses = s.ready.build_ns;
  std::optional<uint64_t> longest;
  for (const Choice& choice : plan) {
    const size_t place = choice.decision * kMostOptions + choice.option;
    if (place >= guesses.size() || guesses[place] == 0) return std::nullopt;
    longest = std::max(longest.value_or(0), std::min(guesses[place], kLongestUnitNs));
  }
  return longest;
}

double Tuning::State::BuildNs(const Session& s, const Plan& plan) const {
  const std::optional<uint64_t> guess = GuessedBuildNs(s, plan);
  return guess ? static_cast<double>(*guess) : BuildNs(s);
}

// Of one variant.
double Tuning::State::ProbeNs(const Session& s, uint32_t batches) const {
  const double usual = s.ledger.UsualProbeNs();
  return usual > 0 ? usual : kProbeSteps * (batches + 1) * s.step_ns;
}

double Tuning::State::LeaseNs(const Session& s, uint32_t pairs, bool two_plans,
                              bool discard) const {
  const double gain = AtRest(s) && settlement_ ? settlement_->gain.estimate : campaign_.gain;
  const double regret = two_plans ? std::max(kRegretStepsOfAPair, gain) * s.step_ns : 0;
  const double drain = 2 * static_cast<double>(s.drain_unit_ns);
  return pairs * (static_cast<double>(s.units.Shape(discard).steps()) * regret + drain);
}

// One plan more: build, probes and pairs.
double Tuning::State::PlanNs(const Session& s) const {
  return BuildNs(s) + ProbeNs(s, config_.probe_batches) +
         LeaseNs(s, search_.profile().pairs_per_proposal, true, campaign_.discard_mode);
}

// What a search leaves once there is a champion: enough to rebuild, prove and replicate it.
double Tuning::State::KeptBackNs(const Session& s) const {
  const bool searching = campaign_.stage == Stage::kScout || campaign_.stage == Stage::kSearch;
  if (s.role != Role::kExploring || !searching || campaign_.champion.empty()) return 0;
  return BuildNs(s) + ProbeNs(s, config_.probe_batches) + LeaseNs(s, kReplicationPairs, true, true);
}

// Beside what is out already, and what has come back and is not yet paid.
bool Tuning::State::Fits(const Session& s, double ns) const {
  ns += s.drain_cost.OwedNs(s.step_ns);
  for (const auto& [id, d] : s.open) ns += d.ExpectedNs();
  return s.budget.Covers(ns, now_);
}

bool Tuning::State::Affords(Session& s, double ns, double goes_on_at) {
  const double kept = KeptBackNs(s);
  const double needed = s.pause ? std::max(ns + kept, s.pause->needed_ns) : ns + kept;
  if (Fits(s, needed)) {
    EndPause(s);
    return true;
  }
  // What is out may take less than was expected of it.
  if (!s.Busy() && (!s.pause || s.phase != Phase::kWaiting)) {
    BeginPause(s, std::max(needed, goes_on_at + kept));
  }
  return false;
}

bool Tuning::State::AffordsProbe(Session& s, size_t variants, uint32_t batches) {
  const double ns = static_cast<double>(variants) * ProbeNs(s, batches);
  return Affords(s, ns, kGoOnFor * ns);
}

bool Tuning::State::AffordsLease(Session& s, VariantId champion, VariantId challenger,
                                 uint32_t pairs, bool discard) {
  const double ns = LeaseNs(s, pairs, champion != challenger, discard);
  return Affords(s, ns, kGoOnFor * ns);
}

bool Tuning::State::AffordsNoise(Session& s) {
  return AffordsLease(s, s.in_use, s.in_use, kRingPairs, false);
}

// How many of `wanted` builds may be asked for at once; 0: it waits for the budget, because what is
// built has to be proven and measured as well. One at a time until it is known what one takes. What
// is settled is served whatever it costs: that is no exploring.
size_t Tuning::State::BuildsNow(Session& s, size_t wanted) {
  if (s.role == Role::kServing) return wanted;
  if (!Affords(s, PlanNs(s), PlanNs(s))) return 0;
  const size_t allowed = std::min<size_t>(wanted, BuildsLeft(s));
  const bool known = s.ledger.KnowsBuilds();
  const double together = Budget::kTogether * static_cast<double>(allowed) * BuildNs(s);
  return known && Fits(s, together + KeptBackNs(s)) ? allowed : std::min<size_t>(allowed, 1);
}

void Tuning::State::Charge(Session& s, double ns) {
  if (s.role != Role::kServing) s.budget.Spend(ns);
}

void Tuning::State::ChargeUnanswered(Session& s, const Outstanding& directive) {
  if (directive.held) return;  // the host never had it
  if (directive.kind == DirectiveKind::kLease) return s.budget.Spend(directive.ExpectedNs());
  Charge(s, directive.ExpectedNs());
}

// Nobody waits for their answers any more; the host may have spent their time all the same.
void Tuning::State::DropOpenWork(Session& s) {
  std::erase_if(s.open, [&](const auto& each) {
    if (each.second.kind == DirectiveKind::kAdopt) return false;
    ChargeUnanswered(s, each.second);
    return true;
  });
}

// A check runs the fallback on real steps as well. What an event held up costs as much as was
// expected of it.
void Tuning::State::ChargeCheck(Session& s, const Outstanding& lease,
                                const std::vector<PairSample>& pairs) {
  const double expected =
      std::max(kRegretStepsOfAPair, settlement_ ? settlement_->gain.estimate : 0);
  double excess = 0;
  for (const PairSample& pair : pairs) {
    const bool held_up = pair.excluded || pair.aborted;
    excess += held_up ? expected * s.step_ns : pair.challenger_ns - pair.champion_ns;
  }
  const double steps = lease.lease.warm_steps + lease.lease.timed_steps;
  s.budget.Spend(std::max(0.0, steps * excess));
}

// A check that is due and not paid for stays due.
bool Tuning::State::PaysCheck(const Session& s) const {
  return Fits(s, ProbeNs(s, 1) + LeaseNs(s, DriftDetector::kBurstPairs, true, settlement_->carry));
}

// Nothing that a search waits for its budget for comes after the job's end.
std::optional<Moment> Tuning::State::JobEnd(const Session& s) const {
  std::optional<Moment> end;
  if (s.ready.tune_until > Nanos(0)) end = s.since + std::min(s.ready.tune_until, kLongestJob);
  if (s.ready.tune_until_steps > 0 && s.step_ns > 0) {
    const uint64_t done = s.first_step ? s.latest_step - *s.first_step : 0;
    const double left = static_cast<double>(s.ready.tune_until_steps) - static_cast<double>(done);
    const double longest = static_cast<double>(kLongestJob.count());
    const double ns = std::clamp(left * s.step_ns, 0.0, longest);
    const Moment steps_end = now_ + Nanos(static_cast<int64_t>(ns));
    end = end ? std::min(*end, steps_end) : steps_end;
  }
  return end;
}

// As far as it is known: that of the window once it has begun, or the job's.
std::optional<Moment> Tuning::State::SearchEnd(const Session& s) const {
  const std::optional<Moment> of_job = JobEnd(s), opened = s.ledger.opened();
  if (!opened || config_.max_window <= Nanos(0)) return of_job;
  const Moment of_window = *opened + config_.max_window + PausedFor(s);
  return of_job ? std::min(*of_job, of_window) : of_window;
}

void Tuning::State::BeginPause(Session& s, double needed_ns) {
  BudgetPause pause;
  pause.needed_ns = needed_ns;
  pause.until = s.budget.CoversAt(needed_ns + s.drain_cost.OwedNs(s.step_ns), now_);
  const auto end = JobEnd(s);
  if (pause.until && end && *pause.until > *end) pause.until.reset();
  pause.since = now_;
  pause.phase = s.phase;
  s.paused = PausedFor(s);
  s.pause = pause;
  SetPhase(s, Phase::kWaiting, BudgetNote(s));
}

void Tuning::State::EndPause(Session& s) {
  if (!s.pause) return;
  const Phase phase = s.pause->phase;
  s.paused = PausedFor(s);
  s.pause.reset();
  if (s.phase == Phase::kWaiting) SetPhase(s, phase, {});
}

Nanos Tuning::State::PausedFor(const Session& s) const {
  return s.paused + (s.pause ? now_ - s.pause->since : Nanos(0));
}

std::string Tuning::State::BudgetNote(const Session& s) const {
  const Nanos owed(static_cast<int64_t>(s.drain_cost.OwedNs(s.step_ns)));
  std::string note = "the budget for exploring does not pay for more (" +
                     SecondsText(s.budget.spent() + owed) + " of " +
                     SecondsText(s.budget.Allowed(now_)) + " spent)";
  if (s.pause && s.pause->until) {
    note += "; it goes on in about " + SecondsText(std::max(*s.pause->until - now_, Nanos(0)));
  }
  return note;
}

// The one that has waited longest since its last turn, of those who can pay for one.
Session* Tuning::State::NextToExplore() {
  Session* next = nullptr;
  bool next_pays = false;
  for (auto& [id, s] : sessions_) {
    if (s.role != Role::kWaiting || s.ready.mode != Mode::kTune) continue;
    const bool pays = Fits(s, PlanNs(s));
    const bool better =
        next == nullptr || (pays && !next_pays) || (pays == next_pays && s.turn < next->turn);
    if (!better) continue;
    next = &s;
    next_pays = pays;
  }
  return next;
}

// Worth waiting for, with a champion in use that could be settled instead, or with another job that
// could go on.
bool Tuning::State::PauseIsShort(const Session& s) const {
  return s.pause && s.pause->until && *s.pause->until - s.pause->since < kShortPause;
}

// A job that has spent its budget does not hold up one that has not. In a short pause that is not
// worth it: the other one begins with its noise, and replicates the champion first.
void Tuning::State::PassTurn(Session& s) {
  if (explorer_ != s.ready.session || s.role != Role::kExploring || s.Busy()) return;
  if (!s.pause) return PassWait(s);
  if (PauseIsShort(s)) return;
  const Session* next = NextToExplore();
  if (next == nullptr || !Fits(*next, PlanNs(*next))) return;
  if (s.race) {
    s.race->Abandon("another job goes on with the search");
    CloseRace(s);
  }
  const std::string note = BudgetNote(s) + "; another job goes on with the search";
  EndPause(s);
  s.role = Role::kWaiting;
  LeaveTurn(s);
  SetPhase(s, Phase::kWaiting, note);
  GrantTurns();
}

CostRecord Tuning::State::CostOf(const Session& s) const {
  CostRecord cost = s.ledger.Record(now_);
  cost.budget_spent = s.budget.spent();
  cost.budget_allowed = s.budget.Allowed(now_);
  return cost;
}

}  // namespace blazed::planner
