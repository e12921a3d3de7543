// gRPC's length-prefixed messages out of a stream of bytes: one flag byte, four length bytes, body.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace blazed::shim {

// The prefix of one uncompressed message.
std::string FramePrefix(size_t message_bytes);

class FrameReader {
 public:
  explicit FrameReader(size_t max_message_bytes) : max_message_bytes_(max_message_bytes) {}

  enum class Result { kOk, kTooLarge, kCompressed };

  // Calls `on_message(std::string_view)` for every message completed by `bytes`. After a result
  // other than kOk the stream is beyond use. Holds at most one message.
  template <typename OnMessage>
  Result Feed(std::string_view bytes, OnMessage&& on_message) {
    while (!bytes.empty()) {
      Fill(bytes, kPrefixBytes);
      if (held_.size() < kPrefixBytes) return Result::kOk;
      if (held_[0] != 0) return Result::kCompressed;
      const size_t length = Length();
      if (length > max_message_bytes_) return Result::kTooLarge;
      Fill(bytes, kPrefixBytes + length);
      if (held_.size() < kPrefixBytes + length) return Result::kOk;
      on_message(std::string_view(held_).substr(kPrefixBytes));
      held_.clear();
    }
    return Result::kOk;
  }

  // True between messages: a stream that ends elsewhere was cut.
  bool AtBoundary() const { return held_.empty(); }

 private:
  static constexpr size_t kPrefixBytes = 5;

  void Fill(std::string_view& bytes, size_t wanted);
  size_t Length() const;

  size_t max_message_bytes_;
  std::string held_;
};

}  // namespace blazed::shim
