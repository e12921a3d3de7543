// blaze-demo: the main job end to end on one machine, with a daemon of its own.
#include <unistd.h>

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/trainer/demo/demo.h"
#include "client/trainer/demo/demo_options.h"
#include "client/trainer/signals.h"
#include "client/trainer/terminal.h"

int main(int argc, char** argv) {
  using namespace blazed::trainer;
  const auto parsed = ParseDemoCommandLine(argc, argv);
  if (const Ending* ending = std::get_if<Ending>(&parsed)) {
    return PrintEnding("blaze-demo", *ending);
  }
  IgnoreWriteSignals();
  const absl::Status status = RunDemo(std::get<DemoOptions>(parsed));
  if (status.ok()) return 0;
  WriteText(STDERR_FILENO, absl::StrCat("blaze-demo: ", status.message(), "\n"));
  return absl::IsInvalidArgument(status) ? 2 : 1;
}
