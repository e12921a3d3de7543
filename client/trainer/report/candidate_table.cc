#include "client/trainer/report/candidate_table.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/trainer/format.h"

namespace blazed::trainer {
namespace {

constexpr absl::string_view kIndent = "  ";
constexpr int kPairsColumns = 6;
constexpr size_t kLinesPerCell = 2;

// The order of the table: what won, what was measured, what was refused, what never ran.
constexpr std::array<absl::string_view, 14> kVerdicts = {"champion",
                                                         "won",
                                                         "demoted",
                                                         "undecided",
                                                         "lost",
                                                         "proven",
                                                         "duplicate",
                                                         "not_honoured",
                                                         "rejected_different",
                                                         "rejected_broken",
                                                         "rejected_memory",
                                                         "inconclusive",
                                                         "build_failed",
                                                         "proposed"};

size_t Rank(const Candidate& candidate) {
  return static_cast<size_t>(std::find(kVerdicts.begin(), kVerdicts.end(), candidate.verdict) -
                             kVerdicts.begin());
}

void Sort(std::vector<Candidate>* candidates) {
  std::stable_sort(candidates->begin(), candidates->end(),
                   [](const Candidate& a, const Candidate& b) {
                     if (Rank(a) != Rank(b)) return Rank(a) < Rank(b);
                     if (a.verdict != b.verdict) return a.verdict < b.verdict;
                     return a.pairs > b.pairs;
                   });
}

std::string Words(absl::string_view verdict) { return absl::StrReplaceAll(verdict, {{"_", " "}}); }

// `text` over at most kLinesPerCell lines.
std::vector<std::string> Cell(absl::string_view text, int columns) {
  std::vector<std::string> lines = absl::StrSplit(Wrap(text, columns, ""), '\n', absl::SkipEmpty());
  if (lines.size() > kLinesPerCell) {
    lines[kLinesPerCell - 1] =
        Fit(absl::StrJoin(lines.begin() + kLinesPerCell - 1, lines.end(), " "), columns);
    lines.resize(kLinesPerCell);
  }
  return lines;
}

struct Columns {
  int verdict = 0;
  int plan = 0;
  int reason = 0;
};

Columns Measure(const std::vector<Candidate>& candidates, int columns) {
  Columns out;
  out.verdict = 8;
  int plan = 4;
  for (const Candidate& candidate : candidates) {
    out.verdict = std::max(out.verdict, TextColumns(candidate.verdict));
    plan = std::max(plan, TextColumns(candidate.plan));
  }
  const int fixed = static_cast<int>(kIndent.size()) + out.verdict + 2 + kPairsColumns + 2 + 2;
  const int room = std::max(24, columns - fixed);
  out.plan = std::min(plan, room / 2);
  out.reason = room - out.plan;
  return out;
}

void AppendRow(const Columns& columns, absl::string_view verdict, absl::string_view pairs,
               absl::string_view plan, absl::string_view reason, std::string* out) {
  const std::vector<std::string> plan_lines = Cell(plan, columns.plan);
  const std::vector<std::string> reason_lines = Cell(reason, columns.reason);
  const size_t lines = std::max<size_t>({1, plan_lines.size(), reason_lines.size()});
  for (size_t i = 0; i < lines; ++i) {
    std::string line =
        absl::StrCat(kIndent, Pad(i == 0 ? verdict : "", columns.verdict), "  ",
                     Pad(i == 0 ? pairs : "", kPairsColumns, Align::kRight), "  ",
                     Pad(i < plan_lines.size() ? plan_lines[i] : "", columns.plan), "  ",
                     Fit(i < reason_lines.size() ? reason_lines[i] : "", columns.reason));
    absl::StripTrailingAsciiWhitespace(&line);
    absl::StrAppend(out, line, "\n");
  }
}

}  // namespace

std::string CandidateCounts(const std::vector<Candidate>& candidates) {
  std::vector<Candidate> sorted = candidates;
  Sort(&sorted);
  std::vector<std::string> counts;
  for (size_t begin = 0; begin < sorted.size();) {
    size_t end = begin;
    while (end < sorted.size() && sorted[end].verdict == sorted[begin].verdict) ++end;
    counts.push_back(absl::StrCat(end - begin, " ", Words(sorted[begin].verdict)));
    begin = end;
  }
  return absl::StrCat(Counted(static_cast<int64_t>(candidates.size()), "candidate"),
                      counts.empty() ? "" : ": ", absl::StrJoin(counts, ", "));
}

std::string CandidateTable(std::vector<Candidate> candidates, int columns) {
  if (candidates.empty()) return "";
  Sort(&candidates);
  const Columns widths = Measure(candidates, columns);
  const size_t most = candidates.size() <= kRowsUnfolded ? candidates.size() : kRowsPerVerdict;
  std::string out;
  AppendRow(widths, "verdict", "pairs", "plan", "reason", &out);
  for (size_t begin = 0; begin < candidates.size();) {
    size_t end = begin;
    while (end < candidates.size() && candidates[end].verdict == candidates[begin].verdict) ++end;
    for (size_t i = begin; i < std::min(end, begin + most); ++i) {
      AppendRow(widths, Words(candidates[i].verdict), CountText(candidates[i].pairs),
                candidates[i].plan, candidates[i].reason, &out);
    }
    if (end - begin > most) {
      AppendRow(widths, Words(candidates[begin].verdict), "",
                absl::StrCat("and ", end - begin - most, " more"), "in the JSON report", &out);
    }
    begin = end;
  }
  return out;
}

}  // namespace blazed::trainer
