#include "daemon/history/explain.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "daemon/history/kernels.h"
#include "daemon/history/probe_sentence.h"
#include "daemon/history/words.h"
#include "daemon/planner/counted.h"
#include "daemon/planner/interval.h"
#include "daemon/planner/process_effects.h"
#include "storage/plan_text.h"

namespace blazed::history {
namespace {

using planner::Counted;
using planner::SettlementKind;
using planner::Verdict;

std::string SecondsText(planner::Nanos span) { return TimeText(static_cast<double>(span.count())); }

const storage::StoredPlan* Find(const Evidence& evidence, const planner::Plan& plan) {
  for (const storage::StoredPlan& stored : evidence.plans) {
    if (stored.record.plan == plan) return &stored;
  }
  return nullptr;
}

std::string WinSentence(const Evidence& evidence, const planner::SettlementRecord& record) {
  return absl::StrCat("the plan ", storage::PlanForPeople(evidence.workload, record.plan),
                      " saves ", ShareText(record.gain.estimate), " of a step (",
                      RangeText(record.gain), "): ", TimeText(record.settled_step_ns),
                      " instead of ", TimeText(record.default_step_ns), " under the default plan");
}

// Where a step's time goes, of the plan that the answer is about.
std::string KernelSentence(const Evidence& evidence) {
  if (!evidence.kernels.has_value()) return "";
  std::optional<RacedSteps> raced;
  const auto& settlement = evidence.settlement;
  if (settlement.has_value() && settlement->record.plan == evidence.kernels->record.plan) {
    raced = {settlement->record.default_step_ns, settlement->record.settled_step_ns};
  }
  return BusySentence(evidence.kernels->record, raced);
}

std::string ReplicationSentence(const Evidence& evidence, const planner::SettlementRecord& record) {
  const std::string pairs = Counted(record.cost.replication_pairs, "pair");
  if (record.kind == SettlementKind::kReplicated) {
    return absl::StrCat("it was replicated in another process over ", pairs);
  }
  const auto measured =
      std::count_if(evidence.plans.begin(), evidence.plans.end(),
                    [](const auto& plan) { return planner::WasMeasured(plan.record); });
  const std::string awaits =
      planner::AwaitsReplicationText(record, static_cast<uint64_t>(measured));
  return absl::StrCat(
      "it was torn down, built again and won a second time over ", pairs, "; ",
      awaits.empty() ? "the next process replicates it where its signatures differ" : awaits);
}

// What the last long dwells before a settlement showed, or why there were none.
std::string DwellSentence(const Evidence& evidence, const planner::Plan& plan) {
  const storage::StoredRace* last = nullptr;
  for (const storage::StoredRace& race : evidence.races) {
    const bool dwell = race.record.kind == planner::RaceKind::kDwell;
    if (!dwell || race.record.challenger != plan) continue;
    if (last == nullptr || race.id > last->id) last = &race;
  }
  return last == nullptr ? "" : last->record.reason;
}

uint64_t StepCount(double steps) {
  return static_cast<uint64_t>(std::min(std::nearbyint(steps), 9e15));
}

std::string CostSentence(const planner::SettlementRecord& record) {
  std::string text =
      absl::StrCat("the search took ", SecondsText(record.cost.window), ", ",
                   Counted(record.cost.builds, "build"), ", ", Counted(record.cost.probes, "probe"),
                   " and ", Counted(record.cost.search_pairs, "pair"), "; its slower steps cost ",
                   SecondsText(record.cost.regret));
  if (record.break_even_steps > 0 && std::isfinite(record.break_even_steps)) {
    absl::StrAppend(&text, ", paid back after ",
                    Counted(StepCount(record.break_even_steps), "step"));
  }
  return text;
}

std::string StateSentence(const Evidence& evidence, const storage::StoredSettlement& settlement) {
  if (settlement.state == storage::SettlementState::kDemoted) {
    return absl::StrCat("it was demoted and is not used: ", settlement.state_reason);
  }
  if (evidence.drift.has_value()) {
    const bool winner = settlement.record.kind != SettlementKind::kNoWinner;
    return absl::StrCat(winner ? "it is checked against the default again after "
                               : "the plan that was demoted is looked at again after ",
                        Counted(evidence.drift->steps_left, "more step"), " of a job");
  }
  return settlement.state == storage::SettlementState::kInForce ? "no check is planned" : "";
}

std::string CountSentence(const Evidence& evidence) {
  std::map<Verdict, uint64_t> counts;
  for (const storage::StoredPlan& plan : evidence.plans) {
    if (!plan.record.plan.empty()) ++counts[plan.record.verdict];
  }
  uint64_t total = 0;
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : counts) {
    total += count;
    std::string word = Word(verdict);
    std::replace(word.begin(), word.end(), '_', ' ');
    parts.push_back(absl::StrCat(count, " ", word));
  }
  if (total == 0) return "no candidate was named yet";
  return absl::StrCat(Counted(total, "candidate"), ": ", absl::StrJoin(parts, ", "));
}

// Beyond a factor of seven no percentage says more.
std::string SizeText(double log_ratio) {
  if (log_ratio >= planner::kOpenEnd) return "is over seven times faster";
  if (log_ratio <= -planner::kOpenEnd) return "is over seven times slower";
  return absl::StrCat("saves ", ShareText(-std::expm1(-log_ratio)), " of a step");
}

// The last race that had the plan as its challenger.
std::string RaceSentence(const Evidence& evidence, const planner::Plan& plan) {
  const storage::StoredRace* last = nullptr;
  for (const storage::StoredRace& race : evidence.races) {
    const bool control = race.record.kind == planner::RaceKind::kDwell ||
                         race.record.kind == planner::RaceKind::kSham;
    if (control || race.record.challenger != plan) continue;
    if (last == nullptr || race.id > last->id) last = &race;
  }
  if (last == nullptr) return "";
  const planner::Interval saving = planner::SavingOf(last->record.effect);
  const std::string size = last->pair_count == 0
                               ? ""
                               : absl::StrCat(": it ", SizeText(last->record.effect.estimate), " (",
                                              RangeText(saving), ")");
  return absl::StrCat("in its last race, a ", KindWord(last->record), " race against ",
                      storage::PlanForPeople(evidence.workload, last->record.champion), ", it ",
                      last->record.outcome == planner::RaceOutcome::kUndecided
                          ? "stayed undecided"
                          : Word(last->record.outcome),
                      " after ", Counted(last->pair_count, "pair"), size);
}

std::string VerdictSentence(const Evidence& evidence, const planner::PlanRecord& record) {
  std::string word = Word(record.verdict);
  std::replace(word.begin(), word.end(), '_', ' ');
  std::string text =
      absl::StrCat("the plan ", storage::PlanForPeople(evidence.workload, record.plan), ": ", word);
  if (!record.reason.empty()) absl::StrAppend(&text, ", ", record.reason);
  return text;
}

void Add(std::vector<std::string>& sentences, std::string sentence) {
  if (!sentence.empty()) sentences.push_back(std::move(sentence));
}

std::vector<std::string> ExplainPlan(const Evidence& evidence, const planner::PlanRecord& record) {
  std::vector<std::string> sentences;
  Add(sentences, VerdictSentence(evidence, record));
  Add(sentences, ProbeSentence(evidence.key.contract, record));
  Add(sentences, RaceSentence(evidence, record.plan));
  Add(sentences, KernelSentence(evidence));
  return sentences;
}

int Rank(Verdict verdict) {
  static constexpr std::array kOrder = {Verdict::kChampion,       Verdict::kWon,
                                        Verdict::kDemoted,        Verdict::kUndecided,
                                        Verdict::kLost,           Verdict::kRejectedDifferent,
                                        Verdict::kRejectedBroken, Verdict::kRejectedMemory,
                                        Verdict::kProven,         Verdict::kInconclusive,
                                        Verdict::kBuildFailed,    Verdict::kNotHonoured,
                                        Verdict::kDuplicate,      Verdict::kProposed};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), verdict) - kOrder.begin());
}

}  // namespace

std::string TimeText(double ns) {
  if (ns < 1e3) return absl::StrFormat("%.0f ns", ns);
  if (ns < 1e6) return absl::StrFormat("%.3g µs", ns / 1e3);
  if (ns < 1e9) return absl::StrFormat("%.3g ms", ns / 1e6);
  return absl::StrFormat("%.1f s", ns / 1e9);
}

std::string ShareText(double fraction) { return absl::StrFormat("%.1f %%", 100 * fraction); }

std::string RangeText(const planner::Interval& saving) {
  const bool below = planner::IsOpenBelow(saving), above = planner::IsOpenAbove(saving);
  if (below && above) return "not bounded on either side";
  if (below) return absl::StrCat("at most ", ShareText(saving.high));
  if (above) return absl::StrCat("at least ", ShareText(saving.low));
  return absl::StrCat(ShareText(saving.low), " to ", ShareText(saving.high));
}

std::vector<std::string> Explain(const Evidence& evidence, const storage::StoredPlan* asked) {
  if (asked != nullptr) return ExplainPlan(evidence, asked->record);
  std::vector<std::string> sentences;
  if (!evidence.settlement.has_value()) {
    sentences.push_back("nothing is settled for this workload under these conditions");
    if (!evidence.last_end.empty()) {
      sentences.push_back("the latest search ended undecided: " + evidence.last_end);
    }
    Add(sentences, CountSentence(evidence));
    return sentences;
  }
  const planner::SettlementRecord& record = evidence.settlement->record;
  if (record.kind == SettlementKind::kNoWinner) {
    sentences.push_back(
        absl::StrCat("the search ended without a winner, so the default plan stays, ",
                     TimeText(record.default_step_ns), " a step"));
  } else {
    sentences.push_back(WinSentence(evidence, record));
    Add(sentences, KernelSentence(evidence));
    sentences.push_back(ReplicationSentence(evidence, record));
    Add(sentences, DwellSentence(evidence, record.plan));
    if (const storage::StoredPlan* plan = Find(evidence, record.plan)) {
      Add(sentences, ProbeSentence(evidence.key.contract, plan->record));
    }
  }
  Add(sentences, StateSentence(evidence, *evidence.settlement));
  Add(sentences, CountSentence(evidence));
  Add(sentences, CostSentence(record));
  sentences.push_back(absl::StrCat("it holds for the contract ", Word(record.contract),
                                   " and the conditions listed; another user's or other "
                                   "conditions make it a first candidate only"));
  return sentences;
}

void SortForPeople(std::vector<storage::StoredPlan>& plans) {
  std::stable_sort(plans.begin(), plans.end(), [](const auto& a, const auto& b) {
    const int left = Rank(a.record.verdict), right = Rank(b.record.verdict);
    return left != right ? left < right : a.record.pairs > b.record.pairs;
  });
}

}  // namespace blazed::history
