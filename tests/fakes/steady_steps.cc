#include "tests/fakes/steady_steps.h"

#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

namespace blazed::fakes {
namespace {

constexpr double kDefaultStepNs = 100'000;
constexpr double kSaving = 0.04;
constexpr double kCost = 0.02;
constexpr double kStray = 0.002;
constexpr uint64_t kSecond = 1'000'000'000;

// The function that a name would have meant without this file.
template <typename Function>
Function* Real(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}

int RealClock(clockid_t id, timespec* out) {
  static auto* const real = Real<int(clockid_t, timespec*)>("clock_gettime");
  return real(id, out);
}

uint64_t RealNow() {
  timespec now;
  RealClock(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

// A session and its clock. Time stands still inside the library and moves by a step's length
// between blz_step_begin and blz_step_end.
struct Table {
  blz_session* session = nullptr;
  blz_host_ops ops{};
  uint64_t now = 0;
  bool inside = false;
  uint64_t handle = 0;
  std::map<uint64_t, double> step_ns;  // by handle; the default's is not in it
  std::mt19937_64 random{1};
  std::normal_distribution<double> normal;
};

// A plain pointer, so that reading the clock is allowed at any point of a thread's life.
thread_local Table* table = nullptr;

double StepNs(const blz_choice* choices, size_t count) {
  double step = kDefaultStepNs;
  for (size_t i = 0; i < count; ++i) {
    step *= choices[i].decision % 2 == 0 ? 1 - kSaving : 1 + kCost;
  }
  return step;
}

int Build(void* user, const blz_choice* choices, size_t count, blz_built* out) {
  const int result = table->ops.build(user, choices, count, out);
  if (result == BLZ_BUILD_OK) table->step_ns[out->handle] = StepNs(choices, count);
  return result;
}

void Forget(Table& t) {
  t.session = nullptr;
  t.step_ns.clear();
  t.handle = 0;
}

uint64_t LengthOfStep(Table& t) {
  const auto found = t.step_ns.find(t.handle);
  const double step = found == t.step_ns.end() ? kDefaultStepNs : found->second;
  return static_cast<uint64_t>(step * std::max(0.5, 1 + kStray * t.normal(t.random)));
}

}  // namespace

SteadySteps::SteadySteps() { table = new Table; }

SteadySteps::~SteadySteps() {
  delete table;
  table = nullptr;
}

blz_status_info SteadySteps::Status() const {
  blz_status_info info{};
  info.struct_size = sizeof info;
  // By name, so that this file loads into programs without the library.
  if (table->session != nullptr) Real<decltype(blz_status)>("blz_status")(table->session, &info);
  return info;
}

}  // namespace blazed::fakes

using blazed::fakes::Forget;
using blazed::fakes::table;

extern "C" {

int clock_gettime(clockid_t id, timespec* out) noexcept {
  if (id != CLOCK_MONOTONIC || table == nullptr || !table->inside) {
    return blazed::fakes::RealClock(id, out);
  }
  out->tv_sec = static_cast<time_t>(table->now / blazed::fakes::kSecond);
  out->tv_nsec = static_cast<long>(table->now % blazed::fakes::kSecond);
  return 0;
}

blz_result blz_attach(const blz_options* options, const blz_host_ops* ops, blz_session** session) {
  static auto* const real = blazed::fakes::Real<decltype(blz_attach)>("blz_attach");
  if (table == nullptr || ops == nullptr || ops->build == nullptr) {
    return real(options, ops, session);
  }
  Forget(*table);
  std::memcpy(&table->ops, ops, std::min(ops->struct_size, sizeof table->ops));
  blz_host_ops watched = table->ops;
  watched.struct_size = std::min(ops->struct_size, sizeof watched);
  watched.build = blazed::fakes::Build;
  const blz_result result = real(options, &watched, session);
  table->session = *session;
  table->now = blazed::fakes::RealNow();  // the library has looked at the real one by now
  return result;
}

uint64_t blz_step_begin(blz_session* session) {
  static auto* const real = blazed::fakes::Real<decltype(blz_step_begin)>("blz_step_begin");
  if (table == nullptr || session != table->session) return real(session);
  table->inside = true;
  table->handle = real(session);
  table->inside = false;
  return table->handle;
}

void blz_step_end(blz_session* session, uint32_t flags) {
  static auto* const real = blazed::fakes::Real<decltype(blz_step_end)>("blz_step_end");
  if (table == nullptr || session != table->session) return real(session, flags);
  table->now += blazed::fakes::LengthOfStep(*table);
  table->inside = true;
  real(session, flags);
  table->inside = false;
}

void blz_close(blz_session* session) {
  static auto* const real = blazed::fakes::Real<decltype(blz_close)>("blz_close");
  if (table != nullptr && session == table->session) Forget(*table);
  real(session);
}

}  // extern "C"
