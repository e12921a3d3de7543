#include "daemon/planner/ledger.h"

#include <algorithm>

#include "daemon/planner/samples.h"

namespace blazed::planner {

void Ledger::Open(Moment at) {
  if (!opened_) opened_ = at;
}

void Ledger::Close(Moment at) {
  if (opened_ && !closed_) closed_ = at;
}

void Ledger::Reopen() {
  if (opened_ && closed_) earlier_ += *closed_ - *opened_;
  opened_.reset();
  closed_.reset();
  builds_before_ = builds_;
}

void Ledger::AddBuild(uint64_t ns, bool as_usual) {
  build_ns_ += std::min(ns, kLongestUnitNs);
  if (as_usual) build_times_.Add(ns);
  ++builds_;
}

void Ledger::AddProbe(uint64_t ns) {
  probe_ns_ += std::min(ns, kLongestUnitNs);
  probe_times_.Add(ns);
  ++probes_;
}

void Ledger::Times::Add(uint64_t ns) {
  if (latest_.size() == kLatest) latest_.pop_front();
  latest_.push_back(static_cast<double>(std::min(ns, kLongestUnitNs)));
}

double Ledger::Times::Usual(double first) const {
  std::vector<double> times(latest_.begin(), latest_.end());
  if (first > 0) times.push_back(first);
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void Ledger::AddDrain(uint64_t ns) { drain_ns_ += std::min(ns, kLongestUnitNs); }

void Ledger::AddPairs(RaceKind kind, uint64_t pairs) {
  if (kind == RaceKind::kReplication) {
    replication_pairs_ += pairs;
  } else if (kind != RaceKind::kDrift) {
    search_pairs_ += pairs;
  }
}

double Ledger::AddExcess(const Plan& plan, double ns) {
  double& sum = excess_[plan];
  const double before = std::max(sum, 0.0);
  sum += ns;
  return std::max(sum, 0.0) - before;
}

CostRecord Ledger::Record(Moment now) const {
  CostRecord record;
  record.window = earlier_;
  if (opened_) record.window += std::max(closed_.value_or(now) - *opened_, Nanos(0));
  double regret = 0;
  for (const auto& [plan, ns] : excess_) regret += std::max(ns, 0.0);
  record.regret = Nanos(static_cast<int64_t>(std::min(regret, 9e18)));
  record.build = Nanos(static_cast<int64_t>(build_ns_));
  record.probe = Nanos(static_cast<int64_t>(probe_ns_));
  record.drain = Nanos(static_cast<int64_t>(drain_ns_));
  record.builds = builds_;
  record.probes = probes_;
  record.races = races_;
  record.search_pairs = search_pairs_;
  record.replication_pairs = replication_pairs_;
  record.noise_pairs = noise_pairs_;
  record.late_pairs = late_pairs_;
  return record;
}

}  // namespace blazed::planner
