#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/flags/checks.h"

namespace blazed::trainer {

// A closed list of names for the values of an enum, in the order help shows them.
template <typename E>
using ChoiceNames = std::vector<std::pair<std::string, E>>;

template <typename E>
std::string JoinNames(const ChoiceNames<E>& names, const char* separator) {
  return absl::StrJoin(names, separator,
                       [](std::string* out, const auto& entry) { out->append(entry.first); });
}

// Adds `flag`, whose value must be one of `names`; anything else is a sentence that lists them.
template <typename E>
CLI::Option* AddChoice(CLI::App& app, const std::string& flag, E* target,
                       const ChoiceNames<E>& names, const std::string& help) {
  const auto find = [names](const std::string& value) -> const E* {
    for (const auto& [name, choice] : names) {
      if (name == value) return &choice;
    }
    return nullptr;
  };
  CLI::Validator known(
      [find, names](std::string& value) {
        if (find(value) != nullptr) return std::string();
        return absl::StrCat("unknown value ", value, ", choose one of ", JoinNames(names, ", "));
      },
      "");
  std::string shown;
  for (const auto& [name, choice] : names) {
    if (choice == *target) shown = name;
  }
  return app
      .add_option_function<std::string>(
          flag, [find, target](const std::string& value) { *target = *find(value); }, help)
      ->check(known)
      ->type_name(JoinNames(names, "|"))
      ->default_str(shown);
}

// How a program ends when its command line says help, version or something wrong.
struct Ending {
  int exit_code = 0;
  std::string to_stdout;
  std::string to_stderr;
};

// Reads the command line into the app's targets. True: go on. False: print `ending` and exit.
bool ReadCommandLine(CLI::App& app, int argc, const char* const* argv, Ending* ending);

// Prints an ending and gives the program's exit code: its own, or 1 where standard output lost it.
int PrintEnding(absl::string_view program, const Ending& ending);

// Digits only, and no more than fits: the library would read -1 as the largest number and a larger
// one as the largest.
CLI::Option* AddCount(CLI::App& app, const std::string& flag, uint64_t* target,
                      const std::string& help);

// A problem with the command line that the parser could not see, worded like its own.
Ending WrongUsage(const CLI::App& app, std::string sentence);

}  // namespace blazed::trainer
