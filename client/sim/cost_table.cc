#include "client/sim/cost_table.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/space.h"

namespace blazed::sim {
namespace {

using planner::Choice;
using planner::DecisionKind;
using planner::Digest;
using planner::Plan;
using planner::Random;

// Effects shrink as spaces grow: more boundaries share the same step.
double CostSize(uint32_t b) { return b <= 5 ? .03 : b <= 12 ? .015 : b <= 34 ? .007 : .003; }
double WinSize(uint32_t b) { return b <= 5 ? .03 : b <= 12 ? .02 : b <= 34 ? .012 : .006; }

bool Has(const Plan& plan, const Choice& c) {
  return std::find(plan.begin(), plan.end(), c) != plan.end();
}

Digest DigestOf(uint64_t a, uint64_t b) {
  Digest digest{};
  for (int i = 0; i < 8; ++i) {
    digest[static_cast<size_t>(i)] = static_cast<uint8_t>(a >> (8 * i));
    digest[static_cast<size_t>(i + 8)] = static_cast<uint8_t>(b >> (8 * i));
  }
  return digest;
}

}  // namespace

void CostTable::AddDecision(DecisionKind kind, uint32_t options) {
  const uint32_t index = static_cast<uint32_t>(spec_.decisions.size());
  planner::DecisionSpec d;
  d.id = DigestOf(index + 1, 7);
  d.name = std::string(kind == DecisionKind::kBoundary ? "b" : "c").append(std::to_string(index));
  d.kind = kind;
  d.options = kind == DecisionKind::kBoundary
                  ? std::vector<std::string>{"merge", "cut"}
                  : std::vector<std::string>{"first", "second", "third"};
  d.graph = 1;
  d.options.resize(options, "more");
  spec_.decisions.push_back(d);
  main_.emplace_back(options, 0.0);
  idle_.push_back(0);
}

CostTable::CostTable(const std::vector<double>& option_costs) {
  spec_.name = "listed";
  spec_.fingerprint = DigestOf(option_costs.size(), 1);
  for (double cost : option_costs) {
    AddDecision(DecisionKind::kBoundary, 2);
    main_.back()[1] = cost;
  }
}

CostTable::CostTable(const std::vector<uint32_t>& options, std::map<Plan, ListedPlan> listed)
    : listed_(std::move(listed)) {
  spec_.name = "listed";
  spec_.fingerprint = DigestOf(listed_.size(), 2);
  for (uint32_t count : options) AddDecision(DecisionKind::kChoice, count);
  if (!options.empty()) spec_.decisions.front().graph = 0;
}

CostTable::CostTable(const TableSettings& settings, uint64_t seed) {
  Random random(seed);
  spec_.name = "drawn";
  spec_.fingerprint = DigestOf(seed, settings.boundaries);
  for (uint32_t i = 0; i < settings.boundaries; ++i) AddDecision(DecisionKind::kBoundary, 2);
  for (uint32_t i = 0; i < settings.choices; ++i) AddDecision(DecisionKind::kChoice, 3);
  if (settings.flat) return;
  DrawMain(settings, random);
  DrawPairs(settings, random);
}

void CostTable::DrawMain(const TableSettings& settings, Random& random) {
  const double cost = CostSize(settings.boundaries), win = WinSize(settings.boundaries);
  for (size_t d = 0; d < main_.size(); ++d) {
    const bool boundary = spec_.decisions[d].kind == DecisionKind::kBoundary;
    if (boundary && random.Uniform() < settings.idle_share) {
      idle_[d] = 1;
      continue;
    }
    for (size_t o = 1; o < main_[d].size(); ++o) {
      const bool good = settings.winners && random.Uniform() < settings.good_share;
      main_[d][o] = good ? win * std::log(std::max(1e-9, random.Uniform()))
                         : cost * std::exp(0.8 * random.Normal());
    }
  }
}

void CostTable::AddPair(Choice a, Choice b, double cost) {
  if (a.decision == b.decision || Idle(a) || Idle(b)) return;
  pairs_.push_back({a, b, cost});
}

// Thirty in a hundred neighbours interact, five are good only together, and a few far ones interact
// as well.
void CostTable::DrawPairs(const TableSettings& settings, Random& random) {
  const double cost = CostSize(settings.boundaries), win = WinSize(settings.boundaries);
  const auto size = [&] {
    const double value = 0.5 * cost * random.Normal();
    return settings.winners ? value : std::fabs(value);
  };
  for (uint32_t b = 0; b + 1 < settings.boundaries; ++b) {
    const double u = random.Uniform();
    if (u < 0.3) {
      AddPair({b, 1}, {b + 1, 1}, size());
    } else if (u < 0.35 && settings.winners) {
      const double alone = std::max(0.0, main_[b][1]) + std::max(0.0, main_[b + 1][1]);
      AddPair({b, 1}, {b + 1, 1}, -alone - win * random.Uniform());
    }
  }
  const uint32_t far = std::max<uint32_t>(1, settings.boundaries / 5);
  const uint64_t all = main_.size();
  for (uint32_t i = 0; i < far; ++i) {
    AddPair({static_cast<uint32_t>(random.Below(all)), 1},
            {static_cast<uint32_t>(random.Below(all)), 1}, size());
  }
}

double CostTable::LogCost(const Plan& plan) const {
  if (!listed_.empty()) return listed_.at(plan).log_cost;
  double cost = 0;
  for (const Choice& c : plan) cost += main_[c.decision][c.option];
  for (const Interaction& i : pairs_) {
    if (Has(plan, i.a) && Has(plan, i.b)) cost += i.cost;
  }
  return cost;
}

Digest CostTable::Signature(const Plan& plan, uint64_t process_salt) const {
  if (!listed_.empty()) return DigestOf(listed_.at(plan).signature, process_salt + 1);
  Plan effective;
  for (const Choice& c : plan) {
    if (!Idle(c)) effective.push_back(c);
  }
  return DigestOf(planner::HashPlan(effective), process_salt + 1);
}

double CostTable::OracleLogCost(uint64_t seed) const {
  double least = 0;
  for (const auto& [plan, known] : listed_) least = std::min(least, known.log_cost);
  if (!listed_.empty()) return least;
  Random random(seed);
  const planner::Space space(spec_, planner::Contract::kRounding);
  double best = 0;
  for (int start = 0; start < 20; ++start) {
    planner::Toggles at(space.size(), 0);
    for (size_t t = 0; start > 0 && t < at.size(); ++t) {
      if (random.Uniform() < 0.15) space.Set(at, t, true);
    }
    double cost = LogCost(space.Decode(at));
    for (bool better = true; better;) {
      better = false;
      for (size_t t = 0; t < at.size(); ++t) {
        planner::Toggles next = at;
        space.Set(next, t, !at[t]);
        const double c = LogCost(space.Decode(next));
        if (c >= cost - 1e-12) continue;
        at = next;
        cost = c;
        better = true;
      }
      for (const Interaction& pair : pairs_) {
        Plan plan = space.Decode(at);
        if (better || Has(plan, pair.a) || Has(plan, pair.b)) continue;
        planner::Toggles next = at;
        const planner::Toggles both =
            space.Encode({std::min(pair.a, pair.b), std::max(pair.a, pair.b)});
        for (size_t t = 0; t < next.size(); ++t) {
          if (both[t]) space.Set(next, t, true);
        }
        const double c = LogCost(space.Decode(next));
        if (c >= cost - 1e-12) continue;
        at = next;
        cost = c;
        better = true;
      }
    }
    best = std::min(best, cost);
  }
  return best;
}

}  // namespace blazed::sim
