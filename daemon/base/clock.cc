#include "daemon/base/clock.h"

#include <time.h>

namespace blazed {
namespace {

int64_t Read(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

class MachineClock final : public Clock {
 public:
  planner::Moment Now() const override { return planner::Moment(Read(CLOCK_BOOTTIME)); }
  int64_t WallNs() const override { return Read(CLOCK_REALTIME); }
};

}  // namespace

const Clock& SystemClock() {
  static const MachineClock* clock = new MachineClock;
  return *clock;
}

}  // namespace blazed
