// Sham races: now and then the plan in use races against one that runs the same, as a control. No
// such race may be won but by chance. One that is won says that the pairs of this host carry
// something that is in no plan.
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {

// The champion and an option that shows nowhere run the same. Plans that run as the default does
// are of no use: their probes compare nothing.
void Tuning::State::ConsiderSham(Session& s) {
  if (campaign_.champion.empty() || campaign_.goes_on) return;
  if (search_.profile().max_builds > 0) return;
  std::vector<Plan> equal;
  for (size_t t = 0; t < space_.size(); ++t) {
    if (!table_.NoOp(t)) continue;
    Toggles on = space_.Encode(campaign_.champion);
    if (on[t]) continue;
    space_.Set(on, t, true);
    Plan plan = space_.Decode(on);
    // Options of one decision exclude each other, so the champion may have lost one of its own.
    if (plan.size() == campaign_.champion.size() + 1) equal.push_back(std::move(plan));
  }
  if (equal.empty() || s.draw.Uniform() >= config_.sham_share) return;
  campaign_.sham = equal[s.draw.Below(equal.size())];
  s.failed.erase(*campaign_.sham);
}

// A plan that was built as a sham and runs as something else is a candidate like any other.
bool Tuning::State::IsSham(Session& s, const Variant& v) {
  if (!campaign_.sham || v.plan != *campaign_.sham) return false;
  const auto champion = Proven(s, campaign_.champion);
  if (champion && s.Find(*champion)->signature == v.signature) {
    Judge(v.plan, Verdict::kDuplicate, "runs the same as " + space_.Text(campaign_.champion));
    return true;
  }
  campaign_.sham.reset();
  return false;
}

bool Tuning::State::ShamStep(Session& s) {
  const Plan plan = *campaign_.sham;
  if (!Prepare(s, {plan})) return false;
  if (!campaign_.sham) return true;
  if (!Proven(s, plan)) {
    EndSham(s);
    return true;
  }
  RaceTerms terms;
  terms.kind = RaceKind::kSham;
  terms.alpha = config_.alpha;
  terms.beta = config_.beta;
  terms.delta0 = search_.profile().delta0;
  terms.delta1 = search_.profile().delta1;
  terms.discard = campaign_.discard_mode;
  terms.max_pairs = PairCap(terms.alpha, terms.delta0, terms.delta1, s.ring(terms.discard).scale(),
                            config_.max_pairs_per_race);
  OpenRace(s, terms, campaign_.champion, plan);
  return true;
}

void Tuning::State::EndSham(Session& s) {
  const Plan plan = *campaign_.sham;
  campaign_.sham.reset();
  const auto known = s.by_plan.find(plan);
  if (known != s.by_plan.end()) IssueDrop(s, known->second);
  s.failed.try_emplace(plan, Verdict::kDuplicate);
}

// Nothing is accepted from it. The first one that is won is taken for carry-over: everything after
// runs without the first steps after a switch. One that is won even so leaves nothing to believe.
void Tuning::State::AfterSham(Session& s, const Race& race) {
  if (campaign_.sham) EndSham(s);
  if (race.outcome() != RaceOutcome::kWon) return;
  if (campaign_.discard_mode) {
    const std::string why = "a plan that runs the same as the one in use won a race against it";
    DemoteChampion(s, why);
    return EndUndecided(s, why);
  }
  campaign_.discard_mode = true;
  campaign_.contender.reset();
  search_.Reset();
}

}  // namespace blazed::planner
