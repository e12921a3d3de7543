#include "daemon/planner/samples.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/scale.h"

namespace blazed::planner {
namespace {

constexpr double kContradiction =
    4;  // scales between two pairs of one plan; normal noise: one in 200
constexpr double kReach = 3;

bool Plausible(const UnitTime& unit, double steps) {
  const bool aborted = (unit.flags & kUnitAborted) != 0;
  const double longest = static_cast<double>(kLongestUnitNs) * steps;
  return (unit.host_ns > 0 || aborted) && static_cast<double>(unit.host_ns) <= longest;
}

PairSample MakePair(const UnitTime& first, const UnitTime& second, bool challenger_first,
                    double steps) {
  const UnitTime& challenger = challenger_first ? first : second;
  const UnitTime& champion = challenger_first ? second : first;
  PairSample pair;
  pair.challenger_first = challenger_first;
  pair.champion_ns = static_cast<double>(champion.host_ns) / steps;
  pair.aborted = (challenger.flags & kUnitAborted) != 0;
  // How many of its steps ran before it was cut short is not known.
  pair.challenger_ns = static_cast<double>(challenger.host_ns) / (pair.aborted ? 1 : steps);
  pair.champion_device_ns = static_cast<double>(champion.device_ns) / steps;
  pair.challenger_device_ns = static_cast<double>(challenger.device_ns) / steps;
  pair.flags = (champion.flags | challenger.flags) & ~kUnitAborted;
  pair.excluded =
      champion.flags != 0 || (challenger.flags & ~kUnitAborted) != 0 || champion.host_ns == 0;
  return pair;
}

}  // namespace

std::optional<std::vector<PairSample>> ReadLease(const LeaseTerms& terms, const LeaseDone& done,
                                                 std::string* why) {
  const size_t asked = 2 * terms.challenger_first.size();
  if (done.units.size() > asked) {
    *why = "more units than the schedule has";
    return std::nullopt;
  }
  if (done.complete && done.units.size() != asked) {
    *why = "called complete with units missing";
    return std::nullopt;
  }
  const double steps = terms.timed_steps == 0 ? 1 : terms.timed_steps;
  for (const UnitTime& unit : done.units) {
    if (!Plausible(unit, steps)) {
      *why = "a unit's duration is impossible";
      return std::nullopt;
    }
  }
  std::vector<PairSample> pairs;
  for (size_t i = 0; 2 * i + 1 < done.units.size(); ++i) {
    pairs.push_back(
        MakePair(done.units[2 * i], done.units[2 * i + 1], terms.challenger_first[i], steps));
  }
  // A host gives the lease back when it cuts a challenger short, which may come before its champion
  // ran.
  const size_t last = pairs.size();
  const bool half = done.units.size() % 2 == 1 && terms.challenger_first[last];
  if (half && (done.units.back().flags & kUnitAborted) != 0) {
    PairSample loss;
    loss.challenger_first = true;
    loss.aborted = true;
    loss.challenger_ns = static_cast<double>(done.units.back().host_ns);
    pairs.push_back(loss);
  }
  return pairs;
}

QueueSigns SignsOf(const LeaseTerms& terms, const LeaseDone& done) {
  QueueSigns signs;
  signs.run_ahead = done.run_ahead;
  signs.drain_ns = static_cast<double>(done.drain_ns);
  // Warm steps end at a drained point of their own.
  signs.points = static_cast<double>(done.units.size()) * (terms.warm_steps > 0 ? 2 : 1);
  for (const UnitTime& unit : done.units) signs.units_ns += static_cast<double>(unit.host_ns);
  return signs;
}

double LogRatio(const PairSample& pair) { return std::log(pair.champion_ns / pair.challenger_ns); }

double HoldNear(double ratio, double expected, double scale) {
  return std::clamp(ratio, expected - kReach * scale, expected + kReach * scale);
}

RobustRatios HoldOutliers(std::vector<double> ratios, double scale) {
  RobustRatios held{std::move(ratios), scale};
  std::vector<double>& values = held.values;
  if (values.size() == 2) {
    const double apart = std::fabs(values[0] - values[1]);
    if (apart > kContradiction * scale) held.scale = apart / 2;
  } else if (values.size() > 2) {
    const double middle = Median(values);
    for (double& v : values) v = std::clamp(v, middle - kReach * scale, middle + kReach * scale);
  }
  return held;
}

}  // namespace blazed::planner
