#include "daemon/planner/tuning.h"

#include <utility>

#include "daemon/planner/tuning_state.h"

namespace blazed::planner {

Tuning::Tuning(WorkloadSpec workload, Contract contract, TuningConfig config, TuningMemory memory)
    : state_(std::make_unique<State>(std::move(workload), contract, config, std::move(memory))) {}
Tuning::~Tuning() = default;
Tuning::Tuning(Tuning&&) noexcept = default;
Tuning& Tuning::operator=(Tuning&&) noexcept = default;

std::vector<Action> Tuning::Apply(const Event& event) { return state_->Apply(event); }
std::vector<uint8_t> Tuning::SaveSurrogate() const { return state_->SaveSurrogate(); }
Phase Tuning::phase(SessionId session) const { return state_->phase(session); }
bool Tuning::IsOpen(SessionId session, DirectiveId directive) const {
  return state_->IsOpen(session, directive);
}
std::shared_ptr<const Thought> Tuning::FindThought(SessionId session, uint64_t request) const {
  return state_->FindThought(session, request);
}

namespace {

SearchProfile FirstProfile(const Space& space, const TuningConfig& config) {
  Surroundings here;
  here.toggles = space.size();
  return ChooseProfile(here, config);
}

// Verdicts of an earlier process that hold in this one as well: being stricter than needed costs a
// plan, not a model.
bool StaysRejected(Verdict verdict) {
  return verdict == Verdict::kRejectedBroken || verdict == Verdict::kRejectedDifferent ||
         verdict == Verdict::kRejectedMemory;
}

// For rare steps that an earlier process saw: this one's first pairs would not tell of them. A
// verdict says how far the plan came before it says that.
bool LostToItsTail(const PlanRecord& record) {
  const bool lost = record.verdict == Verdict::kLost || record.verdict == Verdict::kDemoted;
  return lost && record.reason.find(kTailReason) != std::string::npos;
}

// A plan from elsewhere that was judged here is not raced again in every process: each race of it
// would be another chance to be wrong.
bool JudgedHere(const std::map<Plan, PlanRecord>& plans, const Plan& plan) {
  const auto known = plans.find(plan);
  if (known == plans.end()) return false;
  const Verdict verdict = known->second.verdict;
  return verdict == Verdict::kLost || verdict == Verdict::kDemoted || StaysRejected(verdict);
}

}  // namespace

Tuning::State::State(WorkloadSpec workload, Contract contract, TuningConfig config,
                     TuningMemory memory)
    : contract_(contract),
      config_(config),
      shared_space_(std::make_shared<const Space>(std::move(workload), contract)),
      table_(&space_),
      search_(&space_, FirstProfile(space_, config), config.search),
      earlier_(std::move(memory.searches)),
      races_earlier_(memory.races) {
  // A daemon that died may have left one race or check open that no row tells of.
  const uint64_t untold = memory.races > 0 || !memory.plans.empty() ? 1 : 0;
  split_ = memory.races + untold;
  checks_ = memory.checks + untold;
  if (search_.Restore(memory.surrogate)) search_.NextProcess(SessionSpread({}));
  for (PlanRecord& record : memory.plans) {
    if (!space_.Valid(record.plan)) continue;
    if (record.pairs > 0) search_.NoteTried(record.plan);
    if (LostToItsTail(record)) search_.GiveUp(record.plan);
    if (StaysRejected(record.verdict)) Blame(record.plan, record.verdict);
    plans_[record.plan] = std::move(record);
  }
  campaign_.suspects.clear();
  if (memory.settlement && space_.Valid(memory.settlement->plan)) {
    settlement_ = std::move(memory.settlement);
    const bool default_serves = settlement_->kind == SettlementKind::kNoWinner;
    if (default_serves) RememberDemoted();
    timer_ = memory.drift;
    // Its row may be lost: it is written behind the settlement's.
    if (!timer_ && (!default_serves || demoted_)) {
      timer_ = {settlement_->id, kFirstGapSteps, kFirstGapSteps};
    }
    if (timer_) timer_kept_at_ = timer_->steps_left;
    return;
  }
  RememberDemoted();  // the search behind the demotion may have no answer yet
  if (memory.candidate && space_.Valid(memory.candidate->plan) && !memory.candidate->plan.empty() &&
      !JudgedHere(plans_, memory.candidate->plan)) {
    campaign_.candidate = memory.candidate->plan;
  }
}

std::vector<Action> Tuning::State::Apply(const Event& event) {
  actions_.clear();
  // The shell's clock is monotonic; a step back would make durations negative.
  now_ = std::max(now_, event.at);
  std::visit([this](const auto& body) { On(body); }, event.body);
  // Windows come by the thousand and free nobody for a race.
  if (!std::holds_alternative<ServiceWindow>(event.body)) AskPartners();
  return std::exchange(actions_, {});
}

bool Tuning::State::IsOpen(SessionId session, DirectiveId directive) const {
  const auto it = sessions_.find(session);
  return it != sessions_.end() && it->second.open.contains(directive);
}

Phase Tuning::State::phase(SessionId session) const {
  const auto it = sessions_.find(session);
  return it == sessions_.end() ? Phase::kWaiting : it->second.phase;
}

}  // namespace blazed::planner
