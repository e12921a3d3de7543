#pragma once

#include <optional>
#include <string>

namespace blazed::trainer {

// During its life every program that this process starts trains by the table of
// tests/fakes/steady_steps.h. Sets this process's environment, so one at a time.
class SteadyPrograms {
 public:
  SteadyPrograms();
  ~SteadyPrograms();
  SteadyPrograms(const SteadyPrograms&) = delete;
  SteadyPrograms& operator=(const SteadyPrograms&) = delete;

 private:
  std::optional<std::string> sanitizer_before_;
};

}  // namespace blazed::trainer
