#include "client/trainer/command_line.h"

#include <unistd.h>

#include <cctype>

#include "blazed_version.h"
#include "client/trainer/terminal.h"

namespace blazed::trainer {

Ending WrongUsage(const CLI::App& app, std::string sentence) {
  // The library starts its sentences with a capital; flags and file names are left alone.
  if (sentence.size() > 1 && std::islower(static_cast<unsigned char>(sentence[1])) != 0) {
    sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  }
  while (!sentence.empty() && (sentence.back() == '\n' || sentence.back() == '.')) {
    sentence.pop_back();
  }
  return {2, "",
          absl::StrCat(app.get_name(), ": ", sentence, "; see ", app.get_name(), " --help\n")};
}

bool ReadCommandLine(CLI::App& app, int argc, const char* const* argv, Ending* ending) {
  app.set_version_flag(
      "--version", std::string(app.get_name()) + " " + BLAZED_VERSION + " (" + BLAZED_COMMIT + ")");
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::CallForHelp&) {
    *ending = {0, app.help(), ""};
  } catch (const CLI::CallForVersion& version) {
    *ending = {0, std::string(version.what()) + "\n", ""};
  } catch (const CLI::Error& error) {
    *ending = WrongUsage(app, error.what());
  }
  return false;
}

int PrintEnding(absl::string_view program, const Ending& ending) {
  const absl::Status printed = PrintText(ending.to_stdout);
  WriteText(STDERR_FILENO, ending.to_stderr);
  if (printed.ok()) return ending.exit_code;
  WriteText(STDERR_FILENO, absl::StrCat(program, ": ", printed.message(), "\n"));
  return 1;
}

CLI::Option* AddCount(CLI::App& app, const std::string& flag, uint64_t* target,
                      const std::string& help) {
  return app.add_option(flag, *target, help)
      ->check(flags::WholeNumber())
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace blazed::trainer
