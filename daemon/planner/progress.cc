// What people see while it goes on.
#include <cmath>

#include "daemon/planner/interval.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr size_t kLongestNote = 160;

bool Dropped(Verdict verdict) {
  switch (verdict) {
    case Verdict::kProposed:
    case Verdict::kProven:
    case Verdict::kUndecided:
    case Verdict::kWon:
    case Verdict::kChampion:
      return false;
    default:
      return true;
  }
}

}  // namespace

// What holds until something else is said: why exploring waits, or what noise hides from it. Known
// from the forecast on.
std::string Tuning::State::StandingNote(const Session& s) const {
  if (s.pause) return BudgetNote(s);
  if (s.role != Role::kExploring) return {};
  std::string note = WaitNote(s);
  if (!campaign_.has_forecast || !search_.profile().too_noisy) return note;
  if (!note.empty()) note += "; ";
  return note + "too noisy here to resolve less than " + PercentText(search_.profile().delta1);
}

void Tuning::State::Report(Session& s, const std::string& note) {
  ReportProgress report;
  report.session = s.ready.session;
  report.phase = s.phase;
  for (const auto& [plan, record] : plans_) {
    if (plan.empty()) continue;
    ++report.candidates;
    if (Dropped(record.verdict)) ++report.dropped;
  }
  report.cost = CostOf(s);
  // The campaign keeps a log ratio; people read the part of a step's time that is saved.
  report.gain = settlement_ ? settlement_->gain.estimate : -std::expm1(-campaign_.gain);
  // Whatever is settled elsewhere, a session that stays on its default saves nothing.
  if (s.role == Role::kFrozen && s.in_use == kDefaultVariant) report.gain = 0;
  if (const Variant* v = s.Find(s.in_use)) {
    report.champion_choices = static_cast<uint32_t>(v->plan.size());
  }
  report.forecast = settlement_ ? settlement_->forecast : campaign_.forecast;
  if (s.forecast) report.forecast = *s.forecast;
  report.note = (note.empty() ? StandingNote(s) : note).substr(0, kLongestNote);
  Emit(std::move(report));
}

void Tuning::State::SetPhase(Session& s, Phase phase, const std::string& note) {
  s.phase = phase;
  Report(s, note);
}

void Tuning::State::KeepEnd(Session& s, Outcome outcome, uint64_t settlement,
                            const std::string& reason) {
  s.ledger.Close(now_);
  if (s.role == Role::kSettled || s.role == Role::kFrozen) DropUnused(s);
  Emit(KeepOutcome{s.ready.session, outcome, settlement, CostOf(s), reason});
}

}  // namespace blazed::planner
