#include "daemon/history/probe_sentence.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace blazed::history {
namespace {

using planner::ComparisonSummary;
using planner::Contract;
using planner::Equivalence;

// The largest differences may be of two numbers, of two tensors even: one is large in itself, the
// other is large against a number near zero.
std::string CountAndSize(const ComparisonSummary& summary) {
  std::string text = absl::StrCat("its probe found ", summary.mismatches, " of ", summary.elements,
                                  " numbers different in their bits");
  if (summary.max_abs > 0) {
    absl::StrAppend(&text, absl::StrFormat(", by at most %.2g in absolute terms and %.2g %% of the "
                                           "number itself",
                                           summary.max_abs, 100 * summary.max_rel));
  }
  return text;
}

std::string In(const ComparisonSummary& summary) {
  return summary.worst_tensor.empty() ? "" : absl::StrCat(" in ", summary.worst_tensor);
}

// The shim allows four times the default's own error, down to twice where that is its limit, or
// more where the type of the numbers does. What is less is by the type alone: the own error was too
// large to judge by.
std::string AllowedText(const ComparisonSummary& summary) {
  const double own = summary.own_max_rel;
  const bool by_own_error =
      own > 0 && summary.allowed_max_rel >= 1.999 * own && summary.allowed_max_rel <= 4.001 * own;
  const std::string of_the_largest = " of the largest number there";
  if (!by_own_error) {
    return absl::StrFormat("re-ordered sums explain %.2g", summary.allowed_max_rel) +
           of_the_largest;
  }
  return absl::StrFormat("the default's own error of %.2g allows %.2g", own,
                         summary.allowed_max_rel) +
         of_the_largest;
}

std::string Rounded(Contract contract, const ComparisonSummary& summary) {
  if (contract == Contract::kPrediction) {
    return CountAndSize(summary) + "; no prediction differs, which is all that the contract asks";
  }
  return absl::StrCat(CountAndSize(summary), "; nearest to its bound is what differs", In(summary),
                      ", where ", AllowedText(summary));
}

std::string Rejected(Contract contract, const ComparisonSummary& summary) {
  const std::string found = CountAndSize(summary) + "; ";
  if (summary.prediction_disagreements > 0) {
    return absl::StrCat(found, summary.prediction_disagreements,
                        " of its predictions differ, and none may");
  }
  if (contract == Contract::kBitwise) {
    return absl::StrCat(found, "the contract bitwise allows no difference, worst", In(summary));
  }
  return absl::StrCat(found, "beyond its bound is what differs", In(summary), ", where ",
                      AllowedText(summary), ", and less for all of them together");
}

}  // namespace

std::string ProbeSentence(Contract contract, const planner::PlanRecord& record) {
  if (!record.has_comparison) return "";
  const ComparisonSummary& summary = record.comparison;
  switch (summary.equivalence) {
    case Equivalence::kIdentical:
      return absl::StrCat("its probe found all ", summary.elements,
                          " compared numbers equal to the default's, bit for bit");
    case Equivalence::kRounding:
      return Rounded(contract, summary);
    case Equivalence::kRejectedDifferent:
      return Rejected(contract, summary);
    case Equivalence::kRejectedBroken:
      return summary.nan_variant + summary.inf_variant == 0
                 ? "its probe failed to run, where the default's run did not"
                 : absl::StrCat("its probe found NaN or infinity that the default does not have",
                                In(summary));
    default:
      return "";
  }
}

}  // namespace blazed::history
