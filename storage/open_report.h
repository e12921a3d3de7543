// What opening a store found and did, for people: the daemon shows it for as long as it runs.
#pragma once

#include <cstdint>
#include <string>

namespace blazed::storage {

struct OpenReport {
  enum class State {
    kOk,        // opened as it was, or made
    kRestored,  // the database was damaged; a backup is in its place
    kFresh,     // the database was damaged and no backup was good; nothing is remembered
  };
  State state = State::kOk;
  std::string detail;  // one sentence: what was wrong and where it is kept; empty where nothing was
  std::string quarantine;     // folder of the damaged files
  std::string restored_from;  // path of the backup
  int64_t migrated_from = 0;  // schema version before, where steps were taken on a store with data
};

}  // namespace blazed::storage
