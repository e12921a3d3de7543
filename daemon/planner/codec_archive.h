// The two archives behind codec.h: a writer and a strict reader of "name=value" tokens in a fixed
// order.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "daemon/planner/types.h"

namespace blazed::planner {

std::string EscapeText(std::string_view text);
std::optional<std::string> UnescapeText(std::string_view text);
std::string ToHex(const uint8_t* bytes, size_t size);
std::optional<std::vector<uint8_t>> FromHex(std::string_view text);
std::vector<std::string_view> SplitText(std::string_view text,
                                        char separator);  // empty text: no parts

template <class T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end || text.empty()) return std::nullopt;
  return value;
}

template <class T>
std::string FormatNumber(T value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

template <class T>
inline constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

// Text of one value; every type that stands in a single token has a pair of these.
template <class T>
requires kIsNumber<T> std::string ToText(const T& value) { return FormatNumber(value); }
template <class T>
requires std::is_enum_v<T> std::string ToText(const T& value) {
  return FormatNumber(static_cast<int>(value));
}
std::string ToText(const bool& value);
std::string ToText(const std::string& value);
std::string ToText(const Nanos& value);
std::string ToText(const Digest& value);
std::string ToText(const Plan& value);
std::string ToText(const std::vector<bool>& value);
std::string ToText(const std::vector<uint8_t>& value);
std::string ToText(const std::vector<uint32_t>& value);
std::string ToText(const std::vector<uint64_t>& value);
std::string ToText(const std::vector<UnitTime>& value);
std::string ToText(const std::vector<PairSample>& value);
std::string ToText(const std::vector<std::string>& value);

template <class T>
requires kIsNumber<T>
bool FromText(std::string_view text, T& value) {
  const auto parsed = ParseNumber<T>(text);
  if (parsed) value = *parsed;
  return parsed.has_value();
}
template <class T>
requires std::is_enum_v<T>
bool FromText(std::string_view text, T& value) {
  const auto parsed = ParseNumber<int>(text);
  if (!parsed || *parsed < 0 || *parsed > 255) return false;
  value = static_cast<T>(*parsed);
  return true;
}
bool FromText(std::string_view text, bool& value);
bool FromText(std::string_view text, std::string& value);
bool FromText(std::string_view text, Nanos& value);
bool FromText(std::string_view text, Digest& value);
bool FromText(std::string_view text, Plan& value);
bool FromText(std::string_view text, std::vector<bool>& value);
bool FromText(std::string_view text, std::vector<uint8_t>& value);
bool FromText(std::string_view text, std::vector<uint32_t>& value);
bool FromText(std::string_view text, std::vector<uint64_t>& value);
bool FromText(std::string_view text, std::vector<UnitTime>& value);
bool FromText(std::string_view text, std::vector<PairSample>& value);
bool FromText(std::string_view text, std::vector<std::string>& value);

template <class T>
concept OneToken = requires(const T& value) {
  { ToText(value) } -> std::same_as<std::string>;
};

class LineWriter {
 public:
  explicit LineWriter(std::string head) : line_(std::move(head)) {}
  std::string Take() { return std::move(line_); }

  template <OneToken T>
  void operator()(const char* name, T& value) {
    line_ += ' ';
    line_ += name;
    line_ += '=';
    line_ += ToText(value);
  }
  template <class T>
  requires(!OneToken<T>) void operator()(const char* name, T& value) { (*this)(name, value, 0); }

 private:
  template <class T>
  void operator()(const char* name, std::optional<T>& value, int) {
    bool present = value.has_value();
    (*this)(name, present);
    if (present) (*this)(name, *value);
  }
  template <class T>
  void operator()(const char* name, std::vector<T>& value, int) {
    uint64_t count = value.size();
    (*this)(name, count);
    for (T& element : value) Visit(*this, element);
  }
  template <class T>
  void operator()(const char*, T& value, long) {
    Visit(*this, value);
  }

  std::string line_;
};

class LineReader {
 public:
  explicit LineReader(std::vector<std::string_view> tokens) : tokens_(std::move(tokens)) {}
  bool Done() const { return ok_ && next_ == tokens_.size(); }
  const std::string& error() const { return error_; }

  template <OneToken T>
  void operator()(const char* name, T& value) {
    const std::string_view text = Next(name);
    if (ok_ && !FromText(text, value)) Fail(name);
  }
  template <class T>
  requires(!OneToken<T>) void operator()(const char* name, T& value) { (*this)(name, value, 0); }

 private:
  template <class T>
  void operator()(const char* name, std::optional<T>& value, int) {
    bool present = false;
    (*this)(name, present);
    if (present && ok_) (*this)(name, value.emplace());
  }
  template <class T>
  void operator()(const char* name, std::vector<T>& value, int) {
    uint64_t count = 0;
    (*this)(name, count);
    // Every element takes at least one token, so a count beyond them is a lie.
    if (!ok_ || count > tokens_.size() - next_) return Fail(name);
    value.resize(count);
    for (T& element : value) {
      if (ok_) Visit(*this, element);
    }
  }
  template <class T>
  void operator()(const char*, T& value, long) {
    Visit(*this, value);
  }

  std::string_view Next(const char* name);
  void Fail(const char* name);

  std::vector<std::string_view> tokens_;
  size_t next_ = 0;
  bool ok_ = true;
  std::string error_;
};

}  // namespace blazed::planner
