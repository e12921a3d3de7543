// Debian's gRPC is not instrumented, so the thread sanitizer would not see that what a batch was
// started with is handed over to whoever gets its completion. These definitions stand before the
// library's own: each tells the sanitizer, then calls the library. Linked as absl_mutex.cc is.
#include <dlfcn.h>
#include <grpc/grpc.h>
#include <link.h>
#include <sanitizer/tsan_interface.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

void* Find(const char* symbol) {
  void* found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) {
    std::fprintf(stderr, "grpc_tags: %s is not in gRPC's library\n", symbol);
    std::abort();
  }
  return found;
}

// A lock that the sanitizer does not see: it must not order what gRPC does not order.
class Spin {
 public:
  Spin() {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Spin() { flag_.clear(std::memory_order_release); }
  Spin(const Spin&) = delete;
  Spin& operator=(const Spin&) = delete;

 private:
  static std::atomic_flag flag_;
};

std::atomic_flag Spin::flag_ = ATOMIC_FLAG_INIT;

using Run = void (*)(grpc_completion_queue_functor*, int);
using Ranges = std::vector<std::pair<uintptr_t, uintptr_t>>;

std::unordered_map<void*, Run>& Originals() {
  static auto& originals = *new std::unordered_map<void*, Run>();
  return originals;
}

Ranges FindCode() {
  Ranges ranges;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          static_cast<Ranges*>(out)->emplace_back(begin, begin + segment.p_memsz);
        }
        return 0;
      },
      &ranges);
  return ranges;
}

bool IsCode(uintptr_t address) {
  static const Ranges& code = *new Ranges(FindCode());
  for (const auto& [begin, end] : code) {
    if (address >= begin && address < end) return true;
  }
  return false;
}

void Completed(grpc_completion_queue_functor* functor, int ok) {
  Run original = nullptr;
  {
    const Spin spin;
    const auto found = Originals().find(functor);
    original = found->second;
    Originals().erase(found);
  }
  functor->functor_run = original;
  __tsan_acquire(functor);
  original(functor, ok);
}

// The tag of a callback begins with the function to run; any other tag is an object of gRPC's C++
// layer, which begins with a table of virtual functions and so with an address of data.
void Watch(void* tag) {
  auto* functor = static_cast<grpc_completion_queue_functor*>(tag);
  if (functor == nullptr || !IsCode(reinterpret_cast<uintptr_t>(functor->functor_run))) return;
  const Spin spin;
  if (functor->functor_run == &Completed) return;
  Originals()[functor] = functor->functor_run;
  functor->functor_run = &Completed;
}

}  // namespace

extern "C" {

grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t count, void* tag,
                                      void* reserved) {
  static const auto real =
      reinterpret_cast<decltype(&grpc_call_start_batch)>(Find("grpc_call_start_batch"));
  if (tag != nullptr) __tsan_release(tag);
  Watch(tag);
  return real(call, ops, count, tag, reserved);
}

grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline,
                                      void* reserved) {
  static const auto real =
      reinterpret_cast<decltype(&grpc_completion_queue_next)>(Find("grpc_completion_queue_next"));
  const grpc_event event = real(queue, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE) __tsan_acquire(event.tag);
  return event;
}

grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag,
                                       gpr_timespec deadline, void* reserved) {
  static const auto real =
      reinterpret_cast<decltype(&grpc_completion_queue_pluck)>(Find("grpc_completion_queue_pluck"));
  const grpc_event event = real(queue, tag, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE) __tsan_acquire(tag);
  return event;
}

}  // extern "C"
