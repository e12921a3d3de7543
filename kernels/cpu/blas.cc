#include "kernels/cpu/blas.h"

#include <dlfcn.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "kernels/cpu/isa/table.h"

namespace blazed::cpu {
namespace {

constexpr char kLibrary[] = "libopenblas.so.0";

// Sets a variable for the moment of loading, unless the user has set it.
class LoadSetting {
 public:
  LoadSetting(const char* name, const char* value)
      : name_(name), mine_(value != nullptr && std::getenv(name) == nullptr) {
    if (mine_) setenv(name_, value, 0);
  }
  ~LoadSetting() {
    if (mine_) unsetenv(name_);
  }
  LoadSetting(const LoadSetting&) = delete;
  LoadSetting& operator=(const LoadSetting&) = delete;

 private:
  const char* name_;
  bool mine_;
};

// OpenBLAS's name for kernels of this processor's vector level.
const char* CoreType() {
  switch (KernelsFor(0).level) {
    case 4:
      return "SkylakeX";
    case 3:
      return "Haswell";
    default:
      return nullptr;
  }
}

struct Loading {
  absl::Status status;
  Blas blas;
};

Loading Load() {
  const LoadSetting core("OPENBLAS_CORETYPE", CoreType());
  const LoadSetting threads("OPENBLAS_NUM_THREADS", "1");
  Loading loading;
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    loading.status = absl::NotFoundError(
        absl::StrCat("cannot load ", kLibrary, "; install the package libopenblas0: ", dlerror()));
    return loading;
  }
  loading.blas.sgemm = reinterpret_cast<decltype(&cblas_sgemm)>(dlsym(library, "cblas_sgemm"));
  const auto core_name =
      reinterpret_cast<decltype(&openblas_get_corename)>(dlsym(library, "openblas_get_corename"));
  const auto set_threads = reinterpret_cast<decltype(&openblas_set_num_threads)>(
      dlsym(library, "openblas_set_num_threads"));
  if (loading.blas.sgemm == nullptr || core_name == nullptr || set_threads == nullptr) {
    loading.status = absl::NotFoundError(
        absl::StrCat(kLibrary, " is not OpenBLAS; install the package libopenblas0"));
    return loading;
  }
  // The library may have been in the process before, with threads of its own.
  set_threads(1);
  loading.blas.kernels = core_name();
  return loading;
}

const Loading& Once() {
  static const Loading& loading = *new Loading(Load());
  return loading;
}

}  // namespace

absl::Status LoadBlas() { return Once().status; }

const Blas& LoadedBlas() { return Once().blas; }

}  // namespace blazed::cpu
