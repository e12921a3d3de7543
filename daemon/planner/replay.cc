#include "daemon/planner/replay.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace blazed::planner {
namespace {

std::string AtLine(uint64_t number, const std::string& error) {
  return "line " + std::to_string(number) + ": " + error;
}

// A line's error, or the gap that the line stands for.
std::string WhyUnread(std::string_view line, const std::string& error) {
  std::string no_gap;
  const auto gap = DecodeGap(line, &no_gap);
  if (!gap) return error;
  return "up to " + std::to_string(gap->missing) + " lines are missing here (" + gap->reason +
         "): what was decided behind the gap cannot be decided again";
}

}  // namespace

ReplayResult Replay(std::string_view log) {
  ReplayResult result;
  std::optional<Tuning> tuning;
  uint64_t number = 0;
  for (size_t at = 0; at < log.size();) {
    const size_t end = std::min(log.find('\n', at), log.size());
    const std::string_view line = log.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.empty() || line[0] == '#') continue;
    if (end == log.size()) {
      result.error = AtLine(number, "it has no end, so it was cut short");
      return result;
    }
    std::string error;
    if (!tuning) {
      auto opening = DecodeOpening(line, &error);
      if (!opening) {
        result.error = AtLine(number, WhyUnread(line, error));
        return result;
      }
      tuning.emplace(std::move(opening->workload), opening->contract, opening->config,
                     std::move(opening->memory));
      continue;
    }
    const auto event = DecodeEvent(line, &error);
    if (!event) {
      result.error = AtLine(number, WhyUnread(line, error));
      return result;
    }
    std::vector<Action> actions = tuning->Apply(*event);
    result.digest = DigestActions(actions, result.digest);
    ++result.events;
    for (Action& action : actions) result.actions.push_back(std::move(action));
  }
  result.complete = tuning.has_value();
  if (!tuning) result.error = "the log opens no tuning";
  return result;
}

}  // namespace blazed::planner
