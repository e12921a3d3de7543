// Units that fit the host's queue, also where it shows one in the middle of a job: a host may begin
// to run ahead after some steps, a plan may be the first to do so, and what a host says of itself
// may be wrong.
#include "daemon/planner/counted.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {

// Before the lease's pairs are taken: where its units were too short they are no evidence. They are
// paid for, and the search may learn from them.
bool Tuning::State::SeeQueue(Session& s, const Outstanding& lease, const LeaseDone& done,
                             std::vector<PairSample>& pairs) {
  const bool noise = lease.purpose == LeasePurpose::kNoise;
  if (!s.units.See(SignsOf(lease.lease, done), noise)) return false;
  if (!s.race && lease.purpose == LeasePurpose::kRace) {
    SitOut(s, "its units were too short for a host that runs ahead of its device");
    s.sat_out = lease.race;
  }
  if (s.race && !s.race->ended()) {
    s.race->Abandon("its units were too short for a host that runs ahead of its device; units of " +
                    Counted(s.units.Shape(s.race->terms().discard).timed, "step") + " follow");
    s.race_again = true;
  }
  if (lease.purpose == LeasePurpose::kBurst || lease.purpose == LeasePurpose::kReturn) {
    for (PairSample& pair : pairs) pair.excluded = true;
  }
  return true;
}

// Scale and step time are measured again before anything else is.
void Tuning::State::ForgetNoise(Session& s) {
  s.plain = ScaleRing();
  s.discard = ScaleRing();
  s.noise_pairs = 0;
  s.noise_step_ns.clear();
}

// Scale and step time belong to the units they were measured in.
void Tuning::State::UnitsChanged(Session& s) {
  ForgetNoise(s);
  s.drain_cost.ForgetLengths();
  if (s.returning) {
    s.returning->ahead = s.returning->behind = ClippedBet();
    s.returning->ratios.clear();
    s.returning->scales.clear();
  }
  if (!s.burst) return;
  detector_.StartBurst();
  s.burst->ratios.clear();
  s.burst->scales.clear();
}

// The first noise lease of a queued host has shorter units: what a drained point costs is read off
// two lengths.
UnitShape Tuning::State::UnitFor(const Session& s, LeasePurpose purpose, bool discard) const {
  UnitShape unit = s.units.Shape(discard);
  if (purpose == LeasePurpose::kNoise && s.noise_pairs == 0 && !s.drain_cost.SawOtherThan(unit)) {
    unit.timed /= 2;
  }
  return unit;
}

// Only as much as is sure: where noise hides it no plan can be taken for faster by it either.
void Tuning::State::SeeFill(Session& s) {
  constexpr double kErrors = 2;
  const auto fill = s.drain_cost.Measured();
  if (!s.units.queued() || !fill || !(fill->step_ns > 0)) return;
  s.units.SeeFill((fill->point_ns - kErrors * fill->error_ns) / fill->step_ns, config_.delta0);
}

void Tuning::State::IssueNoise(Session& s) {
  IssueLease(s, LeasePurpose::kNoise, s.in_use, s.in_use,
             PairsALease(s.units.Shape(false), kRingPairs), false);
}

// True while the plan in use is measured against itself again.
bool Tuning::State::RefillNoise(Session& s) {
  const Stage stage = campaign_.stage;
  if (s.role == Role::kExploring && (stage == Stage::kNoise || stage == Stage::kSettling)) {
    return false;
  }
  if (space_.size() == 0 || s.noise_pairs >= kRingPairs) return false;
  if (AffordsNoise(s)) IssueNoise(s);
  return true;
}

// The same two plans in a race of its own: it has its own share of alpha, and only pairs that are
// drawn for it count.
bool Tuning::State::RaceAgain(Session& s) {
  if (RefillNoise(s)) return false;
  const Plan champion = s.race->champion(), challenger = s.race->challenger();
  RaceTerms terms = s.race->terms();
  CloseRace(s);
  const bool check = terms.kind == RaceKind::kVerification || terms.kind == RaceKind::kReplication;
  if (check) terms.alpha = SplitAlpha(config_.alpha, ++checks_);
  if (terms.kind == RaceKind::kSearch) terms.alpha = SplitAlpha(config_.alpha, ++split_);
  terms.max_pairs = PairCap(terms.alpha, terms.delta0, terms.delta1, s.ring(terms.discard).scale(),
                            config_.max_pairs_per_race);
  OpenRace(s, terms, champion, challenger);
  return true;
}

}  // namespace blazed::planner
