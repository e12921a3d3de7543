// Jobs that search, settle and start anew until their daemon is gone, and somebody who asks History
// meanwhile. Everything they are told goes to Announced.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/fault/daemon/announced.h"

namespace blazed::fault {

class Load {
 public:
  // Two jobs of one workload on one device, two of workloads and devices of their own; each third
  // job is one that was settled before. `name` makes the workloads' names.
  Load(std::string socket, std::string name, uint64_t seed, Announced& announced);
  ~Load();

  // From here on jobs may fail: their daemon is about to die. They start no others.
  void ExpectDeath() { dying_ = true; }
  // Waits for all jobs; gives what went wrong while the daemon lived, one sentence each.
  std::vector<std::string> Join();

 private:
  void Work(size_t worker, uint64_t seed);
  Job Draw(size_t worker, size_t number, std::mt19937_64& random) const;
  void Ask();
  void Fail(std::string what);

  const std::string socket_, name_;
  Announced& announced_;
  std::atomic<bool> dying_{false};
  std::mutex mutex_;
  std::vector<std::string> failures_;
  std::vector<std::thread> threads_;
};

}  // namespace blazed::fault
