// A SQLite VFS for tests: passes everything on to the default one, fails the k-th write, sync or
// truncation on demand, and knows what a power cut would leave: the content at each file's last
// sync plus any part of what came after.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace blazed::storage {

enum class Repeat { kOnce, kForEver };
enum class Operation { kChange, kSync };

class FaultVfs {
 public:
  static constexpr char kName[] = "blazed-fault";

  // Registers the VFS; one at a time in a process. Files are followed from their first opening on.
  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  // The k-th operation from here on fails (1: the next one); 0: none.
  void FailAt(uint64_t k, Repeat repeat);
  // From here on every sync fails and nothing else.
  void FailSyncs();
  // From here on the disk takes no write, until it has room again.
  void FillDisk();
  void FreeDisk();
  bool failed() const;

  // The same files in `folder`, as a power cut at this moment could leave them.
  void WriteAfterPowerCut(const std::string& folder, std::mt19937& random) const;

  // For the file methods.
  struct Change {
    int64_t offset = 0;  // -1: a truncation to `size`
    int64_t size = 0;
    std::string bytes;
  };
  struct File {
    std::string synced;            // content at the last sync
    std::vector<Change> unsynced;  // in order, since then
  };
  bool MayFail(Operation operation);
  bool full() const;
  void Opened(const std::string& path);
  void Changed(const std::string& path, Change change);
  void Synced(const std::string& path);
  void Deleted(const std::string& path);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, File> files_;
  uint64_t left_ = 0;  // operations until the fault
  Repeat repeat_ = Repeat::kOnce;
  bool failed_ = false;
  bool fail_syncs_ = false;
  bool full_ = false;
};

}  // namespace blazed::storage
