// blazectl: asks a blazed daemon what it does and what it knows. Never opens the store itself.
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "client/blazectl/command_line.h"
#include "client/blazectl/socket_search.h"
#include "client/blazectl/verbs.h"

int main(int argc, char** argv) {
  using namespace blazed::blazectl;
  const auto parsed = ParseCommandLine(std::vector<std::string>(argv + 1, argv + argc));
  if (const auto* farewell = std::get_if<Farewell>(&parsed)) {
    return static_cast<int>(PrintFarewell(*farewell, stdout, stderr));
  }
  return static_cast<int>(RunVerb(std::get<Options>(parsed), RealSurroundings(), stdout, stderr));
}
