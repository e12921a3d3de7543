// Phrases that several answers share.
#pragma once

#include <string>

#include "blazed/v1/history.pb.h"
#include "client/blazectl/screen.h"

namespace blazed::blazectl {

// "default" for the empty plan, else the plan's own text.
std::string PlanText(const v1::Plan& plan, const std::string& text);

// A log ratio champion over challenger as the share of a step's time that the challenger saves.
double Saving(double log_ratio);
// The same as text: "12.3 %", or "> 7 x slower" where a percentage would say nothing more.
std::string SavingText(double log_ratio);

// "12.3 % (11.9 % to 12.8 %)", an open end without a number as "(at least 11.9 %)"; "none" for
// no_winner.
std::string GainText(const v1::SettlementRow& settlement);

Ink InkOf(v1::Verdict verdict);
Ink InkOfOutcome(const std::string& outcome);

// The half length of interval bars over all these races, as a saving.
double BarScale(const google::protobuf::RepeatedPtrField<v1::RaceRow>& races);
// A race's interval on that scale.
std::string BarOf(const v1::RaceRow& race, double scale);

}  // namespace blazed::blazectl
