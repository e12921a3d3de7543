// Long dwells between a won replication and its settlement. They can only speak against the win.
#include <algorithm>
#include <cmath>
#include <limits>

#include "daemon/planner/counted.h"
#include "daemon/planner/interval.h"
#include "daemon/planner/scale.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr uint32_t kDisturbedLimit = 3;
constexpr double kDwellShare = 0.25;  // of what is left of the window, or of the job's own limits

// Steps of the later half that nothing outside disturbed.
std::vector<double> LaterHalf(const std::vector<PairSample>& pairs) {
  std::vector<double> steps;
  for (size_t i = pairs.size() / 2; i < pairs.size(); ++i) {
    if (pairs[i].excluded || pairs[i].aborted) continue;
    steps.push_back(pairs[i].champion_ns);
    steps.push_back(pairs[i].challenger_ns);
  }
  return steps;
}

RaceOutcome OutcomeOf(DwellTest::State state) {
  if (state == DwellTest::State::kThere) return RaceOutcome::kWon;
  return state == DwellTest::State::kGone ? RaceOutcome::kLost : RaceOutcome::kUndecided;
}

std::string StoryOf(const DwellTest& test) {
  const std::string blocks = "in " + Counted(test.ratios().size(), "block") + " of long dwells";
  const std::string claim = " of the " + PercentText(test.claimed()) + " that pairs showed ";
  switch (test.state()) {
    case DwellTest::State::kThere:
      return "the win is there " + blocks;
    case DwellTest::State::kGone:
      return "most" + claim + "is not there " + blocks;
    default:
      return "whether most" + claim + "is there is not to be told " + blocks;
  }
}

}  // namespace

void Tuning::State::StartDwelling(Session& s, const Race& proof, SettlementKind kind) {
  const double left = std::max(0.0, 1 - BudgetShare(s)) * kDwellShare;
  Nanos window = config_.max_window;
  if (s.ready.tune_until > Nanos(0)) window = std::min(window, s.ready.tune_until);
  const double steps = s.ready.tune_until_steps > 0 ? static_cast<double>(s.ready.tune_until_steps)
                                                    : std::numeric_limits<double>::max();
  const UnitShape unit = s.units.Shape(false);
  const auto unit_steps = static_cast<double>(unit.steps());
  DwellTerms terms =
      DwellsWithin(unit_steps * s.step_ns, left * static_cast<double>(window.count()),
                   left * steps / unit_steps, unit.timed > 1);
  terms.suspected = campaign_.dwell_failed;
  // Wins that are replicated by chance of their noise look larger than they are.
  const double claimed = std::max(proof.terms().delta0, proof.Estimate() - proof.StandardError());
  s.dwelling.emplace(
      Dwelling{proof, kind, DwellTest(std::move(terms), claimed), false, {}, {}, now_});
  SetStage(s, Stage::kDwell);
}

bool Tuning::State::DwellStep(Session& s) {
  if (!s.dwelling) return false;
  Dwelling& dwelling = *s.dwelling;
  const auto variant = Proven(s, dwelling.proof.challenger());
  if (!variant) {
    s.dwelling.reset();
    DemoteChampion(s, "it cannot run here any more");
    SetStage(s, Stage::kSearch);
    return true;
  }
  const DwellTerms& terms = dwelling.test.terms();
  if (dwelling.test.state() != DwellTest::State::kRunning || BudgetShare(s) >= 1) {
    EndDwelling(s, terms.cut);
    return true;
  }
  if (!dwelling.first) dwelling.challenger_first = s.coin.Coin();
  const bool challenger = dwelling.challenger_first != dwelling.first.has_value();
  const VariantId plan = challenger ? *variant : kDefaultVariant;
  // All steps of the block may run on the slower plan.
  const auto steps = static_cast<double>(terms.steps * s.units.Shape(false).steps());
  const double lost = plan == s.in_use ? 0 : steps * std::max(0.0, campaign_.gain) * s.step_ns;
  const double drains = LeaseNs(s, terms.steps / 2, false, false);
  if (!Fits(s, lost + drains)) {
    // What is replicated does not wait for the rest of its check.
    EndDwelling(s, "long dwells were cut short: " + BudgetNote(s));
    return true;
  }
  IssueLease(s, LeasePurpose::kDwell, plan, plan, terms.steps / 2, false);
  return false;
}

// Pairs of a plan with itself: nothing switches in a dwell.
void Tuning::State::TakeDwell(Session& s, const Outstanding& lease,
                              const std::vector<PairSample>& pairs) {
  if (!s.dwelling) return;
  for (Ledger* ledger : {&s.ledger, &campaign_.ledger}) {
    ledger->AddPairs(RaceKind::kReplication, pairs.size());
    ledger->AddNoise(pairs.size());
  }
  Dwelling& dwelling = *s.dwelling;
  const Dwell dwell = ReadDwell(LaterHalf(pairs));
  if (dwell.step_ns <= 0) {
    dwelling.first.reset();
    if (++dwelling.disturbed == kDisturbedLimit) {
      EndDwelling(s, "long dwells are disturbed again and again");
    }
    return;
  }
  dwelling.disturbed = 0;
  if (!dwelling.first) {
    dwelling.first = dwell;
    return;
  }
  const bool challenger = lease.champion != kDefaultVariant;
  const Dwell& of_default = challenger ? *dwelling.first : dwell;
  const Dwell& of_plan = challenger ? dwell : *dwelling.first;
  dwelling.test.Add(of_default, of_plan);
  PairSample block;
  block.champion_ns = of_default.step_ns;
  block.challenger_ns = of_plan.step_ns;
  block.challenger_first = dwelling.challenger_first;
  dwelling.blocks.push_back(block);
  dwelling.first.reset();
  // Steps of the slower plan against the one in use, as everywhere in the accounts.
  const double in_use = s.in_use == kDefaultVariant ? block.champion_ns : block.challenger_ns;
  const double other = s.in_use == kDefaultVariant ? block.challenger_ns : block.champion_ns;
  const double excess = (other - in_use) * dwelling.test.terms().steps *
                        static_cast<double>(s.units.Shape(false).steps());
  const Plan plan = s.in_use == kDefaultVariant ? dwelling.proof.challenger() : Plan{};
  s.budget.Spend(s.ledger.AddExcess(plan, excess));
  campaign_.ledger.AddExcess(plan, excess);
}

// Files the blocks and goes on to the store, or back to the search. `cut`: why there are fewer than
// there should be, or none; a copy, because the terms that said so end here.
void Tuning::State::EndDwelling(Session& s, std::string cut) {
  const Dwelling dwelling = std::move(*s.dwelling);
  s.dwelling.reset();
  DropOpenWork(s);
  const DwellTest& test = dwelling.test;
  const DwellTest::State state = test.state();
  RaceRecord record;
  record.id = races_earlier_ + ++races_opened_;
  record.kind = RaceKind::kDwell;
  record.session = s.ready.session;
  record.challenger = dwelling.proof.challenger();
  record.outcome = OutcomeOf(state);
  record.reason = test.ratios().empty() ? cut : StoryOf(test) + (cut.empty() ? "" : "; " + cut);
  record.pairs = dwelling.blocks;
  if (!test.ratios().empty()) {
    const std::vector<double> scales(test.ratios().size(), s.discard.scale());
    record.effect = ConfidenceInterval(test.ratios(), scales, config_.alpha);
  }
  record.warm_steps = s.units.Shape(false).warm;
  record.timed_steps = s.units.Shape(false).timed;
  record.started = dwelling.started;
  record.ended = now_;
  Emit(KeepRace{record});
  // Once a win was gone in dwells, the next one has to be seen in them.
  const bool unseen = test.terms().suspected && state != DwellTest::State::kThere;
  if (state == DwellTest::State::kGone || unseen) return DwellLost(s, record.reason);
  SettleWon(s, dwelling.proof, dwelling.kind);
}

void Tuning::State::DwellLost(Session& s, const std::string& why) {
  const Plan plan = campaign_.champion;
  campaign_.dwell_failed = true;
  DemoteChampion(s, why);
  search_.GiveUp(plan);
  if (++campaign_.failed_replications >= kReplications) {
    return SettleNoWinner(s, "wins were found, but none was there in long dwells");
  }
  SetStage(s, Stage::kSearch);
}

}  // namespace blazed::planner
