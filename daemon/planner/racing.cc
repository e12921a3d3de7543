// Pairs into verdicts.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "daemon/planner/counted.h"
#include "daemon/planner/interval.h"
#include "daemon/planner/scale.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

// Against the median of the race's earlier pairs, so that a large effect does not pass for noise.
double Residual(const Race& race, double ratio) {
  return race.counted() < 3 ? ratio : ratio - race.RecentEstimate();
}

std::optional<Plan> PlanOf(const Session& s, VariantId id) {
  if (id == kDefaultVariant) return Plan{};
  const auto it = s.variants.find(id);
  return it == s.variants.end() ? std::nullopt : std::optional(it->second.plan);
}

enum class Counting { kEvidence, kAll };

std::vector<double> RatiosOf(const std::vector<PairSample>& pairs, Counting counting) {
  std::vector<double> ratios;
  for (const PairSample& pair : pairs) {
    if (pair.excluded && counting == Counting::kEvidence) continue;
    if (!pair.aborted && !HasBothTimes(pair)) continue;
    ratios.push_back(pair.aborted ? kAbortedRatio : LogRatio(pair));
  }
  return ratios;
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void PushResiduals(ScaleRing& ring, const std::vector<double>& ratios, double predicted) {
  for (double ratio : ratios) {
    if (ratio != kAbortedRatio) ring.Push(ratio - predicted);
  }
}

// What the pairs of a lease cost: those that agree speak for themselves. Where none is evidence the
// steps were run all the same.
double ExpectedRatio(const RobustRatios& evidence, const std::vector<PairSample>& pairs,
                     double predicted, double scale) {
  const RobustRatios held =
      evidence.values.empty() ? HoldOutliers(RatiosOf(pairs, Counting::kAll), scale) : evidence;
  const bool agree = held.values.size() > 1 && held.scale == scale;
  return agree ? Median(held.values) : predicted;
}

std::string Story(const Race& race) {
  const double estimate = race.Estimate();
  return std::string(estimate >= 0 ? "faster by " : "slower by ") + PercentText(estimate) + " in " +
         Counted(race.counted(), "pair") + "; " + race.reason();
}

}  // namespace

void Tuning::State::OpenRace(Session& s, RaceTerms terms, const Plan& champion,
                             const Plan& challenger) {
  terms.interval_alpha = config_.alpha;
  terms.unit = s.units.Shape(terms.discard);
  s.race_again = false;
  const RaceId id = races_earlier_ + ++races_opened_;
  s.race.emplace(id, terms, champion, challenger, now_);
  if (champion.empty()) s.race->GoOnFrom(tails_[challenger]);
  s.ledger.AddRace();
  campaign_.ledger.AddRace();
}

bool Tuning::State::RaceStep(Session& s) {
  if (s.race->ended() && s.race_again) return RaceAgain(s);
  if (s.race->ended()) {
    const Race race = *s.race;
    CloseRace(s);
    RaceEnded(s, race);
    return true;
  }
  const auto champion = Proven(s, s.race->champion());
  const auto challenger = Proven(s, s.race->challenger());
  if (!champion || !challenger) {
    s.race->Abandon("one of its plans cannot run here any more");
    return true;
  }
  GivePairs(s, *s.race);
  return false;
}

// Files the finished race; what follows from it is RaceEnded's.
void Tuning::State::CloseRace(Session& s) {
  Emit(KeepRace{s.race->Record(s.ready.session, now_)});
  if (s.race->champion().empty()) tails_[s.race->challenger()] = s.race->tail();
  s.race.reset();
}

void Tuning::State::TakePairs(Session& s, const Outstanding& lease,
                              const std::vector<PairSample>& pairs) {
  switch (lease.purpose) {
    case LeasePurpose::kNoise:
      return TakeNoise(s, lease, pairs);
    case LeasePurpose::kBurst:
      ChargeCheck(s, lease, pairs);
      return TakeBurst(s, pairs);
    case LeasePurpose::kReturn:
      ChargeCheck(s, lease, pairs);
      return TakeReturn(s, pairs);
    case LeasePurpose::kDwell:
      return TakeDwell(s, lease, pairs);
    case LeasePurpose::kProposal:
    case LeasePurpose::kRace:
      return TakeTrial(s, lease, pairs);
  }
}

void Tuning::State::TakeNoise(Session& s, const Outstanding& lease,
                              const std::vector<PairSample>& pairs) {
  const RaceKind kind = s.role == Role::kServing ? RaceKind::kReplication : RaceKind::kSearch;
  for (Ledger* ledger : {&s.ledger, &campaign_.ledger}) {
    ledger->AddPairs(kind, pairs.size());
    ledger->AddNoise(pairs.size());
  }
  const UnitShape unit{lease.lease.warm_steps, lease.lease.timed_steps};
  s.drain_cost.Learn(unit, pairs);
  SeeFill(s);
  if (unit != s.units.Shape(false)) return;  // shorter ones, for the cost of a drained point alone
  s.noise_pairs += static_cast<uint32_t>(pairs.size());
  for (const PairSample& pair : pairs) {
    if (pair.excluded || pair.aborted) continue;
    s.plain.Push(LogRatio(pair));
    s.discard.Push(LogRatio(pair));
    s.noise_step_ns.push_back(pair.champion_ns);
    s.noise_step_ns.push_back(pair.challenger_ns);
  }
  // Where every pair was left out, what the host says of its step has to do.
  if (!s.noise_step_ns.empty()) s.step_ns = Median(s.noise_step_ns);
  const bool of_default = s.role == Role::kExploring && s.in_use == kDefaultVariant;
  if (of_default) campaign_.default_step_ns = s.step_ns;
}

// Time lost on the slower arm, against the plan in use. A step that the machine held up says
// nothing about its plan: a pair counts no further from what is `expected` of its ratio than noise
// reaches. That goes for pairs that are no evidence as well: the job ran their steps.
void Tuning::State::CountExcess(Session& s, const Outstanding& lease,
                                const std::vector<PairSample>& pairs, double expected,
                                double scale) {
  // Who only helps may use neither: then the champion is what the time is lost against.
  const bool champion_in_use = lease.challenger != s.in_use;
  const Variant* other = s.Find(champion_in_use ? lease.challenger : lease.champion);
  const Plan plan = other == nullptr ? Plan{} : other->plan;
  const double timed = lease.lease.timed_steps, warm = lease.lease.warm_steps;
  double excess = 0;
  for (const PairSample& pair : pairs) {
    if (pair.aborted) {
      excess += std::max(0.0, pair.challenger_ns - s.step_ns) * (1 + warm / timed);
      continue;
    }
    // A warm step is as slow as a timed one.
    const double ratio = HasBothTimes(pair) ? HoldNear(LogRatio(pair), expected, scale) : expected;
    excess += (warm + timed) * s.step_ns * std::expm1(champion_in_use ? -ratio : ratio);
  }
  s.budget.Spend(s.ledger.AddExcess(plan, excess));
  campaign_.ledger.AddExcess(plan, excess);
}

// Pairs of a race or of a proposal: evidence first, then what the search learns, then what they
// cost.
void Tuning::State::TakeTrial(Session& s, const Outstanding& lease,
                              const std::vector<PairSample>& pairs) {
  const auto champion = PlanOf(s, lease.champion), challenger = PlanOf(s, lease.challenger);
  if (!champion || !challenger) return s.budget.Spend(lease.expected_ns);  // dropped meanwhile
  for (Ledger* ledger : {&s.ledger, &campaign_.ledger}) {
    ledger->AddPairs(lease.of_kind, pairs.size());
  }
  const bool racing = lease.purpose == LeasePurpose::kRace;
  Race* race = racing ? RaceOf(s, lease) : nullptr;  // null also behind its end
  ScaleRing& ring = s.ring(lease.discard);
  const double before = ring.scale();
  if (racing) TakeEvidence(s, race, ring, pairs);
  const RobustRatios held = HoldOutliers(RatiosOf(pairs, Counting::kEvidence), before);
  campaign_.measured = campaign_.measured || !held.values.empty();
  double predicted = search_.Predict(*champion, *challenger).first;
  if (!held.values.empty()) {
    const double mean = Mean(held.values);
    predicted = search_.Learn(*champion, *challenger, mean, held.scale, held.values.size());
    if (race == nullptr) PushResiduals(ring, held.values, predicted);
  }
  CountExcess(s, lease, pairs, ExpectedRatio(held, pairs, predicted, before), before);
  RecordOf(*challenger).pairs += held.values.size();  // those that say something of it
  NoteStanding(*challenger);
}

// `race`: null where it has its row already; then all pairs are late.
void Tuning::State::TakeEvidence(Session& s, Race* race, ScaleRing& ring,
                                 const std::vector<PairSample>& pairs) {
  uint64_t late = 0;
  for (const PairSample& pair : pairs) {
    if (race == nullptr || race->ended()) ++late;
    if (race == nullptr) continue;
    const double scale = ring.scale();
    if (!pair.excluded && !pair.aborted) ring.Push(Residual(*race, LogRatio(pair)));
    race->Add(pair, scale, s.ready.session);
  }
  for (Ledger* ledger : {&s.ledger, &campaign_.ledger}) ledger->AddLate(late);
}

void Tuning::State::RaceEnded(Session& s, const Race& race) {
  if (s.role == Role::kServing) return ServeReplicated(s, race);
  switch (race.terms().kind) {
    case RaceKind::kVerification:
      return AfterVerification(s, race);
    case RaceKind::kReplication:
      return AfterReplication(s, race);
    case RaceKind::kSham:
      return AfterSham(s, race);
    default:
      return AfterSearchRace(s, race);
  }
}

void Tuning::State::AfterSearchRace(Session& s, const Race& race) {
  const Plan plan = race.challenger();
  if (race.outcome() != RaceOutcome::kWon) {
    const bool lost = race.outcome() == RaceOutcome::kLost;
    Judge(plan, lost ? Verdict::kLost : Verdict::kUndecided, Story(race));
    // What the search learned of it is its typical step, so it would be named again.
    if (race.vetoed()) search_.GiveUp(plan);
    return;
  }
  Judge(plan, Verdict::kWon, Story(race));
  if (!campaign_.champion.empty()) campaign_.earlier.push_back(campaign_.champion);
  campaign_.champion = plan;
  campaign_.champion_process = s.ready.process;
  campaign_.proof.reset();
  ClearBatch();
  search_.NoteAccept();
  if (const auto variant = Proven(s, plan)) {
    IssueAdopt(s, *variant, AdoptReason::kWonRace, false);
    s.step_ns = race.MedianChallengerNs(s.ready.session);
  }
  campaign_.gain = search_.Predict(Plan{}, plan).first;
  if (!campaign_.verified) SetStage(s, Stage::kVerify);
}

// Carry-over: a champion that pays on the first step after each switch makes an equal plan look
// faster. The discard mode does not see it, so where a claim lies above all that a race in that
// mode leaves possible, the search saw something that was in its pairs and not in the plan. It
// starts over, and everything after runs in discard mode.
void Tuning::State::LookForCarry(const Race& race, double claimed) {
  if (campaign_.discard_mode || race.Record(0, {}).effect.high >= claimed) return;
  campaign_.discard_mode = true;
  search_.Reset();
}

void Tuning::State::AfterVerification(Session& s, const Race& race) {
  if (race.outcome() == RaceOutcome::kWon) {
    campaign_.verified = true;
    campaign_.gain = race.Estimate();
    SetStage(s, Stage::kSearch);
    return;
  }
  if (race.vetoed()) return DropForItsTail(s, race);
  const double claimed = campaign_.gain;
  DemoteChampion(s, "the win was not there without the first step after a switch: " + Story(race));
  LookForCarry(race, claimed);
  SetStage(s, Stage::kSearch);
}

// The typical step is faster, so the search would name the plan again.
void Tuning::State::DropForItsTail(Session& s, const Race& race) {
  DemoteChampion(s, Story(race));
  search_.GiveUp(race.challenger());
  SetStage(s, Stage::kSearch);
}

void Tuning::State::DemoteChampion(Session& s, const std::string& reason) {
  const Plan plan = campaign_.champion;
  if (plan.empty()) return;
  campaign_.champion = InForce();
  campaign_.proof.reset();
  campaign_.gain = 0;
  ClearBatch();
  campaign_.contender.reset();
  campaign_.sham.reset();
  if (s.race) {
    s.race->Abandon(reason);
    CloseRace(s);
  }
  const VariantId back = Proven(s, campaign_.champion).value_or(kDefaultVariant);
  if (s.in_use != back) IssueAdopt(s, back, AdoptReason::kDemoted, false);
  const double settled = campaign_.goes_on ? static_cast<double>(settlement_->settled_step_ns) : 0;
  s.step_ns = settled > 0 ? settled : campaign_.default_step_ns;
  if (!s.failed.contains(plan)) Judge(plan, Verdict::kLost, reason);
  campaign_.contender = ChampionBefore(s);
}

// The one that the failed champion had beaten may be the faster one of what is left, and is known
// best: it races first.
std::optional<Plan> Tuning::State::ChampionBefore(const Session& s) {
  while (!campaign_.earlier.empty()) {
    const Plan plan = campaign_.earlier.back();
    campaign_.earlier.pop_back();
    const bool runs = !s.failed.contains(plan) && !search_.GivenUp(plan);
    if (runs && plan != campaign_.champion) return plan;
  }
  return std::nullopt;
}

void Tuning::State::NoteEffects(const Race& race) {
  std::vector<SessionEffect>& effects = effects_[race.challenger()];
  for (const SessionEffect& effect : EffectsOf(race)) effects.push_back(effect);
}

void Tuning::State::AfterReplication(Session& s, const Race& race) {
  NoteEffects(race);
  if (campaign_.stage == Stage::kCandidate) return AfterCandidate(s, race);
  switch (race.outcome()) {
    case RaceOutcome::kWon:
      TakeAsVerified(race);
      return StartDwelling(s, race, SettlementKind::kInJob);
    case RaceOutcome::kUndecided:
      Judge(race.challenger(), Verdict::kUndecided, "replication: " + Story(race));
      // The rebuild took it out of use. It stays provisional in this session, where no check comes
      // any more, unless its pairs show a win that left.
      if (const auto variant = Proven(s, race.challenger()); variant && race.Estimate() > 0) {
        s.in_use = *variant;
      }
      return EndUndecided(s, "the win could not be told from the noise after a rebuild");
    case RaceOutcome::kLost:
      return race.vetoed() ? DropForItsTail(s, race) : AfterLostReplication(s, race);
  }
}

void Tuning::State::TakeAsVerified(const Race& race) {
  campaign_.gain = race.Estimate();
  campaign_.champion = race.challenger();
  campaign_.verified = true;
}

// A plan from elsewhere. One whose search had not ended is the champion that it goes on with.
void Tuning::State::AfterCandidate(Session& s, const Race& race) {
  const bool unfinished = std::exchange(campaign_.candidate_unfinished, false);
  campaign_.candidate.reset();
  if (race.outcome() != RaceOutcome::kWon) {
    const bool lost = race.outcome() == RaceOutcome::kLost;
    if (race.vetoed()) search_.GiveUp(race.challenger());
    Judge(race.challenger(), lost ? Verdict::kLost : Verdict::kUndecided,
          "not replicated here: " + Story(race));
    return SetStage(s, Stage::kScout);
  }
  TakeAsVerified(race);
  const bool elsewhere = campaign_.champion_process != s.ready.process;
  if (!unfinished) {
    const auto kind = elsewhere ? SettlementKind::kReplicated : SettlementKind::kInJob;
    return StartDwelling(s, race, kind);
  }
  if (elsewhere) campaign_.proof = race;
  campaign_.champion_process = s.ready.process;
  if (const auto v = Proven(s, race.challenger())) {
    IssueAdopt(s, *v, AdoptReason::kReplicatedHere, false);
  }
  SetStage(s, Stage::kScout);
}

void Tuning::State::AfterLostReplication(Session& s, const Race& race) {
  const double claimed = campaign_.gain;
  DemoteChampion(s, "not there after a rebuild: " + Story(race));
  search_.GiveUp(race.challenger());
  if (++campaign_.failed_replications >= kReplications) {
    return SettleNoWinner(s, "wins were found, but none was there after a rebuild");
  }
  LookForCarry(race, claimed);
  SetStage(s, Stage::kSearch);
}

}  // namespace blazed::planner
