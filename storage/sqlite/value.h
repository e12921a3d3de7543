// SQLite's values as C++ values, and rows whose checksum covers every column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/planner/types.h"
#include "storage/plan_text.h"

namespace blazed::storage {

struct Blob {
  std::string bytes;
  bool operator==(const Blob&) const = default;
};

// NULL, INTEGER, REAL, TEXT, BLOB.
using Value = std::variant<std::monostate, int64_t, double, std::string, Blob>;
using Row = std::vector<Value>;

// xxh3 over the store's number, the row's id, and type, length and bytes of every value: a row of
// another store or under another id does not pass.
int64_t Checksum(int64_t store, int64_t id, const Row& row);

// Builds a row, column after column.
class RowWriter {
 public:
  RowWriter& Int(int64_t value) { return Add(value); }
  // Beyond 2^63 it saturates: no honest count or size gets there.
  RowWriter& Count(uint64_t value) {
    return Add(static_cast<int64_t>(value > INT64_MAX ? INT64_MAX : value));
  }
  RowWriter& Time(planner::Nanos value) { return Add(static_cast<int64_t>(value.count())); }
  RowWriter& Real(double value);  // NaN becomes NULL, as SQLite itself would do
  RowWriter& Text(std::string value) { return Add(std::move(value)); }
  RowWriter& Bytes(std::string value) { return Add(Blob{std::move(value)}); }
  RowWriter& Digest(const planner::Digest& value);
  RowWriter& Plan(const planner::Plan& value) { return Add(PlanToText(value)); }
  RowWriter& Null() { return Add(std::monostate{}); }
  template <typename Enum>
  RowWriter& Enumerator(Enum value) {
    return Add(static_cast<int64_t>(value));
  }
  Row Take() { return std::move(row_); }

 private:
  RowWriter& Add(Value value) {
    row_.push_back(std::move(value));
    return *this;
  }
  Row row_;
};

// Takes a row apart in the same order. After the last column `ok()` says whether every value had
// the right type.
class RowReader {
 public:
  explicit RowReader(const Row& row) : row_(row) {}

  int64_t Int();
  template <typename Unsigned>
  void Count(Unsigned& out) {
    out = static_cast<Unsigned>(Int());
  }
  void Time(planner::Nanos& out) { out = planner::Nanos(Int()); }
  void Real(double& out);
  void Text(std::string& out);
  void Bytes(std::string& out);
  void Digest(planner::Digest& out);
  void Plan(planner::Plan& out);
  // An enumerator 0..last.
  template <typename Enum>
  void Enumerator(Enum& out, Enum last) {
    const int64_t value = Int();
    if (value < 0 || value > static_cast<int64_t>(last)) ok_ = false;
    if (ok_) out = static_cast<Enum>(value);
  }
  bool NextIsNull() const;
  void Skip(size_t columns) { at_ += columns; }
  bool ok() const { return ok_ && at_ == row_.size(); }

 private:
  const Value* Next();
  const Row& row_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace blazed::storage
