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

double LimitOf(const Bar& bar, const Row& row) {
  if (!bar.nominal) return bar.limit;
  const double count = NumberOf(row, std::string(bar.field) + "_n");
  return bar.limit + 3 * std::sqrt(bar.limit * (1 - bar.limit) / count);
}

Standing StandingOf(const Bar& bar, const Row& row) {
  const std::string field = bar.field;
  const double value = NumberOf(row, field), limit = LimitOf(bar, row);
  if (std::isnan(value) || NumberOf(row, field + "_n") == 0) return Standing::kNoData;
  const bool most = bar.sense == Sense::kAtMost;
  const auto reaches = [&](double figure) { return most ? figure <= limit : figure >= limit; };
  // Where the error is in the limit, or the row gives none, the figure stands for itself.
  if (bar.nominal || FieldOf(row, field + "_low") == nullptr) {
    return reaches(value) ? Standing::kWithin : Standing::kMissed;
  }
  const double better = NumberOf(row, field + (most ? "_low" : "_high"));
  const double worse = NumberOf(row, field + (most ? "_high" : "_low"));
  if (reaches(value)) return reaches(worse) ? Standing::kWithin : Standing::kNotShown;
  return reaches(better) ? Standing::kWithinError : Standing::kMissed;
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
    text += " (" + ToText(*low) + " to " + ToText(*FieldOf(row, field + "_high"));
    if (const Value* n = FieldOf(row, field + "_n")) text += ", n " + ToText(*n);
    text += ")";
  }
  return text;
}

}  // namespace

const char* NameOf(Standing standing) {
  switch (standing) {
    case Standing::kWithin:
      return "within";
    case Standing::kNotShown:
      return "reached, not shown";
    case Standing::kWithinError:
      return "within its error";
    case Standing::kMissed:
      return "missed";
    case Standing::kNoData:
      return "no data";
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

bool Fails(Standing standing) {
  return standing == Standing::kMissed || standing == Standing::kNoData;
}

std::vector<Finding> Judge(const Scenario& scenario, const std::vector<Row>& rows) {
  std::vector<Finding> findings;
  for (const Bar& bar : scenario.bars) {
    const size_t before = findings.size();
    for (const Row& row : rows) {
      if (!Holds(bar, row)) continue;
      const Standing standing = StandingOf(bar, row);
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
