// One verb from the question to the printed answer.
#pragma once

#include <cstdio>

#include "client/blazectl/exit_code.h"
#include "client/blazectl/options.h"
#include "client/blazectl/socket_search.h"

namespace blazed::blazectl {

// Answers go to `out`, one error sentence to `err`.
ExitCode RunVerb(const Options& options, const Surroundings& surroundings, std::FILE* out,
                 std::FILE* err);

}  // namespace blazed::blazectl
