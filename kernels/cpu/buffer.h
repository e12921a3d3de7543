#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace blazed::cpu {

inline constexpr size_t kBufferAlignmentBytes = 64;

// Owned memory of floats, aligned to a cache line, zero filled. Empty when allocation failed or the
// count was zero.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t floats) {
    if (floats <= 0) return;
    const size_t bytes = (static_cast<size_t>(floats) * sizeof(float) + kBufferAlignmentBytes - 1) /
                         kBufferAlignmentBytes * kBufferAlignmentBytes;
    data_.reset(static_cast<float*>(std::aligned_alloc(kBufferAlignmentBytes, bytes)));
    if (data_ == nullptr) return;
    std::memset(data_.get(), 0, bytes);
    size_ = floats;
  }

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> data_;
  int64_t size_ = 0;
};

}  // namespace blazed::cpu
