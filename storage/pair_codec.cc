#include "storage/pair_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "absl/status/status.h"
#include "storage/varint.h"

namespace blazed::storage {
namespace {

constexpr uint64_t kChallengerFirst = 1, kExcluded = 2, kAborted = 4, kWholeChampion = 8,
                   kWholeChallenger = 16, kFlagged = 32, kSession = 64, kDevice = 128,
                   kWholeDevice = 256, kWholeOtherDevice = 512;
constexpr uint64_t kOfFormat1 = 31, kAll = 1023;
constexpr int64_t kFirstFormat = 1;  // one byte of flags and two times

// Below 2^53 a double holds every whole number; -0.0 is kept out so that its sign survives.
bool IsWhole(double value) {
  return value >= 0 && !std::signbit(value) && value < 9007199254740992.0 &&
         value == std::floor(value);
}

void PutTime(std::string& out, double value) {
  if (IsWhole(value)) {
    PutVarint(out, static_cast<uint64_t>(value));
    return;
  }
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(bits >> (8 * i)));
}

bool TakeTime(std::string_view& in, bool whole, double& value) {
  if (whole) {
    uint64_t number = 0;
    if (!TakeVarint(in, number)) return false;
    value = static_cast<double>(number);
    return true;
  }
  if (in.size() < 8) return false;
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits |= static_cast<uint64_t>(static_cast<uint8_t>(in[i])) << (8 * i);
  in.remove_prefix(8);
  value = std::bit_cast<double>(bits);
  return true;
}

Quantiles QuantilesOfArm(std::vector<double> times) {
  Quantiles result;
  if (times.empty()) return result;
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
    const double rank = std::ceil(share * static_cast<double>(times.size()));
    return times[static_cast<size_t>(std::max(rank, 1.0)) - 1];
  };
  result.p10 = at(0.1);
  result.p50 = at(0.5);
  result.p90 = at(0.9);
  return result;
}

}  // namespace

namespace {

bool HasDevice(const planner::PairSample& pair) {
  return pair.champion_device_ns != 0 || pair.challenger_device_ns != 0;
}

uint64_t FlagsOf(const planner::PairSample& pair) {
  uint64_t flags = 0;
  if (pair.challenger_first) flags |= kChallengerFirst;
  if (pair.excluded) flags |= kExcluded;
  if (pair.aborted) flags |= kAborted;
  if (IsWhole(pair.champion_ns)) flags |= kWholeChampion;
  if (IsWhole(pair.challenger_ns)) flags |= kWholeChallenger;
  if (pair.flags != 0) flags |= kFlagged;
  if (pair.session != 0) flags |= kSession;
  if (!HasDevice(pair)) return flags;
  flags |= kDevice;
  if (IsWhole(pair.champion_device_ns)) flags |= kWholeDevice;
  if (IsWhole(pair.challenger_device_ns)) flags |= kWholeOtherDevice;
  return flags;
}

bool TakeFlags(std::string_view& blob, int64_t format, uint64_t& flags) {
  if (format != kFirstFormat) return TakeVarint(blob, flags) && flags <= kAll;
  if (blob.empty()) return false;
  flags = static_cast<uint8_t>(blob.front());
  blob.remove_prefix(1);
  return flags <= kOfFormat1;
}

bool TakePair(std::string_view& blob, int64_t format, planner::PairSample& pair) {
  uint64_t flags = 0;
  if (!TakeFlags(blob, format, flags)) return false;
  const auto has = [flags](uint64_t bit) { return (flags & bit) != 0; };
  pair.challenger_first = has(kChallengerFirst);
  pair.excluded = has(kExcluded);
  pair.aborted = has(kAborted);
  uint64_t events = 0;
  if (has(kFlagged) && !TakeVarint(blob, events)) return false;
  if (events > UINT32_MAX) return false;
  pair.flags = static_cast<uint32_t>(events);
  if (has(kSession) && !TakeVarint(blob, pair.session)) return false;
  if (!TakeTime(blob, has(kWholeChampion), pair.champion_ns) ||
      !TakeTime(blob, has(kWholeChallenger), pair.challenger_ns)) {
    return false;
  }
  return !has(kDevice) || (TakeTime(blob, has(kWholeDevice), pair.champion_device_ns) &&
                           TakeTime(blob, has(kWholeOtherDevice), pair.challenger_device_ns));
}

}  // namespace

std::string PackPairs(const std::vector<planner::PairSample>& pairs) {
  std::string out;
  out.reserve(8 + pairs.size() * 10);
  PutVarint(out, pairs.size());
  for (const planner::PairSample& pair : pairs) {
    PutVarint(out, FlagsOf(pair));
    if (pair.flags != 0) PutVarint(out, pair.flags);
    if (pair.session != 0) PutVarint(out, pair.session);
    PutTime(out, pair.champion_ns);
    PutTime(out, pair.challenger_ns);
    if (!HasDevice(pair)) continue;
    PutTime(out, pair.champion_device_ns);
    PutTime(out, pair.challenger_device_ns);
  }
  return out;
}

absl::StatusOr<std::vector<planner::PairSample>> UnpackPairs(int64_t format,
                                                             std::string_view blob) {
  const absl::Status damaged = absl::DataLossError("the race's stored pairs are damaged");
  uint64_t count = 0;
  if (format < kFirstFormat || format > kPairFormat || !TakeVarint(blob, count)) return damaged;
  if (count > blob.size() / 3) return damaged;  // a pair takes three bytes at least
  std::vector<planner::PairSample> pairs(count);
  for (planner::PairSample& pair : pairs) {
    if (!TakePair(blob, format, pair)) return damaged;
  }
  if (!blob.empty()) return damaged;
  return pairs;
}

ArmQuantiles QuantilesOf(const std::vector<planner::PairSample>& pairs) {
  std::vector<double> champion, challenger;
  for (const planner::PairSample& pair : pairs) {
    if (pair.excluded || pair.aborted) continue;
    if (!std::isfinite(pair.champion_ns) || !std::isfinite(pair.challenger_ns)) continue;
    champion.push_back(pair.champion_ns);
    challenger.push_back(pair.challenger_ns);
  }
  return {QuantilesOfArm(std::move(champion)), QuantilesOfArm(std::move(challenger))};
}

}  // namespace blazed::storage
