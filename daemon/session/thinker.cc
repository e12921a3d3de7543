#include "daemon/session/thinker.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace blazed::session {
namespace {

// A tenth of what another thread gets on a core that both want: training goes first.
constexpr int kNiceness = 10;

}  // namespace

void ThreadThinker::Run() {
  // Of this thread alone. Where it is not taken the thoughts are right all the same.
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
  for (;;) {
    std::shared_ptr<const planner::Thought> thought;
    Answer answer;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &ThreadThinker::Wakes));
      if (stopping_) return;
      thought = std::move(thought_);
      answer = std::move(answer_);
    }
    planner::Conclusion conclusion = planner::Conclude(*thought);
    thought.reset();
    loop_.Post([answer = std::move(answer), conclusion = std::move(conclusion)]() mutable {
      answer(std::move(conclusion));
    });
  }
}

void ThreadThinker::Stop() {
  absl::MutexLock lock(&mutex_);
  stopping_ = true;
}

void ThreadThinker::Think(std::shared_ptr<const planner::Thought> thought, Answer answer) {
  absl::MutexLock lock(&mutex_);
  thought_ = std::move(thought);
  answer_ = std::move(answer);
}

}  // namespace blazed::session
