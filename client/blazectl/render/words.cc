#include "client/blazectl/render/words.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/blazectl/interval_bar.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {
namespace {

constexpr double kOpenLogRatio = 2;  // an end there or beyond is open: docs/measurement.md

// Written so that what is no number is open.
std::string RangeText(double low, double high) {
  const bool below = !(low > Saving(-kOpenLogRatio)), above = !(high < Saving(kOpenLogRatio));
  if (below && above) return "not bounded";
  if (below) return absl::StrCat("at most ", PercentText(high));
  if (above) return absl::StrCat("at least ", PercentText(low));
  return absl::StrCat(PercentText(low), " to ", PercentText(high));
}

}  // namespace

std::string PlanText(const v1::Plan& plan, const std::string& text) {
  if (!text.empty()) return text;
  if (plan.choices().empty()) return "default";
  std::string numbers;
  for (const v1::Choice& choice : plan.choices()) {
    absl::StrAppend(&numbers, numbers.empty() ? "" : ", ", choice.decision(), "=", choice.option());
  }
  return numbers;
}

double Saving(double log_ratio) { return -std::expm1(-log_ratio); }

std::string SavingText(double log_ratio) {
  if (log_ratio >= kOpenLogRatio) return "> 7 x faster";
  if (log_ratio <= -kOpenLogRatio) return "> 7 x slower";
  return PercentText(Saving(log_ratio));
}

std::string GainText(const v1::SettlementRow& settlement) {
  if (settlement.kind() == v1::SETTLEMENT_KIND_NO_WINNER) return "none";
  return absl::StrCat(PercentText(settlement.gain()), " (",
                      RangeText(settlement.gain_low(), settlement.gain_high()), ")");
}

Ink InkOf(v1::Verdict verdict) {
  switch (verdict) {
    case v1::VERDICT_WON:
    case v1::VERDICT_CHAMPION:
      return Ink::kGood;
    case v1::VERDICT_REJECTED_DIFFERENT:
    case v1::VERDICT_REJECTED_BROKEN:
    case v1::VERDICT_REJECTED_MEMORY:
    case v1::VERDICT_BUILD_FAILED:
    case v1::VERDICT_DEMOTED:
      return Ink::kBad;
    default:
      return Ink::kPlain;
  }
}

Ink InkOfOutcome(const std::string& outcome) {
  return outcome == "won" ? Ink::kGood : outcome == "lost" ? Ink::kBad : Ink::kPlain;
}

double BarScale(const google::protobuf::RepeatedPtrField<v1::RaceRow>& races) {
  // One wild race must not squeeze all others to a point: estimates set the scale up to a limit,
  // and what is beyond runs off its edge.
  constexpr double kLeast = 0.01, kMost = 0.5;
  double scale = kLeast;
  for (const v1::RaceRow& race : races) {
    const double saving = std::fabs(Saving(race.estimate()));
    if (std::isfinite(saving)) scale = std::max(scale, 1.5 * saving);
  }
  return std::min(scale, kMost);
}

std::string BarOf(const v1::RaceRow& race, double scale) {
  return IntervalBar(Saving(race.estimate()), Saving(race.low()), Saving(race.high()), scale);
}

}  // namespace blazed::blazectl
