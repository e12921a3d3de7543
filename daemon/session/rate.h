// How often each user may do something: `rate` times in `per`, as many at once, and then again as
// time goes on. Time comes in with the call. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>

#include "daemon/planner/types.h"

namespace blazed::session {

class Rate {
 public:
  explicit Rate(planner::Nanos per) : per_(per) {}

  // Whether the user may once more at this moment; counts it if so.
  bool Take(uint32_t uid, uint32_t rate, planner::Moment now);

  size_t users() const { return users_.size(); }

 private:
  struct User {
    double spent = 0;  // of `rate`; comes back evenly over `per`
    planner::Moment at{};
  };

  void ForgetRested(planner::Moment now);

  const planner::Nanos per_;
  std::map<uint32_t, User> users_;
};

}  // namespace blazed::session
