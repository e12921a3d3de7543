#include "client/sim/judge.h"

#include <cmath>

#include "client/sim/print.h"

namespace blazed::sim {
namespace {

bool Holds(const Bar& bar, const Row& row) {
  if (FieldOf(row, bar.field) == nullptr) return false;
  for (const auto& [field, value] : bar.where) {
    const Value* has = FieldOf(row, field);
    if (has == nullptr || *has != value) return false;
  }
  return true;
}

double LimitOf(const Bar& bar, uint64_t runs) {
  if (!bar.nominal) return bar.limit;
  return bar.limit + 3 * std::sqrt(bar.limit * (1 - bar.limit) / static_cast<double>(runs));
}

Standing StandingOf(const Bar& bar, const Row& row, double limit) {
  const std::string field = bar.field;
  const double value = NumberOf(row, field);
  const bool most = bar.sense == Sense::kAtMost;
  if (most ? value <= limit : value >= limit) return Standing::kWithin;
  // Where the error is in the limit, or the row gives none, the figure stands for itself.
  if (bar.nominal || FieldOf(row, field + "_low") == nullptr) return Standing::kMissed;
  const double end = NumberOf(row, field + (most ? "_low" : "_high"));
  return (most ? end <= limit : end >= limit) ? Standing::kWithinError : Standing::kMissed;
}

// The row's settings: its fields before the first figure with an interval.
std::string RowName(const Row& row) {
  std::string name;
  for (const auto& [field, value] : row) {
    if (FieldOf(row, field + "_low") != nullptr) break;
    if (!name.empty()) name += ", ";
    name += field + " " + ToText(value);
  }
  return name;
}

std::string Measured(const Bar& bar, const Row& row) {
  const std::string field = bar.field;
  std::string text = field + " " + ToText(*FieldOf(row, field));
  if (const Value* low = FieldOf(row, field + "_low")) {
    text += " (" + ToText(*low) + " to " + ToText(*FieldOf(row, field + "_high")) + ")";
  }
  return text;
}

}  // namespace

const char* NameOf(Standing standing) {
  switch (standing) {
    case Standing::kWithin:
      return "within";
    case Standing::kWithinError:
      return "within its error";
    case Standing::kMissed:
      return "missed";
    case Standing::kNotRun:
      return "not run";
  }
  return "";
}

std::string TextOf(const Bar& bar) {
  std::string text = std::string(bar.field) +
                     (bar.sense == Sense::kAtMost ? " at most " : " at least ") +
                     ToText(Value(bar.limit));
  if (bar.nominal) text += " + 3 standard errors";
  for (size_t i = 0; i < bar.where.size(); ++i) {
    text +=
        (i == 0 ? " where " : " and ") + bar.where[i].first + " is " + ToText(bar.where[i].second);
  }
  return text;
}

std::vector<Finding> Judge(const Scenario& scenario, const std::vector<Row>& rows, uint64_t runs) {
  std::vector<Finding> findings;
  for (const Bar& bar : scenario.bars) {
    const size_t before = findings.size();
    for (const Row& row : rows) {
      if (!Holds(bar, row)) continue;
      const Standing standing = StandingOf(bar, row, LimitOf(bar, runs));
      const std::string name = RowName(row);
      findings.push_back({standing, std::string(NameOf(standing)) + ": " + scenario.name +
                                        (name.empty() ? "" : ", " + name) + ": " +
                                        Measured(bar, row) + "; bar: " + TextOf(bar)});
    }
    if (findings.size() == before) {
      findings.push_back(
          {Standing::kNotRun, std::string("not run: ") + scenario.name + "; bar: " + TextOf(bar)});
    }
  }
  return findings;
}

}  // namespace blazed::sim
