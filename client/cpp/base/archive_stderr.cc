// The `stderr` of an archive that is linked into a shared object.
//
// Debian compiles its archives for programs: code reaches the C library's variable `stderr` where
// the program would keep a copy of it, which a shared object cannot have. Calls and hidden data
// have no such trouble. With the linker's `--wrap=stderr` those places reach this variable, which
// is in the shared object and says the same.
#include <cstdio>

extern "C" {
extern FILE _IO_2_1_stderr_;  // what glibc's `stderr` points to; its ABI since 2.1

// NOLINTNEXTLINE(bugprone-reserved-identifier): the linker chooses the name
[[gnu::visibility("hidden")]] extern FILE* const __wrap_stderr;
FILE* const __wrap_stderr = &_IO_2_1_stderr_;
}
