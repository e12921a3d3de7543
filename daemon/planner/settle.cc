// From the last champion to a settlement: verify, rebuild, replicate, store, and only then tell
// anybody.
#include <utility>

#include "daemon/planner/process_effects.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {

bool Tuning::State::VerifyStep(Session& s) {
  if (s.race) return RaceStep(s);
  RaceTerms terms;
  terms.kind = RaceKind::kVerification;
  terms.alpha = SplitAlpha(config_.alpha, ++checks_);
  terms.beta = config_.verify_beta;
  terms.delta0 = search_.profile().delta0;
  terms.delta1 = search_.profile().delta1;
  terms.discard = true;
  terms.max_pairs = PairCap(terms.alpha, terms.delta0, terms.delta1, s.discard.scale(),
                            config_.max_pairs_per_race);
  OpenRace(s, terms, Plan{}, campaign_.champion);
  return true;
}

// The champion's variant is torn down, so that buffers, placement and code are drawn again.
bool Tuning::State::RebuildStep(Session& s) {
  const Plan plan = campaign_.champion;
  if (!s.rebuilt) {
    if (config_.max_builds > 0 && s.ledger.builds() >= config_.max_builds) {
      EndUndecided(s, "this process has spent its builds");
      return false;
    }
    if (!Affords(s, PlanNs(s), PlanNs(s))) return false;
    const auto variant = Proven(s, plan);
    s.before_rebuild = variant ? s.Find(*variant)->signature : Digest{};
    s.rebuilt = true;
    s.rebuilding = s.next_variant;
    IssueBuild(s, plan, variant.value_or(0));
    return false;
  }
  if (!Prepare(s, {plan})) return false;
  const auto variant = Proven(s, plan);
  const bool same =
      variant && (s.before_rebuild == Digest{} || s.Find(*variant)->signature == s.before_rebuild);
  if (!same) {
    DemoteChampion(s, "it did not come back the same after a rebuild");
    search_.GiveUp(plan);
    SetStage(s, Stage::kSearch);
    return true;
  }
  SetStage(s, Stage::kReplicate);
  return true;
}

bool Tuning::State::ReplicateStep(Session& s) {
  if (s.race) return RaceStep(s);
  if (!Proven(s, campaign_.champion)) {
    DemoteChampion(s, "it cannot run here any more");
    SetStage(s, Stage::kSearch);
    return true;
  }
  const RaceTerms terms = SettlingTerms(config_, SessionSpread(effects_[campaign_.champion]),
                                        search_.profile().delta1, s.discard.scale(), ++checks_);
  OpenRace(s, terms, Plan{}, campaign_.champion);
  return true;
}

void Tuning::State::AskStore(Session& s, SettlementRecord record) {
  record.contract = contract_;
  record.default_signature = s.ready.default_signature;
  record.forecast = campaign_.forecast;
  record.session = s.ready.session;
  record.cost = campaign_.ledger.Record(now_);
  campaign_.ledger.Close(now_);
  s.ledger.Close(now_);
  campaign_.pending = record;
  campaign_.pending_request = ++requests_;
  SetStage(s, Stage::kSettling);
  Emit(Settle{requests_, std::move(record)});
}

void Tuning::State::SettleWon(Session& s, const Race& proof, SettlementKind kind) {
  SettlementRecord record =
      SettleWinner(proof, kind, campaign_.ledger.Record(now_), s.ready.session);
  record.carry = campaign_.discard_mode;
  const auto variant = Proven(s, proof.challenger());
  if (variant) record.champion_signature = s.Find(*variant)->signature;
  AskStore(s, std::move(record));
}

void Tuning::State::SettleNoWinner(Session& s, const std::string& why) {
  if (GoesOn(s)) return BackToService(s, why);
  SettlementRecord record;
  record.kind = SettlementKind::kNoWinner;
  record.champion_signature = s.ready.default_signature;
  record.default_step_ns = record.settled_step_ns = campaign_.default_step_ns;
  Judge(Plan{}, Verdict::kChampion, why);
  AskStore(s, std::move(record));
}

void Tuning::State::On(const SettlementStored& event) {
  if (!campaign_.pending || event.request != campaign_.pending_request) return;
  settlement_ = std::move(campaign_.pending);
  campaign_.pending.reset();
  settlement_->id = event.settlement;
  const bool winner = settlement_->kind != SettlementKind::kNoWinner;
  detector_ = DriftDetector();
  Session* s = FindSession(settlement_->session);
  const uint64_t factor = s == nullptr ? 1 : s->units.CheckFactor(settlement_->carry);
  if (winner) {
    demoted_.reset();
    timer_ = FirstGap(event.settlement, factor);
    KeepTimer();
    Judge(settlement_->plan, Verdict::kChampion, "settled");
  } else {
    WaitForReturn(event.settlement, factor);
  }
  const std::string awaits = AwaitsReplicationText(*settlement_, PlansMeasured());
  settled_process_ = s == nullptr ? std::string() : s->ready.process;
  if (s != nullptr && (s->role == Role::kExploring || s->role == Role::kServing)) {
    const auto variant = Proven(*s, settlement_->plan);
    const bool served = s->role == Role::kServing;
    s->serving.reset();
    s->role = Role::kSettled;
    IssueAdopt(*s, variant.value_or(kDefaultVariant),
               served ? AdoptReason::kReplicatedHere : AdoptReason::kSettled, true);
    KeepEnd(*s, winner ? (served ? Outcome::kServed : Outcome::kSettled) : Outcome::kNoWinner,
            event.settlement, awaits);
    SetPhase(*s, served ? Phase::kServed : Phase::kSettled, awaits);
    WaitToGoOn(*s);
  }
  explorer_ = 0;
  const auto failed = campaign_.failed_meanwhile;
  const Verdict verdict = campaign_.failed_verdict;
  const bool this_one = campaign_.failed_plan == settlement_->plan;
  campaign_ = Campaign{};
  if (failed && winner && this_one) return DemoteSettled(*failed, verdict);
  for (auto& [id, other] : sessions_) {
    const bool earlier = other.serving && other.serving->plan != settlement_->plan;
    if (other.role == Role::kServing && earlier) StartServing(other);
  }
  GrantTurns();
}

// Nothing is decided where nothing can be kept; the sessions train on with the default.
void Tuning::State::On(const SettlementFailed& event) {
  if (!campaign_.pending || event.request != campaign_.pending_request) return;
  const SessionId owner = campaign_.pending->session;
  campaign_.pending.reset();
  const std::string why = "the settlement could not be kept: " + event.reason;
  Session* s = FindSession(owner);
  const bool went_on = s != nullptr && GoesOn(*s) && !campaign_.failed_meanwhile;
  if (went_on) return BackToService(*s, why);
  if (s != nullptr) {
    s->role = Role::kFrozen;
    s->in_use = kDefaultVariant;
    // The host drops nothing by itself when it stands down.
    Emit(Stand{owner, StandReason::kStoreFailed, why});
    KeepEnd(*s, Outcome::kUndecided, 0, why);
    SetPhase(*s, Phase::kStanding, why);
  }
  explorer_ = 0;
  const auto failed = std::exchange(campaign_.failed_meanwhile, std::nullopt);
  if (failed && settlement_) return DemoteSettled(*failed, campaign_.failed_verdict);
  GrantTurns();
}

}  // namespace blazed::planner
