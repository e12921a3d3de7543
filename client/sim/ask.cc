#include "client/sim/ask.h"

#include <charconv>
#include <sstream>

#include "client/sim/print.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

constexpr uint32_t kMostSteps = 10000;  // of one request
constexpr double kLongestBuildS = 3600;

template <class Number>
std::optional<Number> NumberFrom(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string ScoreText(const Score& score) {
  std::ostringstream out;
  out << "score wall " << ToText(score.wall) << " regret " << ToText(score.regret) << " got "
      << ToText(score.got) << " best " << ToText(score.best) << " worse " << score.worse
      << " claims " << score.claims << " false_claim " << score.false_claim << " builds "
      << ToText(score.builds) << " trial_steps " << ToText(score.trial_steps);
  return out.str();
}

}  // namespace

std::string AskSession::Answer(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.empty()) return "error an empty line; say workload, run or done";
  if (words[0] == "workload") return Workload(words);
  if (words[0] != "run" && words[0] != "done") return "error no request is called " + words[0];
  if (!arena_) return "error no workload yet; say workload SPACE BUILD_S SEED first";
  return words[0] == "run" ? Run(words) : Done(words);
}

std::string AskSession::Workload(const std::vector<std::string>& words) {
  if (words.size() != 4) return "error workload takes a space, seconds of a build and a seed";
  const auto build_s = NumberFrom<double>(words[2]);
  const auto seed = NumberFrom<uint64_t>(words[3]);
  if (!build_s || !seed || !(*build_s >= 0 && *build_s <= kLongestBuildS)) {
    return "error seconds are a number from 0 to 3600 and a seed is a whole number";
  }
  auto contest = ContestOf(words[1], *build_s, *seed);
  if (contest == nullptr) return "error no space is called " + words[1];
  contest_ = std::move(contest);
  arena_.emplace(&contest_->table, contest_->arena, NoiseSeedOf(*seed));
  std::string answer = "options";
  for (const auto& decision : contest_->table.spec().decisions) {
    answer.append(" ").append(std::to_string(decision.options.size()));
  }
  return answer;
}

std::optional<planner::Plan> AskSession::PlanOf(const std::string& options) const {
  const auto& decisions = contest_->table.spec().decisions;
  planner::Plan plan;
  std::istringstream in(options);
  uint32_t at = 0;
  for (std::string item; std::getline(in, item, ',');) {
    const auto option = NumberFrom<uint32_t>(item);
    if (at >= decisions.size() || !option || *option >= decisions[at].options.size()) {
      return std::nullopt;
    }
    if (*option > 0) plan.push_back({at, *option});
    ++at;
  }
  if (at != decisions.size()) return std::nullopt;
  return plan;
}

std::string AskSession::Run(const std::vector<std::string>& words) {
  if (words.size() != 3) return "error run takes a plan and a count";
  const auto plan = PlanOf(words[1]);
  const auto count = NumberFrom<uint32_t>(words[2]);
  if (!plan) return "error a plan is one option for each decision, with commas between";
  if (!count || *count < 1 || *count > kMostSteps) return "error a count is 1 to 10000";
  const auto times = arena_->Run(*plan, static_cast<int>(*count));
  if (times.empty()) return "spent";
  std::string answer = "times";
  for (double time : times) answer.append(" ").append(ToText(time));
  return answer;
}

std::string AskSession::Done(const std::vector<std::string>& words) {
  const auto plan = words.size() == 2 ? PlanOf(words[1]) : std::nullopt;
  if (!plan) return "error done takes a plan: one option for each decision, with commas between";
  return ScoreText(arena_->Finish(*plan));
}

}  // namespace blazed::sim
