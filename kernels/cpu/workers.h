#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace blazed::cpu {

// Threads that run parts of a block beside the thread that asks. A part always goes to the same
// one, so that the rows which a helper touched in one block are still near its core in the next.
//
// A helper without work watches for it for about a millisecond and sleeps then, as the runtimes of
// OpenMP do: the next block, or the next step behind its batch, is mostly there by then. Under
// plans of one thread all of them sleep. Threads: one caller. A forked child has none of them and
// must not run parts.
class Workers {
 public:
  // RESOURCE_EXHAUSTED where the system starts no thread more; the caller goes on without.
  static absl::StatusOr<std::unique_ptr<Workers>> Start(int helpers);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // part(0) here, part(i) on helper i; returns when all have. At most helpers() + 1 parts.
  void Run(int parts, absl::FunctionRef<void(int)> part);

  int helpers() const { return static_cast<int>(helpers_.size()); }

 private:
  // Apart by a cache line: each word is written by one side and watched by the other.
  struct Helper {
    alignas(64) std::atomic<uint32_t> ordered{0};
    alignas(64) std::atomic<uint32_t> done{0};
    std::thread thread;
  };

  Workers() = default;
  void Serve(int part, Helper& helper);

  std::vector<std::unique_ptr<Helper>> helpers_;
  absl::FunctionRef<void(int)>* part_ = nullptr;  // of the orders that are out; null: to end
  uint32_t orders_ = 0;
};

}  // namespace blazed::cpu
