// The few functions of the C++ runtime that the shared object needs, so that it carries none of the
// rest: no unwinder, no emergency pool that is allocated at load, no symbol of a late C library.
// Linked into libblazed.so only. Memory for small things that cannot be had ends the process, as it
// is about to end anyway; the one large allocation, a probe's reference, is checked where it is
// made.
#include <cstdlib>
#include <new>

#define BLZ_FATAL(signature) \
  [[noreturn]] void signature { std::abort(); }

void* operator new(std::size_t bytes) {
  void* memory = std::malloc(bytes != 0 ? bytes : 1);
  if (memory == nullptr) std::abort();
  return memory;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes != 0 ? bytes : 1);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes != 0 ? bytes : 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  void* memory = nullptr;
  if (posix_memalign(&memory, static_cast<std::size_t>(alignment), bytes) != 0) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace std {
// What libstdc++'s templates call instead of throwing in place.
BLZ_FATAL(__throw_bad_alloc())
BLZ_FATAL(__throw_bad_array_new_length())
BLZ_FATAL(__throw_length_error(const char*))
BLZ_FATAL(__throw_logic_error(const char*))
BLZ_FATAL(__throw_out_of_range(const char*))
BLZ_FATAL(__throw_out_of_range_fmt(const char*, ...))
BLZ_FATAL(__throw_invalid_argument(const char*))
BLZ_FATAL(__throw_bad_function_call())
}  // namespace std

extern "C" {
BLZ_FATAL(__cxa_pure_virtual())
}
