#include "client/trainer/progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "client/trainer/format.h"

namespace blazed::trainer {
namespace {

constexpr absl::Duration kFrame = absl::Milliseconds(100);
constexpr absl::Duration kPlainLook = absl::Milliseconds(100);
constexpr absl::Duration kPlainLine = absl::Seconds(2);

std::string TrainingText(const ProgressSnapshot& snapshot) {
  std::string text = absl::StrCat("step ", CountText(snapshot.steps));
  if (snapshot.most_steps > 0) {
    absl::StrAppend(&text, " of at most ", CountText(snapshot.most_steps));
  }
  if (snapshot.step_ns > 0) absl::StrAppend(&text, ", ", StepTimeText(snapshot.step_ns), " a step");
  if (snapshot.loss > 0) absl::StrAppend(&text, absl::StrFormat(", loss %.3f", snapshot.loss));
  return text;
}

std::string SearchText(const ProgressSnapshot& snapshot) {
  std::string text = absl::StrCat(
      Counted(snapshot.candidates, "candidate"), ", ", CountText(snapshot.dropped), " dropped, ",
      Counted(snapshot.races, "race"), ", ", Counted(static_cast<int64_t>(snapshot.pairs), "pair"));
  if (snapshot.gain > 0) {
    absl::StrAppend(&text, ", saves ", PercentText(snapshot.gain),
                    snapshot.provisional ? " (provisional)" : "");
  }
  return text;
}

std::string SpentText(const ProgressSnapshot& snapshot) {
  std::string text = absl::StrCat(
      DurationText(snapshot.window), " (", Counted(snapshot.builds, "build"), " ",
      DurationText(snapshot.spent_building), ", probes ", DurationText(snapshot.spent_probing),
      ", regret ", DurationText(snapshot.regret), ")");
  if (snapshot.forecast_window > absl::ZeroDuration()) {
    absl::StrAppend(&text, ", forecast ", DurationText(snapshot.forecast_window), " and ",
                    Counted(snapshot.forecast_builds, "build"), ", resolves ",
                    PercentText(snapshot.forecast_resolvable));
    if (!snapshot.forecast_based_on.empty()) {
      absl::StrAppend(&text, ", from ", snapshot.forecast_based_on);
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> ProgressLines(absl::Duration now, const ProgressSnapshot& snapshot) {
  std::vector<std::string> lines = {
      absl::StrCat("training  ", DurationText(now), "  ", TrainingText(snapshot))};
  if (!snapshot.tuning) return lines;
  lines.push_back(absl::StrCat("tuning    ", snapshot.phase, ": ", SearchText(snapshot)));
  lines.push_back(absl::StrCat("spent     ", SpentText(snapshot)));
  lines.push_back(absl::StrCat("          ", snapshot.note));
  return lines;
}

std::string ProgressLine(absl::Duration now, const ProgressSnapshot& snapshot) {
  std::string line =
      absl::StrCat(Pad(DurationText(now), 11, Align::kRight), "  ", TrainingText(snapshot));
  if (!snapshot.tuning) return line;
  absl::StrAppend(&line, " | ", snapshot.phase, ": ", SearchText(snapshot), ", spent ",
                  DurationText(snapshot.window));
  if (snapshot.forecast_window > absl::ZeroDuration()) {
    absl::StrAppend(&line, " of ", DurationText(snapshot.forecast_window), " forecast");
  }
  if (snapshot.idle && !snapshot.note.empty()) absl::StrAppend(&line, "; ", snapshot.note);
  return line;
}

Progress::Progress(Display display, Write write, Columns columns)
    : display_(display), write_(std::move(write)), columns_(std::move(columns)) {}

void Progress::Draw(std::vector<std::string> lines, absl::string_view above) {
  // One write a frame: every line is overwritten and the rest of it cleared, nothing is blanked
  // first, so no half-drawn frame is ever seen.
  std::string out;
  if (!frame_.empty()) absl::StrAppendFormat(&out, "\x1b[%dA\r", frame_.size());
  if (!above.empty()) absl::StrAppend(&out, above, "\x1b[K\n");
  frame_ = std::move(lines);
  const int columns = std::max(20, columns_());
  for (const std::string& line : frame_) {
    absl::StrAppend(&out, Fit(line, columns - 1), "\x1b[K\n");
  }
  absl::StrAppend(&out, "\x1b[J");
  write_(out);
}

void Progress::Update(absl::Duration now, const ProgressSnapshot& snapshot) {
  if (finished_) return;
  if (display_ == Display::kLive) {
    if (!Due(now)) return;
    next_look_ = now + kFrame;
    Draw(ProgressLines(now, snapshot), "");
    return;
  }
  next_look_ = now + kPlainLook;
  const std::string why = snapshot.idle ? snapshot.note : "";
  if (now < next_line_ && snapshot.phase == last_phase_ && why == last_why_) return;
  next_line_ = now + kPlainLine;
  last_phase_ = snapshot.phase;
  last_why_ = why;
  write_(ProgressLine(now, snapshot) + "\n");
}

void Progress::Say(absl::string_view sentence) {
  if (display_ == Display::kLive && !frame_.empty() && !finished_) {
    Draw(frame_, sentence);
  } else {
    write_(absl::StrCat(sentence, "\n"));
  }
}

void Progress::Finish(absl::Duration now, const ProgressSnapshot& snapshot) {
  if (finished_) return;
  if (display_ == Display::kLive) {
    Draw(ProgressLines(now, snapshot), "");
  } else {
    write_(ProgressLine(now, snapshot) + "\n");
  }
  finished_ = true;
}

}  // namespace blazed::trainer
