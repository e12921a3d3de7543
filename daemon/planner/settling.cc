#include "daemon/planner/settling.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/interval.h"
#include "daemon/planner/scale.h"

namespace blazed::planner {
namespace {

constexpr double kPriorSpread = 0.002;
constexpr double kPriorSessions = 4;
constexpr double kQuantile = 1.64;
constexpr uint64_t kLeastPairs = 40;
constexpr size_t kLeastEffectPairs = 16;  // fewer have no spread of their own to speak of

}  // namespace

double SessionSpread(const std::vector<SessionEffect>& sessions) {
  double weights = 0, squares = 0, weighted = 0;
  double count = 0;
  for (const SessionEffect& s : sessions) {
    if (s.standard_error <= 0) continue;
    const double w = 1 / (s.standard_error * s.standard_error);
    weights += w;
    squares += w * w;
    weighted += w * s.estimate;
    ++count;
  }
  double spread2 = 0;
  const double room = weights > 0 ? weights - squares / weights : 0;
  if (count >= 2 && room > 0) {
    double q = 0;
    for (const SessionEffect& s : sessions) {
      if (s.standard_error <= 0) continue;
      const double distance = s.estimate - weighted / weights;
      q += distance * distance / (s.standard_error * s.standard_error);
    }
    spread2 = std::max(0.0, (q - (count - 1)) / room);
  }
  const double degrees = std::max(count - 1, 0.0);
  return std::sqrt((kPriorSessions * kPriorSpread * kPriorSpread + degrees * spread2) /
                   (kPriorSessions + degrees));
}

std::vector<SessionEffect> EffectsOf(const Race& race) {
  std::vector<SessionEffect> effects;
  for (SessionId job : race.parts().Jobs()) {
    const std::vector<double> ratios = race.RatiosOf(job);
    if (ratios.size() >= kLeastEffectPairs)
      effects.push_back({Median(ratios), MedianError(ratios)});
  }
  if (effects.empty()) effects.push_back({race.Estimate(), race.StandardError()});
  return effects;
}

RaceTerms SettlingTerms(const TuningConfig& config, double spread, double delta1, double scale,
                        uint64_t attempt) {
  RaceTerms terms;
  terms.kind = RaceKind::kReplication;
  terms.alpha = SplitAlpha(config.alpha, attempt);
  terms.beta = config.verify_beta;
  terms.delta0 = std::max(config.delta0, kQuantile * spread);
  terms.delta1 = std::max(delta1, terms.delta0 + (config.delta1 - config.delta0));
  terms.max_pairs =
      PairCap(terms.alpha, terms.delta0, terms.delta1, scale, config.max_pairs_per_race);
  terms.least_pairs = kLeastPairs;
  terms.discard = true;
  return terms;
}

double BreakEvenSteps(const CostRecord& cost, double slow_ns, double fast_ns) {
  if (!(slow_ns > fast_ns)) return 0;
  const Nanos excess = cost.regret + cost.build + cost.probe + cost.drain;
  return static_cast<double>(excess.count()) / (slow_ns - fast_ns);
}

SettlementRecord SettleWinner(const Race& race, SettlementKind kind, const CostRecord& cost,
                              SessionId session) {
  SettlementRecord record;
  record.kind = kind;
  record.plan = race.challenger();
  const RaceRecord story = race.Record(0, Moment{});
  record.gain = SavingOf(story.effect);
  // The claim is never above what the race that judged the plan showed.
  record.default_step_ns = race.MedianChampionNs(session);
  record.settled_step_ns = record.default_step_ns * (1 - record.gain.estimate);
  record.cost = cost;
  record.break_even_steps = BreakEvenSteps(cost, record.default_step_ns, record.settled_step_ns);
  return record;
}

}  // namespace blazed::planner
