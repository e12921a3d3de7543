// What the command lines of several programs check of a flag's value, with one sentence for it.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace blazed::flags {

// Digits only: the library's own check writes a range of hundreds of digits into its sentence.
inline CLI::Validator WholeNumber() {
  return CLI::Validator(
      [](std::string& text) {
        uint64_t value = 0;
        const bool digits = std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
        if (digits && absl::SimpleAtoi(text, &value)) return std::string();
        return absl::StrCat("value ", text, " is no whole number from 0 to ", UINT64_MAX);
      },
      "");
}

// A value that is given but empty is most often a shell variable that was never set.
inline CLI::Validator NotEmpty() {
  return CLI::Validator(
      [](std::string& text) {
        return std::string(text.empty() ? "the value is empty; leave the flag out or name one"
                                        : "");
      },
      "");
}

}  // namespace blazed::flags
