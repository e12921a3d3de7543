#include "kernels/fuse/threads.h"

#include <charconv>

#include "absl/strings/str_cat.h"
#include "kernels/graph/hash128.h"

namespace blazed::fuse {
namespace {

int NumberIn(const std::string& text) {
  int number = 1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Option ThreadsOption(int threads) {
  return {absl::StrCat(threads), Numerics::kSameBits,
          absl::StrCat("rows of large blocks are shared between ", threads, " threads")};
}

}  // namespace

absl::Status OfferThreads(int most, DecisionSpace* space) {
  if (most <= 1) return absl::OkStatus();
  if (space->decisions.size() >= static_cast<size_t>(kMaxDecisions)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the graph has ", kMaxDecisions,
                     " decisions already; use fewer layers of distinct sizes, or one thread"));
  }
  Decision decision;
  decision.kind = DecisionKind::kChoice;
  decision.topic = Topic::kThreads;
  decision.name = "threads";
  decision.description = "how many threads share the rows of each large block";
  decision.options = {{"1", Numerics::kSameBits, "one thread runs all of a step"}};
  for (int threads = 2; threads < most; threads *= 2) {
    decision.options.push_back(ThreadsOption(threads));
  }
  decision.options.push_back(ThreadsOption(most));
  decision.id = graph::HashText(absl::StrCat("threads up to ", most));
  space->decisions.push_back(std::move(decision));
  return absl::OkStatus();
}

int ThreadsOf(const DecisionSpace& space, const Plan& plan) {
  for (size_t d = 0; d < space.decisions.size(); ++d) {
    const Decision& decision = space.decisions[d];
    if (decision.topic != Topic::kThreads) continue;
    return NumberIn(
        decision.options[static_cast<size_t>(OptionOf(plan, static_cast<int>(d)))].name);
  }
  return 1;
}

}  // namespace blazed::fuse
