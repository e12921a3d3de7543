#include "client/trainer/report/text_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "client/trainer/format.h"
#include "client/trainer/report/candidate_table.h"
#include "client/trainer/report/interval_plot.h"

namespace blazed::trainer {
namespace {

constexpr int kLabelColumns = 12;
constexpr int kNarrowest = 60;

// "  label       text", the text broken under itself.
std::string Line(absl::string_view label, absl::string_view text, int columns) {
  const std::string under(kLabelColumns + 2, ' ');
  std::string out = Wrap(text, columns - kLabelColumns - 2, under);
  if (out.empty()) return absl::StrCat("  ", label, "\n");
  return out.replace(0, under.size(), absl::StrCat("  ", Pad(label, kLabelColumns)));
}

std::string Heading(const std::string& title, int columns) {
  const std::string text = Fit(title, columns);
  return absl::StrCat(text, "\n", std::string(static_cast<size_t>(TextColumns(text)), '='), "\n");
}

std::string Decisions(const JobReport& job) {
  return Counted(static_cast<int64_t>(job.plan.size()), "decision");
}

std::string OutcomeText(const JobReport& job) {
  if (job.outcome == "settled") {
    const std::string kind = absl::StrReplaceAll(job.settlement, {{"_", " "}});
    return absl::StrCat("settled (", kind, "): ",
                        job.plan.size() == 1
                            ? "1 decision differs from the default"
                            : absl::StrCat(Decisions(job), " differ from the default"));
  }
  if (job.outcome == "no_winner") {
    return "no winner: the search ended and the default plan stays, which is a full answer";
  }
  if (job.outcome == "undecided") {
    return "undecided: there is no answer yet; the next job goes on from here";
  }
  if (job.outcome == "pinned") return "pinned: settled plans only, nothing was tried";
  if (job.outcome == "off") return "off: the default plan ran and nothing was tuned";
  return job.outcome;
}

// One changed decision a line, so that a plan can be read down.
std::string PlanLines(const JobReport& job, int columns) {
  constexpr size_t kMostLines = 24;
  if (job.plan.empty()) return Line("plan", "default", columns);
  std::string out;
  for (size_t i = 0; i < std::min(job.plan.size(), kMostLines); ++i) {
    out += Line(i == 0 ? "plan" : "", job.plan[i], columns);
  }
  if (job.plan.size() > kMostLines) {
    const std::string rest =
        absl::StrCat("and ", job.plan.size() - kMostLines, " more in the JSON report");
    out += Line("", rest, columns);
  }
  return out;
}

std::string SavingText(const Gain& gain) {
  return absl::StrCat("saves ", PercentText(gain.estimate), ", ", RangeText(gain.low, gain.high));
}

std::string StepTimes(const JobReport& job, int columns) {
  std::string out;
  if (job.default_step_ns > 0) {
    out += Line("default", StepTimeText(job.default_step_ns) + " a step", columns);
  }
  if (job.settled_step_ns > 0 && !job.plan.empty()) {
    std::string text = StepTimeText(job.settled_step_ns) + " a step";
    if (job.gain) absl::StrAppend(&text, ", ", SavingText(*job.gain));
    out += Line("champion", text, columns);
  }
  if (out.empty() && job.median_step_ns > 0) {
    out += Line("step", StepTimeText(job.median_step_ns) + " (median)", columns);
  }
  if (job.gain && !job.plan.empty()) {
    const std::string plot = IntervalPlot(*job.gain, columns, "  ");
    if (!plot.empty()) absl::StrAppend(&out, "\n", plot);
  }
  return out;
}

// How far a forecast was off, as people say it.
std::string Score(double forecast, double happened) {
  if (forecast <= 0 || happened <= 0) return "";
  const double ratio = happened / forecast;
  if (ratio >= 0.5 && ratio <= 2) return "within 2 x";
  return ratio > 2 ? absl::StrFormat("%.1f x more", ratio)
                   : absl::StrFormat("%.1f x less", 1 / ratio);
}

std::string ForecastRow(absl::string_view label, absl::string_view forecast,
                        absl::string_view happened, absl::string_view score) {
  std::string line =
      absl::StrCat("  ", Pad(label, 18), Pad(forecast, 14), Pad(happened, 14), score);
  absl::StripTrailingAsciiWhitespace(&line);
  return line + "\n";
}

std::string ForecastTable(const JobReport& job, int columns) {
  if (!job.forecast) return "";
  const ForecastReport& forecast = *job.forecast;
  // A search that was cut off says nothing about a forecast of the whole.
  const bool ended = job.outcome == "settled" || job.outcome == "no_winner";
  const auto score = [ended](double expected, double happened) {
    return ended ? Score(expected, happened) : std::string("so far");
  };
  std::string out = absl::StrCat("\n", ForecastRow("", "forecast", "happened", ""));
  out += ForecastRow("window", SecondsText(forecast.window_s), SecondsText(job.window_s),
                     score(forecast.window_s, job.window_s));
  out += ForecastRow("builds", CountText(forecast.builds), CountText(job.builds),
                     score(static_cast<double>(forecast.builds), static_cast<double>(job.builds)));
  out += ForecastRow("regret", SecondsText(forecast.regret_s), SecondsText(job.regret_s),
                     score(forecast.regret_s, job.regret_s));
  out += ForecastRow("resolvable win", PercentText(forecast.resolvable), "", "");
  if (!forecast.based_on.empty()) out += Line("based on", forecast.based_on, columns);
  return out;
}

std::string BreakEven(const JobReport& job) {
  if (job.served) return "served: another job paid for the search; nothing to pay back";
  if (!job.break_even_steps || *job.break_even_steps <= 0 ||
      !std::isfinite(*job.break_even_steps)) {
    return "";
  }
  const double steps = std::ceil(*job.break_even_steps);
  std::string text = Counted(static_cast<int64_t>(std::min(steps, 9e15)), "step");
  if (job.settled_step_ns > 0) {
    absl::StrAppend(&text, ", about ", SecondsText(steps * job.settled_step_ns * 1e-9));
  }
  return text + " until the search has paid for itself (N* = excess / step time saved)";
}

std::string PairUsesText(const PairUses& uses) {
  std::vector<std::string> parts;
  const auto add = [&parts](int64_t count, absl::string_view what) {
    if (count > 0) parts.push_back(absl::StrCat(CountText(count), " ", what));
  };
  add(uses.noise, "for the noise");
  add(uses.proposals, "of plans before a race");
  add(uses.search_races, "in search races");
  add(uses.verification_races, "in verification");
  add(uses.replication_races, "in replication");
  add(uses.sham_races, "in races between equal plans");
  add(uses.late, "run behind a verdict");
  return absl::StrJoin(parts, ", ");
}

// What the list of races holds besides those of the search.
std::string Checks(const JobReport& job) {
  std::string text;
  if (job.dwells > 0) {
    absl::StrAppend(&text, ", ", Counted(job.dwells, "check"), " by long dwells");
  }
  if (job.drift_checks > 0) absl::StrAppend(&text, ", ", Counted(job.drift_checks, "drift check"));
  return text;
}

std::string Spent(const JobReport& job, int columns) {
  const std::string counts = absl::StrCat(
      Counted(job.search_pairs, "search pair"), ", ",
      Counted(job.replication_pairs, "replication pair"), ", ", Counted(job.races, "race"),
      Checks(job), ", ", Counted(job.builds, "build"), ", ", Counted(job.probes, "probe"));
  const std::string times =
      absl::StrCat("builds ", SecondsText(job.build_s), ", probes ", SecondsText(job.probe_s),
                   ", drains ", SecondsText(job.drain_s), ", regret ", SecondsText(job.regret_s),
                   ", in a window of ", SecondsText(job.window_s));
  std::string out = absl::StrCat("\n", Line("spent", counts, columns), Line("", times, columns));
  if (job.budget_allowed_s > 0) {
    out += Line("budget",
                absl::StrCat(SecondsText(job.budget_spent_s), " of ",
                             SecondsText(job.budget_allowed_s), " that exploring may cost"),
                columns);
  }
  if (job.pairs_by_use && job.search_pairs + job.replication_pairs > 0) {
    out += Line("pairs", PairUsesText(*job.pairs_by_use), columns);
  }
  if (const std::string even = BreakEven(job); !even.empty()) {
    out += Line("break-even", even, columns);
  }
  return out;
}

std::string Trained(const JobReport& job, int columns) {
  if (job.steps == 0) return "";
  std::string text = absl::StrCat(Counted(job.steps, "step"), " in ", SecondsText(job.wall_s));
  if (job.first_loss > 0) {
    absl::StrAppend(&text, absl::StrFormat(", loss %.3f to %.3f", job.first_loss, job.last_loss));
  }
  if (job.stopped == "signal") text += ", ended by a signal";
  if (job.stopped == "seconds") text += ", ended by --seconds";
  return Line("trained", text, columns);
}

bool Searched(const JobReport& job) {
  return job.search_pairs + job.replication_pairs + job.builds + job.probes > 0 ||
         !job.plans.empty();
}

// A served job repeats what an earlier one found, so the counts do.
std::string Candidates(const JobReport& job, int columns) {
  if (job.plans.empty()) return "";
  const std::string counts =
      absl::StrCat(CandidateCounts(job.plans),
                   job.served ? "; an earlier job named them, all are in the JSON report" : "");
  return absl::StrCat("\n", Wrap(counts, columns - 2, "  "),
                      job.served ? "" : CandidateTable(job.plans, columns));
}

}  // namespace

std::string RenderJob(const JobReport& job, const std::string& title, int columns) {
  columns = std::max(columns, kNarrowest);
  std::string out = Heading(title, columns);
  out += Line("outcome", OutcomeText(job), columns);
  if (!job.reason.empty()) out += Line("", job.reason, columns);
  if (!job.shim_reason.empty() && job.shim_reason != job.reason) {
    out += Line("shim", job.shim_reason, columns);
  }
  out += PlanLines(job, columns);
  if (!job.equivalence.empty() && !job.plan.empty()) {
    out += Line("numbers", absl::StrReplaceAll(job.equivalence, {{"_", " "}}), columns);
  }
  out += Trained(job, columns);
  out += StepTimes(job, columns);
  out += ForecastTable(job, columns);
  if (Searched(job)) out += Spent(job, columns);
  return out + Candidates(job, columns);
}

std::string RenderReport(const Json& report, int columns) {
  const auto text = [&report](const char* key) { return report.value(key, std::string("?")); };
  std::string out;
  for (const Json& element : report["jobs"]) {
    const JobReport job = ReadJob(element);
    const std::string title =
        absl::StrCat(job.role, " job: ", text("workload"), ", ", text("regime"), ", ",
                     text("device"), ", contract ", text("contract"));
    absl::StrAppend(&out, out.empty() ? "" : "\n", RenderJob(job, title, columns));
  }
  return out;
}

std::string RenderComparison(const JobReport& first, const JobReport& second, int columns) {
  const auto row = [columns](absl::string_view label, const std::string& a, const std::string& b) {
    const int cell = std::max(16, (std::max(columns, kNarrowest) - 22) / 2);
    std::string line = absl::StrCat("  ", Pad(label, 20), Pad(a, cell), Pad(b, cell));
    absl::StripTrailingAsciiWhitespace(&line);
    return line + "\n";
  };
  const auto outcome = [](const JobReport& job) {
    return job.settlement.empty() || job.settlement == job.outcome
               ? absl::StrReplaceAll(job.outcome, {{"_", " "}})
               : absl::StrReplaceAll(absl::StrCat(job.outcome, " (", job.settlement, ")"),
                                     {{"_", " "}});
  };
  const auto plan = [](const JobReport& job) {
    return job.plan.empty() ? std::string("default") : absl::StrCat(Decisions(job), " changed");
  };
  std::string out = Heading("both jobs", columns);
  out += row("", "first", "second");
  out += row("outcome", outcome(first), outcome(second));
  out += row("plan", plan(first), first.plan == second.plan ? "the same" : plan(second));
  out += row("candidates", CountText(static_cast<int64_t>(first.plans.size())),
             CountText(static_cast<int64_t>(second.plans.size())));
  out += row("search pairs", CountText(first.search_pairs), CountText(second.search_pairs));
  out += row("replication pairs", CountText(first.replication_pairs),
             CountText(second.replication_pairs));
  out += row("builds", CountText(first.builds), CountText(second.builds));
  out += row("window", SecondsText(first.window_s), SecondsText(second.window_s));
  out += row("regret", SecondsText(first.regret_s), SecondsText(second.regret_s));
  // As each job ran at its end, so the machine's mood is in it: no comparison of plans.
  out += row("last steps (median)", StepTimeText(first.median_step_ns),
             StepTimeText(second.median_step_ns));
  return out;
}

}  // namespace blazed::trainer
