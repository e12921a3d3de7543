// The stages of a search, in order: noise and forecast, candidate, scout, search. The last ones are
// in settle.cc.
#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/planner/forecast.h"
#include "daemon/planner/interval.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr size_t kScoutLot = 16;
constexpr double kScoutSteps = 300;    // a scout of every single change may cost this many steps
constexpr double kSearchShare = 0.65;  // of the window; the rest is for replication
constexpr size_t kSuspectLot = 8;
constexpr uint32_t kRejectedInRow = 8;

Phase PhaseOf(Stage stage) {
  switch (stage) {
    case Stage::kNoise:
      return Phase::kForecast;
    case Stage::kScout:
    case Stage::kSearch:
      return Phase::kSearch;
    case Stage::kVerify:
      return Phase::kVerify;
    default:
      return Phase::kReplicate;
  }
}

double Share(Nanos spent, Nanos limit) {
  if (limit <= Nanos(0)) return 0;
  return static_cast<double>(spent.count()) / static_cast<double>(limit.count());
}

}  // namespace

void Tuning::State::SetStage(Session& s, Stage stage) {
  campaign_.stage = stage;
  SetPhase(s, PhaseOf(stage), {});
}

bool Tuning::State::ExploreStep(Session& s) {
  if (BudgetEnds(s) || RefillNoise(s)) return false;
  const bool searching = campaign_.stage == Stage::kSearch || campaign_.stage == Stage::kVerify;
  if (searching && !Proven(s, campaign_.champion)) {
    if (GoesOn(s) && campaign_.champion == InForce()) {
      LoseSettled(s, "the settled plan cannot run here any more");
      return false;
    }
    DemoteChampion(s, "the plan in use cannot run here any more");
  }
  switch (campaign_.stage) {
    case Stage::kNoise:
      return NoiseStep(s);
    case Stage::kCandidate:
      return CandidateStep(s);
    case Stage::kScout:
      return ScoutStep(s);
    case Stage::kSearch:
      return SearchStep(s);
    case Stage::kVerify:
      return VerifyStep(s);
    case Stage::kRebuild:
      return RebuildStep(s);
    case Stage::kReplicate:
      return ReplicateStep(s);
    case Stage::kDwell:
      return DwellStep(s);
    case Stage::kSettling:
      return false;
  }
  return false;
}

// How much is spent of what the host allows in time or steps.
double Tuning::State::JobShare(const Session& s) const {
  double share = Share(now_ - s.since, s.ready.tune_until);
  if (s.ready.tune_until_steps > 0 && s.first_step) {
    share = std::max(share, static_cast<double>(s.latest_step - *s.first_step) /
                                static_cast<double>(s.ready.tune_until_steps));
  }
  return share;
}

// How much of the tightest limit is spent: the window, or what the host allows.
double Tuning::State::BudgetShare(const Session& s) const {
  const double share = JobShare(s);
  if (!s.ledger.opened()) return share;
  return std::max(share, Share(now_ - *s.ledger.opened() - PausedFor(s), config_.max_window));
}

bool Tuning::State::BudgetEnds(Session& s) {
  if (campaign_.stage == Stage::kSettling || campaign_.stage == Stage::kDwell) return false;
  const double share = BudgetShare(s);
  if (share >= 1) {
    EndUndecided(s, "the budget ended before the search did");
    return true;
  }
  const bool searching = campaign_.stage == Stage::kScout || campaign_.stage == Stage::kSearch;
  const bool over = share >= kSearchShare || (s.pause && !PauseIsShort(s));
  if (searching && over && !campaign_.champion.empty() && !s.Busy()) {
    EndPause(s);
    if (s.race) {
      s.race->Abandon("the search's share of the budget ended");
      CloseRace(s);
    }
    EndSearch(s, "the search's share of the budget ended");
  }
  if (s.pause && !s.pause->until && !s.Busy()) {
    EndUndecided(s, BudgetNote(s));
    return true;
  }
  return false;
}

Surroundings Tuning::State::Measure(const Session& s) const {
  Surroundings here;
  here.toggles = space_.size();
  here.scale = s.plain.scale();
  here.step_ns = s.step_ns;
  here.build_ns = BuildNs(s);
  here.probe_ns = ProbeNs(s, config_.probe_batches);
  const Nanos left = s.budget.Allowed(now_) - s.budget.spent();
  here.budget_ns = std::max(0.0, static_cast<double>(left.count()));
  const double window = static_cast<double>(config_.max_window.count());
  here.window_ns = std::max(0.0, window * (1 - BudgetShare(s)));
  here.unit_steps = static_cast<double>(s.units.Shape(false).steps());
  if (s.ready.tune_until > Nanos(0)) {
    const auto limit = static_cast<double>(s.ready.tune_until.count());
    here.job_ns =
        std::max(0.0, kSearchShare * limit - static_cast<double>((now_ - s.since).count()));
  }
  if (s.ready.tune_until_steps > 0) {
    const uint64_t done = s.first_step ? s.latest_step - *s.first_step : 0;
    const auto limit = static_cast<double>(s.ready.tune_until_steps);
    here.job_steps = std::max(0.0, kSearchShare * limit - static_cast<double>(done));
  }
  return here;
}

// The plan in use against itself: the scale of this process, and with it the forecast.
bool Tuning::State::NoiseStep(Session& s) {
  // A pair of long units says what several single steps do.
  const bool few = campaign_.has_forecast || s.units.queued();
  const uint32_t wanted = few ? kRingPairs : kForecastPairs;
  if (space_.size() > 0 && s.noise_pairs < wanted) {
    if (AffordsNoise(s)) IssueNoise(s);
    return false;
  }
  search_.SetProfile(ChooseProfile(Measure(s), config_));
  if (!campaign_.has_forecast) {
    campaign_.has_forecast = true;
    campaign_.forecast = MakeForecast(Measure(s), search_.profile(), s.noise_pairs, earlier_);
    Emit(KeepForecast{s.ready.session, campaign_.forecast});
  }
  campaign_.default_step_ns =
      GoesOn(s) ? static_cast<double>(settlement_->default_step_ns) : s.step_ns;
  if (campaign_.candidate) {
    SetStage(s, Stage::kCandidate);
    return true;
  }
  SetStage(s, Stage::kScout);
  if (!ScoutsPay(s)) return true;
  // Where builds are limited they are for plans that are measured.
  if (BuildsLeft(s) < 2 * space_.size()) return true;
  for (size_t t = 0; t < space_.size(); ++t) {
    const Plan alone = {{space_.toggle(t).decision, space_.toggle(t).option}};
    if (!search_.Banned(t) && !table_.Known(alone)) campaign_.scouts.push_back(alone);
  }
  return true;
}

bool Tuning::State::CandidateStep(Session& s) {
  if (s.race) return RaceStep(s);
  const Plan plan = *campaign_.candidate;
  if (!Prepare(s, {plan})) return false;
  if (!Proven(s, plan)) {
    campaign_.candidate.reset();
    SetStage(s, Stage::kScout);
    return true;
  }
  const RaceTerms terms = SettlingTerms(config_, SessionSpread(effects_[plan]),
                                        search_.profile().delta1, s.discard.scale(), ++checks_);
  OpenRace(s, terms, Plan{}, plan);
  return true;
}

// What a build costs may not be known before the first one.
bool Tuning::State::ScoutsPay(const Session& s) const {
  const double lot = s.step_ns > 0 ? 1 + BuildNs(s) / s.step_ns : kScoutSteps;
  return static_cast<double>(space_.size()) * lot <= kScoutSteps;
}

// Builds single changes, so that options that show nowhere in the signature leave the search before
// any trial.
bool Tuning::State::ScoutStep(Session& s) {
  if (BuildsLeft(s) == 0 || !ScoutsPay(s)) campaign_.scouts.clear();
  const size_t most = campaign_.scouts.empty() ? 0 : BuildsNow(s, kScoutLot);
  if (!campaign_.scouts.empty() && most == 0) return false;
  std::vector<Plan> lot;
  while (!campaign_.scouts.empty() && lot.size() < most) {
    lot.push_back(campaign_.scouts.back());
    campaign_.scouts.pop_back();
  }
  bool building = false;
  for (const Plan& plan : lot) {
    if (s.failed.contains(plan) || s.by_plan.contains(plan) || !MakeRoom(s)) continue;
    RecordOf(plan);
    IssueBuild(s, plan, 0);
    building = true;
  }
  if (building) return false;
  if (campaign_.scouts.empty()) SetStage(s, Stage::kSearch);
  return true;
}

bool Tuning::State::SearchStep(Session& s) {
  if (s.race) return RaceStep(s);
  if (campaign_.sham) return ShamStep(s);
  if (campaign_.contender) {
    const Plan plan = *campaign_.contender;
    if (!Prepare(s, {plan})) return false;
    campaign_.contender.reset();
    if (!Proven(s, plan)) return true;
    RaceTerms terms;
    terms.alpha = SplitAlpha(config_.alpha, ++split_);
    terms.beta = config_.beta;
    terms.delta0 = search_.profile().delta0;
    terms.delta1 = search_.profile().delta1;
    terms.discard = campaign_.discard_mode;
    if (std::exchange(campaign_.looking, false)) {
      terms.beta = config_.verify_beta;
      terms.discard = true;
      terms.delta0 = std::max(terms.delta0, config_.delta0);
      terms.delta1 = std::max(terms.delta1, config_.delta1);
    }
    terms.max_pairs = PairCap(terms.alpha, terms.delta0, terms.delta1,
                              s.ring(terms.discard).scale(), config_.max_pairs_per_race);
    OpenRace(s, terms, campaign_.champion, plan);
    return true;
  }
  if (campaign_.batch_next < campaign_.batch.size()) {
    return Prepare(s, campaign_.batch) && MeasureNext(s);
  }
  if (ProbeChampionAgain(s)) return false;
  const Conclusion* found = Concluded(s);
  if (found == nullptr) return false;
  if (found->contender && (!search_.ChoosesBuilds() || Proven(s, *found->contender))) {
    campaign_.contender = found->contender;
    search_.NoteRace(campaign_.champion, *campaign_.contender);
    DropThought();
    ConsiderSham(s);
    return true;
  }
  std::string why;
  if (found->plans.empty() && search_.Exhausted(campaign_.champion, found->left, &why)) {
    EndSearch(s, why);
    return true;
  }
  return FillBatch(s);
}

// What differs from the default on some batches only may have passed its probes. Where one plan
// after another is rejected, what they share is the plan in use.
bool Tuning::State::ProbeChampionAgain(Session& s) {
  if (campaign_.rejected_in_row < kRejectedInRow) return false;
  const auto variant = Proven(s, campaign_.champion);
  if (!campaign_.champion.empty() && variant && !AffordsProbe(s, 1, config_.probe_batches)) {
    return true;
  }
  campaign_.rejected_in_row = 0;
  if (campaign_.champion.empty() || !variant) return false;
  IssueProbe(s, {*variant}, config_.probe_batches);
  return true;
}

// False: nothing is worth a trial yet.
bool Tuning::State::FillBatch(Session& s) {
  const bool dear = search_.profile().max_builds > 0;
  campaign_.batch.clear();
  campaign_.batch_next = 0;
  auto& suspects = campaign_.suspects;
  const size_t lot = dear ? std::min<size_t>(1, BuildsLeft(s)) : kSuspectLot;
  if (!suspects.empty() && lot > 0) {
    while (!suspects.empty() && campaign_.batch.size() < lot) {
      if (suspects.back() != campaign_.champion) campaign_.batch.push_back(suspects.back());
      suspects.pop_back();
    }
    DropThought();  // it was not asked for plans
    return true;
  }
  if (search_.ChoosesBuilds()) return NextBuild(s);
  if (BuildsLeft(s) == 0) {
    EndSearch(s, "this process has spent its builds");
    return true;
  }
  search_.Count(*campaign_.conclusion);
  campaign_.batch = std::move(campaign_.conclusion->plans);
  DropThought();
  return true;
}

bool Tuning::State::MeasureNext(Session& s) {
  const Plan plan = campaign_.batch[campaign_.batch_next];
  const auto challenger = Proven(s, plan);
  const auto champion = Proven(s, campaign_.champion);
  const bool measured = challenger && champion && *challenger != *champion;
  const uint32_t pairs = search_.profile().pairs_per_proposal;
  const bool discard = campaign_.discard_mode;
  if (measured && !AffordsLease(s, *champion, *challenger, pairs, discard)) return false;
  ++campaign_.batch_next;
  if (!measured) return true;
  IssueLease(s, LeasePurpose::kProposal, *champion, *challenger, pairs, discard);
  return false;
}

void Tuning::State::EndSearch(Session& s, const std::string& why) {
  ClearBatch();
  campaign_.contender.reset();
  campaign_.sham.reset();
  if (GoesOn(s) && campaign_.champion == InForce()) return BackToService(s, why);
  const SearchProfile& profile = search_.profile();
  if (campaign_.champion.empty() && BuildsLeft(s) == 0) return EndUndecided(s, why);
  if (campaign_.champion.empty() && !LookedAtWhatIsThere()) {
    if (MeasureTheRest(s)) return;
    return EndUndecided(s, "no plan could be built, proven and measured here");
  }
  if (campaign_.champion.empty() && profile.too_noisy) {
    // A quieter hour may find what this one cannot see, so the default is not settled.
    EndUndecided(s, "too noisy by the end of the search to resolve less than " +
                        PercentText(profile.delta1));
    return WaitToGoOn(s);
  }
  if (campaign_.champion.empty() && FaultHidesAWin(s)) {
    return EndUndecided(s, "a plan that pairs speak for failed to run in its probes here");
  }
  if (campaign_.champion.empty() && (campaign_.contender = LastLook(s))) return;
  if (campaign_.champion.empty()) return SettleNoWinner(s, why);
  if (campaign_.proof) return StartDwelling(s, *campaign_.proof, SettlementKind::kReplicated);
  s.rebuilt = false;
  SetStage(s, Stage::kRebuild);
}

// "Nothing is faster" is an answer where plans were measured, or where every plan runs the same as
// another. A broken compiler or too little memory for probes is none.
bool Tuning::State::LookedAtWhatIsThere() const {
  if (campaign_.measured) return true;
  bool distinct = false, earlier = false;
  for (const auto& [plan, record] : plans_) {
    if (plan.empty()) continue;
    earlier = earlier || record.pairs > 0;
    distinct = distinct ||
               (record.verdict != Verdict::kNotHonoured && record.verdict != Verdict::kDuplicate);
  }
  if (!distinct && !campaign_.broken) return true;
  return earlier && !campaign_.broken && !campaign_.afresh;
}

// Freezes the session with what is in use; the next process goes on from the campaign.
void Tuning::State::EndUndecided(Session& s, const std::string& why) {
  if (campaign_.stage == Stage::kDwell && s.dwelling) return EndDwelling(s, why);
  if (GoesOn(s)) return BackToService(s, why);
  if (!HandOver(s) && s.race) {
    s.race->Abandon(why);
    CloseRace(s);
  }
  DropOpenWork(s);
  EndPause(s);
  s.role = Role::kFrozen;
  s.undecided = true;
  s.goes_on_at = 0;  // who ends it for something that passes says when it is looked at again
  if (!settlement_) WaitForReturn(0, s.units.CheckFactor(false));
  LeaveTurn(s);
  IssueAdopt(s, s.in_use, AdoptReason::kWonRace, true);
  KeepEnd(s, Outcome::kUndecided, 0, why);
  const bool keeps = s.in_use != kDefaultVariant;
  SetPhase(s, Phase::kStanding, keeps ? why + "; the plan in use stays in use here" : why);
  GrantTurns();
}

}  // namespace blazed::planner
