// blazed: one daemon per machine that owns the right to measure.
#include <cerrno>
#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "daemon/daemon.h"
#include "daemon/exit_codes.h"
#include "daemon/flags.h"

namespace {

// Errors before and after the daemon's own life, for people.
int Complain(const absl::Status& status, int code) {
  std::fprintf(stderr, "blazed: %s\n", std::string(status.message()).c_str());
  return code;
}

// What was printed has arrived, or the caller hears of it.
int Printed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return Complain(absl::ErrnoToStatus(errno, "cannot write to standard output"),
                  blazed::kExitFailed);
}

}  // namespace

int main(int argc, char** argv) {
  const blazed::Flags flags = blazed::ParseFlags(argc, argv);
  switch (flags.verb) {
    case blazed::Verb::kExit:
      return Printed(flags.exit_code);
    case blazed::Verb::kPrintDefaults:
      std::fputs(blazed::DefaultConfigText().c_str(), stdout);
      return Printed(blazed::kExitDone);
    case blazed::Verb::kPrintDocumentation:
      std::fputs(blazed::ConfigDocumentation().c_str(), stdout);
      return Printed(blazed::kExitDone);
    case blazed::Verb::kCheckConfig:
    case blazed::Verb::kServe:
      break;
  }
  absl::StatusOr<blazed::Config> config = blazed::ConfigOf(flags);
  if (!config.ok()) return Complain(config.status(), blazed::kExitUsage);
  if (flags.verb == blazed::Verb::kCheckConfig) {
    std::puts("the configuration is good");
    return Printed(blazed::kExitDone);
  }
  blazed::Daemon daemon(flags, *std::move(config));
  if (absl::Status started = daemon.Start(); !started.ok()) {
    // The wrong path is wrong usage; a path or store that is taken is not.
    const bool usage = absl::IsInvalidArgument(started);
    return Complain(started, usage ? blazed::kExitUsage : blazed::kExitBusy);
  }
  if (absl::Status ran = daemon.Run(); !ran.ok()) return Complain(ran, blazed::kExitFailed);
  return blazed::kExitDone;
}
