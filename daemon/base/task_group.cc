#include "daemon/base/task_group.h"

#include <pthread.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace blazed {
namespace {

// The kernel keeps 15 characters of a thread's name.
void NameThread(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

}  // namespace

TaskGroup::~TaskGroup() { StopAll(); }

void TaskGroup::Start(std::string name, std::function<absl::Status()> run,
                      std::function<void()> stop) {
  std::thread thread([this, name, run = std::move(run)] {
    NameThread(name);
    absl::Status status = run();
    bool early;
    {
      absl::MutexLock lock(&mutex_);
      early = !stopping_;
    }
    if (!status.ok()) {
      RequestStop(absl::Status(status.code(), absl::StrCat("task ", name, ": ", status.message())));
    } else if (early) {
      RequestStop(
          absl::InternalError(absl::StrCat("task ", name, " ended without being asked to")));
    }
  });
  tasks_.push_back({std::move(name), std::move(stop), std::move(thread)});
}

void TaskGroup::RequestStop(absl::Status why) {
  absl::MutexLock lock(&mutex_);
  if (stopping_) return;
  stopping_ = true;
  why_ = std::move(why);
}

absl::Status TaskGroup::Wait() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&stopping_));
  return why_;
}

void TaskGroup::StopAll() {
  RequestStop(absl::OkStatus());
  while (!tasks_.empty()) {
    Task task = std::move(tasks_.back());
    tasks_.pop_back();
    task.stop();
    task.thread.join();
  }
}

}  // namespace blazed
