#include "kernels/cpu/workers.h"

#include <system_error>

#include "absl/strings/str_cat.h"

namespace blazed::cpu {
namespace {

// A pause takes some 50 ns on the processors of the last years, a tenth of that on older ones.
// Waking a thread that sleeps takes as long as a part or two, and longer where others use its core.
constexpr int kWatches = 20'000;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Until the word is no longer `known`: first by watching it, then asleep.
void Await(const std::atomic<uint32_t>& word, uint32_t known) {
  for (int i = 0; i < kWatches; ++i) {
    if (word.load(std::memory_order_acquire) != known) return;
    Pause();
  }
  word.wait(known, std::memory_order_acquire);
}

void Set(std::atomic<uint32_t>& word, uint32_t value) {
  word.store(value, std::memory_order_release);
  word.notify_one();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Workers>> Workers::Start(int helpers) {
  std::unique_ptr<Workers> workers(new Workers());
  for (int i = 1; i <= helpers; ++i) {
    auto helper = std::make_unique<Helper>();
    try {
      helper->thread = std::thread(&Workers::Serve, workers.get(), i, std::ref(*helper));
    } catch (const std::system_error& error) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "no thread more than ", i, ": ", error.what(), "; keep to plans of fewer threads"));
    }
    workers->helpers_.push_back(std::move(helper));
  }
  return workers;
}

Workers::~Workers() {
  part_ = nullptr;
  ++orders_;
  for (const auto& helper : helpers_) Set(helper->ordered, orders_);
  for (const auto& helper : helpers_) helper->thread.join();
}

void Workers::Serve(int part, Helper& helper) {
  for (uint32_t known = 0;;) {
    Await(helper.ordered, known);
    known = helper.ordered.load(std::memory_order_acquire);
    if (part_ == nullptr) return;
    (*part_)(part);
    Set(helper.done, known);
  }
}

void Workers::Run(int parts, absl::FunctionRef<void(int)> part) {
  part_ = &part;
  ++orders_;
  for (int i = 1; i < parts; ++i) Set(helpers_[static_cast<size_t>(i - 1)]->ordered, orders_);
  part(0);
  for (int i = 1; i < parts; ++i) {
    const std::atomic<uint32_t>& done = helpers_[static_cast<size_t>(i - 1)]->done;
    for (uint32_t known; (known = done.load(std::memory_order_acquire)) != orders_;) {
      Await(done, known);
    }
  }
}

}  // namespace blazed::cpu
