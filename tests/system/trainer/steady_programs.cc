#include "tests/system/trainer/steady_programs.h"

#include <cstdlib>

namespace blazed::trainer {
namespace {

constexpr char kPreload[] = "LD_PRELOAD";
constexpr char kSanitizer[] = "ASAN_OPTIONS";

}  // namespace

SteadyPrograms::SteadyPrograms() {
  if (const char* before = std::getenv(kSanitizer)) sanitizer_before_ = before;
  // The address sanitizer wants to be loaded first, and the table needs none of it.
  const std::string options =
      sanitizer_before_.value_or("") + (sanitizer_before_ ? ":" : "") + "verify_asan_link_order=0";
  setenv(kSanitizer, options.c_str(), 1);
  setenv(kPreload, BLAZED_STEADY_STEPS, 1);
}

SteadyPrograms::~SteadyPrograms() {
  unsetenv(kPreload);
  if (sanitizer_before_) {
    setenv(kSanitizer, sanitizer_before_->c_str(), 1);
  } else {
    unsetenv(kSanitizer);
  }
}

}  // namespace blazed::trainer
