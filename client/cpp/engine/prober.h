// Runs the host's check computation and compares a variant with the default plan, tensor by tensor.
//
// A point is one live batch: within it the default is run once for all variants that are checked.
// Its tensors are copied, those of any other run are read in place. Under the contract `rounding`
// the default's own error is measured at the first point, by two more runs of it and by the host's
// reference, where there is one; from then on a default that did not repeat its bits is run twice
// at every point, the reference at points 2, 4, 8, and the largest error seen counts. A reference
// that fails, or gives other tensors or NaN, is none. Under other contracts the default is repeated
// once. Session's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/base/clock.h"
#include "client/cpp/include/blazed/blazed.h"
#include "kernels/equivalence/verdict.h"

// What blz_probe_tensor gets; the opaque type of blazed.h.
struct blz_probe_sink {
  virtual blz_result Take(const blz_tensor& tensor) = 0;

 protected:
  ~blz_probe_sink() = default;
};

namespace blazed::shim {

class Prober {
 public:
  // `ops` must outlive it and have a probe callback.
  Prober(const blz_host_ops& ops, Clock& clock, equivalence::Contract contract,
         uint64_t memory_limit)
      : ops_(ops), clock_(clock), contract_(contract), memory_limit_(memory_limit) {}

  struct Outcome {
    equivalence::Summary summary;
    uint64_t ns = 0;        // of the runs made, those of the default included where they were due
    const char* note = "";  // why inconclusive or broken, where the numbers do not say it
  };

  // The step's batch is another one: what the default computed is void.
  void StartPoint() { has_default_ = false; }

  // One probe of a variant on this point's batch.
  Outcome Check(uint64_t handle);

  // Runs the check computation only for what it leaves in the host's record of the run. False: it
  // faulted.
  bool RunUnwatched(uint64_t handle);

  uint32_t runs() const { return runs_; }

 private:
  struct Held {
    std::string name;
    equivalence::Dtype dtype = equivalence::Dtype::kF32;
    equivalence::Role role = equivalence::Role::kOutput;
    uint64_t count = 0;
    uint64_t row = 0;
    double unit_roundoff = 0;
    std::unique_ptr<unsigned char[]> bytes;
    uint64_t room = 0;  // of `bytes`
    equivalence::TensorView View() const {
      return {name, dtype, role, count, bytes.get(), row, unit_roundoff};
    }
    bool MakeRoom(uint64_t wanted);
  };
  class RecordSink;
  class CompareSink;
  class IgnoreSink;

  bool Run(uint64_t handle, blz_probe_sink& sink);
  const char* RunDefault();  // "": its tensors are there
  const char* MeasureOwnError();
  void CompareWithReference();
  void AddToOwn(const std::vector<equivalence::TensorResult>& results, bool referenced);

  const blz_host_ops& ops_;
  Clock& clock_;
  const equivalence::Contract contract_;
  const uint64_t memory_limit_;
  bool has_default_ = false;
  std::vector<Held> default_;
  size_t default_count_ = 0;  // of default_ in use; buffers are kept between points
  std::vector<equivalence::OwnError> own_;
  bool repeats_itself_ = true;  // bit for bit, as far as was seen
  uint64_t measured_points_ = 0;
  uint32_t runs_ = 0;
};

}  // namespace blazed::shim
