// scripted_shim SOCKET VERB: a client process for system tests.
//   job     run a synthetic job to its settlement, print "ROLE reason=N settlement=N pairs=N
//   plan=a:b,..." and say Bye hang    attach, describe, print "attached", fork a child that keeps
//   every descriptor, and wait to be killed
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/fakes/scripted_shim.h"

namespace {

using blazed::fakes::ScriptedResult;
using blazed::fakes::ScriptedShim;

int RunJob(ScriptedShim& shim) {
  if (!shim.RunJob()) {
    std::fprintf(stderr, "the stream ended: %s\n", shim.Finish().error_message().c_str());
    return 1;
  }
  const ScriptedResult& result = shim.result();
  std::string plan;
  for (const auto& [decision, option] : blazed::fakes::FromProto(result.settled->plan())) {
    absl::StrAppend(&plan, plan.empty() ? "" : ",", decision, ":", option);
  }
  std::printf("settled reason=%d settlement=%llu pairs=%llu plan=%s\n", result.settled->reason(),
              static_cast<unsigned long long>(result.settled->settlement_id()),
              static_cast<unsigned long long>(result.pairs), plan.c_str());
  shim.Bye();
  shim.Finish();
  return 0;
}

// The child holds the socket and outlives its parent; it ends when the test closes its standard
// input.
int Hang(ScriptedShim& shim) {
  if (!shim.Attach().ok() || !shim.Describe()) return 1;
  // A directive shows that the session is described.
  if (!shim.PlayUntil([](const ScriptedResult& result) { return result.leases > 0; })) return 1;
  if (fork() == 0) {
    char byte;
    (void)!read(STDIN_FILENO, &byte, 1);
    _exit(0);
  }
  std::puts("attached");
  std::fflush(stdout);
  while (true) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  blazed::fakes::SyntheticHost host;
  host.saving = {0.05, -0.04, 0.02, -0.03};
  ScriptedShim shim(argv[1], host, static_cast<uint64_t>(getpid()));
  return std::strcmp(argv[2], "job") == 0 ? RunJob(shim) : Hang(shim);
}
