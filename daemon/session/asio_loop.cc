#include "daemon/session/asio_loop.h"

#include <fcntl.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>

namespace blazed::session {

namespace asio = boost::asio;

// Either a timer or a descriptor. Destroying it cancels.
struct AsioLoop::Waiting {
  std::optional<asio::steady_timer> timer;
  std::optional<asio::posix::stream_descriptor> descriptor;
};

AsioLoop::AsioLoop(const Clock& clock) : clock_(clock), work_(asio::make_work_guard(context_)) {}

AsioLoop::~AsioLoop() = default;

void AsioLoop::Run() { context_.run(); }

void AsioLoop::Stop() { context_.stop(); }

void AsioLoop::Post(Task task) { asio::post(context_, std::move(task)); }

void AsioLoop::Finish(Handle handle, const Task& task) {
  // A handle that was cancelled after its completion had been queued is no longer there.
  if (waiting_.erase(handle) > 0) task();
}

Loop::Handle AsioLoop::After(absl::Duration delay, Task task) {
  const Handle handle = ++last_;
  auto waiting = std::make_unique<Waiting>();
  waiting->timer.emplace(context_, absl::ToChronoNanoseconds(delay));
  waiting->timer->async_wait([this, handle, task = std::move(task)](const auto& error) {
    if (!error) Finish(handle, task);
  });
  waiting_.emplace(handle, std::move(waiting));
  return handle;
}

Loop::Handle AsioLoop::WhenReadable(std::shared_ptr<const UniqueFd> fd, Task task) {
  const Handle handle = ++last_;
  // Asio closes what it watches, so it gets a copy.
  const int copy = fcntl(fd->get(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return 0;
  auto waiting = std::make_unique<Waiting>();
  waiting->descriptor.emplace(context_, copy);
  waiting->descriptor->async_wait(asio::posix::stream_descriptor::wait_read,
                                  [this, handle, task = std::move(task)](const auto& error) {
                                    if (!error) Finish(handle, task);
                                  });
  waiting_.emplace(handle, std::move(waiting));
  return handle;
}

void AsioLoop::Cancel(Handle handle) { waiting_.erase(handle); }

}  // namespace blazed::session
