#include "storage/sqlite/value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "xxhash.h"

namespace blazed::storage {
namespace {

void PutNumber(std::string& out, uint64_t value) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

void PutBytes(std::string& out, std::string_view bytes) {
  PutNumber(out, bytes.size());
  out.append(bytes);
}

}  // namespace

int64_t Checksum(int64_t store, int64_t id, const Row& row) {
  std::string bytes;
  PutNumber(bytes, static_cast<uint64_t>(store));
  PutNumber(bytes, static_cast<uint64_t>(id));
  for (const Value& value : row) {
    bytes.push_back(static_cast<char>(value.index()));
    if (const auto* number = std::get_if<int64_t>(&value)) {
      PutNumber(bytes, static_cast<uint64_t>(*number));
    } else if (const auto* real = std::get_if<double>(&value)) {
      PutNumber(bytes, std::bit_cast<uint64_t>(*real));
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      PutBytes(bytes, *text);
    } else if (const auto* blob = std::get_if<Blob>(&value)) {
      PutBytes(bytes, blob->bytes);
    }
  }
  return static_cast<int64_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

RowWriter& RowWriter::Real(double value) {
  if (std::isnan(value)) return Null();
  return Add(value + 0.0);  // SQLite stores whole reals as integers, which have no negative zero
}

RowWriter& RowWriter::Digest(const planner::Digest& value) {
  return Add(Blob{std::string(reinterpret_cast<const char*>(value.data()), value.size())});
}

const Value* RowReader::Next() {
  if (at_ >= row_.size()) {
    ok_ = false;
    return nullptr;
  }
  return &row_[at_++];
}

int64_t RowReader::Int() {
  const Value* value = Next();
  const int64_t* number = value == nullptr ? nullptr : std::get_if<int64_t>(value);
  if (number == nullptr) {
    ok_ = false;
    return 0;
  }
  return *number;
}

void RowReader::Real(double& out) {
  const Value* value = Next();
  if (value == nullptr) return;
  if (std::holds_alternative<std::monostate>(*value)) {
    out = std::numeric_limits<double>::quiet_NaN();
  } else if (const auto* real = std::get_if<double>(value)) {
    out = *real;
  } else {
    ok_ = false;
  }
}

void RowReader::Text(std::string& out) {
  const Value* value = Next();
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  if (text == nullptr) {
    ok_ = false;
    return;
  }
  out = *text;
}

void RowReader::Bytes(std::string& out) {
  const Value* value = Next();
  const auto* blob = value == nullptr ? nullptr : std::get_if<Blob>(value);
  if (blob == nullptr) {
    ok_ = false;
    return;
  }
  out = blob->bytes;
}

void RowReader::Digest(planner::Digest& out) {
  std::string bytes;
  Bytes(bytes);
  if (bytes.size() != out.size()) {
    ok_ = false;
    return;
  }
  std::copy(bytes.begin(), bytes.end(), out.begin());
}

void RowReader::Plan(planner::Plan& out) {
  std::string text;
  Text(text);
  if (!ok_) return;
  auto plan = PlanFromText(text);
  if (!plan.ok()) {
    ok_ = false;
    return;
  }
  out = *std::move(plan);
}

bool RowReader::NextIsNull() const {
  return at_ < row_.size() && std::holds_alternative<std::monostate>(row_[at_]);
}

}  // namespace blazed::storage
