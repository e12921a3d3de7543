#include "tests/fault/storage/fault_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>

namespace blazed::storage {
namespace {

FaultVfs* g_faults = nullptr;

// What SQLite allocates for an open file: ours, then the default VFS's.
struct ShimFile {
  sqlite3_file base;
  sqlite3_file* real;
  std::string* path;  // null for temporary files, which no power cut has to leave behind
};

ShimFile* Shim(sqlite3_file* file) { return reinterpret_cast<ShimFile*>(file); }
sqlite3_file* Real(sqlite3_file* file) { return Shim(file)->real; }

int Close(sqlite3_file* file) {
  ShimFile* shim = Shim(file);
  const int code = shim->real->pMethods->xClose(shim->real);
  delete shim->path;
  shim->path = nullptr;
  return code;
}

int Read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
  return Real(file)->pMethods->xRead(Real(file), data, size, offset);
}

int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  if (g_faults->full()) return SQLITE_FULL;
  if (g_faults->MayFail(Operation::kChange)) return SQLITE_IOERR_WRITE;
  const int code = Real(file)->pMethods->xWrite(Real(file), data, size, offset);
  if (code == SQLITE_OK && Shim(file)->path != nullptr) {
    g_faults->Changed(*Shim(file)->path,
                      {offset, size, std::string(static_cast<const char*>(data), size)});
  }
  return code;
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (g_faults->MayFail(Operation::kChange)) return SQLITE_IOERR_TRUNCATE;
  const int code = Real(file)->pMethods->xTruncate(Real(file), size);
  if (code == SQLITE_OK && Shim(file)->path != nullptr) {
    g_faults->Changed(*Shim(file)->path, {-1, size, ""});
  }
  return code;
}

int Sync(sqlite3_file* file, int flags) {
  if (g_faults->MayFail(Operation::kSync)) return SQLITE_IOERR_FSYNC;
  const int code = Real(file)->pMethods->xSync(Real(file), flags);
  if (code == SQLITE_OK && Shim(file)->path != nullptr) g_faults->Synced(*Shim(file)->path);
  return code;
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Real(file)->pMethods->xFileSize(Real(file), size);
}
int Lock(sqlite3_file* file, int level) { return Real(file)->pMethods->xLock(Real(file), level); }
int Unlock(sqlite3_file* file, int level) {
  return Real(file)->pMethods->xUnlock(Real(file), level);
}
int CheckReservedLock(sqlite3_file* file, int* held) {
  return Real(file)->pMethods->xCheckReservedLock(Real(file), held);
}
int FileControl(sqlite3_file* file, int op, void* argument) {
  return Real(file)->pMethods->xFileControl(Real(file), op, argument);
}
int SectorSize(sqlite3_file* file) { return Real(file)->pMethods->xSectorSize(Real(file)); }
int DeviceCharacteristics(sqlite3_file* file) {
  return Real(file)->pMethods->xDeviceCharacteristics(Real(file));
}
int ShmMap(sqlite3_file* file, int page, int size, int extend, void volatile** data) {
  return Real(file)->pMethods->xShmMap(Real(file), page, size, extend, data);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Real(file)->pMethods->xShmLock(Real(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { Real(file)->pMethods->xShmBarrier(Real(file)); }
int ShmUnmap(sqlite3_file* file, int remove) {
  return Real(file)->pMethods->xShmUnmap(Real(file), remove);
}

constexpr sqlite3_io_methods kMethods = {2,
                                         &Close,
                                         &Read,
                                         &Write,
                                         &Truncate,
                                         &Sync,
                                         &FileSize,
                                         &Lock,
                                         &Unlock,
                                         &CheckReservedLock,
                                         &FileControl,
                                         &SectorSize,
                                         &DeviceCharacteristics,
                                         &ShmMap,
                                         &ShmLock,
                                         &ShmBarrier,
                                         &ShmUnmap,
                                         nullptr,
                                         nullptr};

sqlite3_vfs* Default(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  ShimFile* shim = Shim(file);
  shim->base.pMethods = nullptr;
  shim->real = reinterpret_cast<sqlite3_file*>(shim + 1);
  shim->path = nullptr;
  const int code = Default(vfs)->xOpen(Default(vfs), name, shim->real, flags, out_flags);
  if (shim->real->pMethods == nullptr) return code;
  shim->base.pMethods = &kMethods;
  if (name != nullptr) {
    shim->path = new std::string(name);
    g_faults->Opened(*shim->path);
  }
  return code;
}

int Delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  const int code = Default(vfs)->xDelete(Default(vfs), name, sync_folder);
  if (code == SQLITE_OK) g_faults->Deleted(name);
  return code;
}

sqlite3_vfs g_vfs;

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

void Apply(const FaultVfs::Change& change, std::string& content) {
  if (change.offset < 0) {
    content.resize(static_cast<size_t>(change.size));
    return;
  }
  const auto end = static_cast<size_t>(change.offset) + change.bytes.size();
  if (content.size() < end) content.resize(end);
  content.replace(static_cast<size_t>(change.offset), change.bytes.size(), change.bytes);
}

}  // namespace

FaultVfs::FaultVfs() {
  sqlite3_vfs* real = sqlite3_vfs_find(nullptr);
  g_faults = this;
  g_vfs = *real;
  g_vfs.zName = kName;
  g_vfs.pAppData = real;
  g_vfs.pNext = nullptr;
  g_vfs.szOsFile = static_cast<int>(sizeof(ShimFile)) + real->szOsFile;
  g_vfs.xOpen = &Open;
  g_vfs.xDelete = &Delete;
  sqlite3_vfs_register(&g_vfs, 0);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&g_vfs);
  g_faults = nullptr;
}

void FaultVfs::FailAt(uint64_t k, Repeat repeat) {
  const std::lock_guard lock(mutex_);
  left_ = k;
  repeat_ = repeat;
  failed_ = false;
  fail_syncs_ = false;
}

void FaultVfs::FailSyncs() {
  const std::lock_guard lock(mutex_);
  fail_syncs_ = true;
}

void FaultVfs::FillDisk() {
  const std::lock_guard lock(mutex_);
  full_ = true;
}

void FaultVfs::FreeDisk() {
  const std::lock_guard lock(mutex_);
  full_ = false;
}

bool FaultVfs::full() const {
  const std::lock_guard lock(mutex_);
  return full_;
}

bool FaultVfs::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

bool FaultVfs::MayFail(Operation operation) {
  const std::lock_guard lock(mutex_);
  if (fail_syncs_ && operation == Operation::kSync) return true;
  if (failed_ && repeat_ == Repeat::kForEver) return true;
  if (left_ == 0) return false;
  if (--left_ > 0) return false;
  failed_ = true;
  return true;
}

void FaultVfs::Opened(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!files_.contains(path)) files_[path].synced = ContentOf(path);
}

void FaultVfs::Changed(const std::string& path, Change change) {
  const std::lock_guard lock(mutex_);
  files_[path].unsynced.push_back(std::move(change));
}

void FaultVfs::Synced(const std::string& path) {
  const std::lock_guard lock(mutex_);
  File& file = files_[path];
  for (const Change& change : file.unsynced) Apply(change, file.synced);
  file.unsynced.clear();
}

void FaultVfs::Deleted(const std::string& path) {
  const std::lock_guard lock(mutex_);
  files_.erase(path);
}

void FaultVfs::WriteAfterPowerCut(const std::string& folder, std::mt19937& random) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, file] : files_) {
    std::string content = file.synced;
    // Writes that were never synced reach the disk in any order, wholly, in part or not at all.
    std::vector<Change> kept;
    for (Change change : file.unsynced) {
      const auto fate = random() % 4;
      if (fate == 0) continue;
      if (fate == 1 && !change.bytes.empty()) change.bytes.resize(random() % change.bytes.size());
      kept.push_back(std::move(change));
    }
    if (random() % 2 == 0) std::shuffle(kept.begin(), kept.end(), random);
    for (const Change& change : kept) Apply(change, content);
    const std::string name = std::filesystem::path(path).filename();
    std::ofstream(folder + "/" + name, std::ios::binary | std::ios::trunc) << content;
  }
}

}  // namespace blazed::storage
