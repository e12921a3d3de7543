// What exploring costs, in wall time and counts. One ledger for a session, one for the whole
// tuning.
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "daemon/planner/types.h"

namespace blazed::planner {

class Ledger {
 public:
  // The window opens with the first trial and closes with the settlement (or stays open).
  void Open(Moment at);
  void Close(Moment at);
  // Another window of the same session: what was spent stays in the account.
  void Reopen();
  std::optional<Moment> opened() const { return opened_; }
  uint32_t builds() const { return builds_ - builds_before_; }  // of this window
  // What one takes as a rule: the lower median of the latest ones, so that one that was held up
  // tells nothing of those that follow. `of_default`: what the host's own build took, which counts
  // as one more; 0: unknown. 0 where nothing is known.
  double UsualBuildNs(double of_default) const { return build_times_.Usual(of_default); }
  // Whether that is more than the host's word for it, which may be what its compiler's cache took.
  bool KnowsBuilds() const { return build_times_.count() > 1; }
  double UsualProbeNs() const { return probe_times_.Usual(0); }

  // `as_usual`: it tells of what others take.
  void AddBuild(uint64_t ns, bool as_usual = true);
  void AddProbe(uint64_t ns);
  void AddDrain(uint64_t ns);
  void AddRace() { ++races_; }
  void AddPairs(RaceKind kind, uint64_t pairs);
  // Pairs that AddPairs counts as well, by what they were for.
  void AddNoise(uint64_t pairs) { noise_pairs_ += pairs; }
  void AddLate(uint64_t pairs) { late_pairs_ += pairs; }
  // Excess of a plan's steps against the champion's. Summed by plan before it is cut at zero, so
  // that noise around zero does not count as loss.
  // Returns by how much the regret grew; less than zero where the plan looks better now.
  double AddExcess(const Plan& plan, double ns);

  CostRecord Record(Moment now) const;

 private:
  class Times {
   public:
    void Add(uint64_t ns);
    double Usual(double first) const;
    size_t count() const { return latest_.size(); }

   private:
    static constexpr size_t kLatest = 15;
    std::deque<double> latest_;
  };

  std::optional<Moment> opened_, closed_;
  Times build_times_, probe_times_;
  uint64_t build_ns_ = 0, probe_ns_ = 0, drain_ns_ = 0;
  Nanos earlier_{};  // windows
  uint32_t builds_ = 0, builds_before_ = 0, probes_ = 0, races_ = 0;
  uint64_t search_pairs_ = 0, replication_pairs_ = 0;
  uint64_t noise_pairs_ = 0, late_pairs_ = 0;
  std::map<Plan, double> excess_;
};

}  // namespace blazed::planner
