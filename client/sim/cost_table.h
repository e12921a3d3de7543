// A synthetic workload: decisions, and what every plan truly costs. Main effects, neighbour and far
// interactions, boundaries that show nowhere in the signature.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "daemon/planner/random.h"
#include "daemon/planner/types.h"

namespace blazed::sim {

struct TableSettings {
  uint32_t boundaries = 12;
  uint32_t choices = 0;      // each with three options
  double good_share = 0.15;  // of options that save time
  double idle_share = 0.25;  // of boundaries that change nothing at all
  bool winners = true;       // false: no option and no pair of options saves time
  bool flat = false;         // every plan costs the same, all signatures differ
};

// A plan whose cost and signature are known as they stand.
struct ListedPlan {
  double log_cost = 0;
  uint64_t signature = 0;
};

class CostTable {
 public:
  CostTable(const TableSettings& settings, uint64_t seed);
  // One cost for each decision's option 1, in log step time; no interactions.
  explicit CostTable(const std::vector<double>& option_costs);
  // Choices of so many options each, the first one of the whole step, and every plan of theirs
  // listed.
  CostTable(const std::vector<uint32_t>& options, std::map<planner::Plan, ListedPlan> listed);

  const planner::WorkloadSpec& spec() const { return spec_; }
  double LogCost(const planner::Plan& plan) const;
  planner::Digest Signature(const planner::Plan& plan, uint64_t process_salt) const;
  // Best plan that steepest descent from many starts finds.
  double OracleLogCost(uint64_t seed) const;

  void SetCost(uint32_t decision, uint32_t option, double cost) { main_[decision][option] = cost; }

 private:
  struct Interaction {
    planner::Choice a, b;
    double cost = 0;
  };
  void AddDecision(planner::DecisionKind kind, uint32_t options);
  void DrawMain(const TableSettings& settings, planner::Random& random);
  void DrawPairs(const TableSettings& settings, planner::Random& random);
  void AddPair(planner::Choice a, planner::Choice b, double cost);
  bool Idle(const planner::Choice& c) const { return idle_[c.decision]; }

  planner::WorkloadSpec spec_;
  std::vector<std::vector<double>> main_;  // by decision and option
  std::vector<uint8_t> idle_;
  std::vector<Interaction> pairs_;
  std::map<planner::Plan, ListedPlan> listed_;  // empty: costs add up
};

}  // namespace blazed::sim
