// The control strand on Boost.Asio: one io_context, run by one thread. Sleeps in epoll with no
// timer at all while nothing is attached.
#pragma once

#include <utility>  // before Asio: its 1.74 coroutine headers do not include what they use

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>

#include "daemon/base/clock.h"
#include "daemon/session/loop.h"

namespace blazed::session {

class AsioLoop final : public Loop {
 public:
  explicit AsioLoop(const Clock& clock);
  ~AsioLoop() override;

  // Turns the loop until Stop. The calling thread is the strand.
  void Run();
  // Any thread. What is posted later is never run.
  void Stop();

  boost::asio::io_context& context() { return context_; }

  void Post(Task task) override;
  Handle After(absl::Duration delay, Task task) override;
  Handle WhenReadable(std::shared_ptr<const UniqueFd> fd, Task task) override;
  void Cancel(Handle handle) override;
  planner::Moment Now() const override { return clock_.Now(); }
  int64_t WallNs() const override { return clock_.WallNs(); }

 private:
  struct Waiting;

  void Finish(Handle handle, const Task& task);

  const Clock& clock_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  Handle last_ = 0;
  std::map<Handle, std::unique_ptr<Waiting>> waiting_;  // the strand only
};

}  // namespace blazed::session
