#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/trainer/terminal.h"

namespace blazed::trainer {

// What a person wants to see of a running job.
struct ProgressSnapshot {
  int64_t steps = 0;
  int64_t most_steps = 0;
  double step_ns = 0;       // mean of the latest steps
  double loss = 0;          // smoothed; 0: none in this regime
  std::string phase;        // "search", "settled", "off"
  bool tuning = false;      // false: only the training line is shown
  bool idle = false;        // nothing is explored meanwhile, and `note` says why
  uint32_t candidates = 0;  // plans that the search has named, whatever became of them
  uint32_t dropped = 0;
  uint32_t races = 0;
  uint32_t builds = 0;
  uint64_t pairs = 0;
  double gain = 0;
  bool provisional = false;  // the gain is of the best of many, and not replicated yet
  absl::Duration spent_building;
  absl::Duration spent_probing;
  absl::Duration regret;
  absl::Duration window;
  absl::Duration forecast_window;  // zero: none yet
  uint32_t forecast_builds = 0;
  double forecast_resolvable = 0;
  std::string forecast_based_on;
  std::string note;  // one sentence: the daemon's, or why the shim is off
};

// Shows a job's progress: live lines redrawn in place at most ten times a second, or plain lines,
// one every two seconds and one at every change of phase or of why nothing happens. One thread.
// Time comes from the caller, as the duration since the job's start.
class Progress {
 public:
  using Write = std::function<void(absl::string_view)>;
  using Columns = std::function<int()>;

  // `write` gets whole frames or whole lines. `columns` is asked at every frame, since a terminal
  // may be resized.
  Progress(Display display, Write write, Columns columns);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // True when it is time for an Update: cheap, asked once a step.
  bool Due(absl::Duration now) const { return now >= next_look_; }

  void Update(absl::Duration now, const ProgressSnapshot& snapshot);

  // A sentence that stays on the screen, above live lines.
  void Say(absl::string_view sentence);

  // Shows the last state. Nothing is drawn after it.
  void Finish(absl::Duration now, const ProgressSnapshot& snapshot);

 private:
  void Draw(std::vector<std::string> lines, absl::string_view above);

  const Display display_;
  const Write write_;
  const Columns columns_;
  absl::Duration next_look_ = absl::ZeroDuration();
  absl::Duration next_line_ = absl::ZeroDuration();
  std::string last_phase_;
  std::string last_why_;
  std::vector<std::string> frame_;  // the lines on the screen
  bool finished_ = false;
};

// The lines of a frame, unfitted. Exposed for tests and for plain output.
std::vector<std::string> ProgressLines(absl::Duration now, const ProgressSnapshot& snapshot);
std::string ProgressLine(absl::Duration now, const ProgressSnapshot& snapshot);

}  // namespace blazed::trainer
