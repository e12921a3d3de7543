#include "daemon/session/rate.h"

#include <algorithm>

namespace blazed::session {

bool Rate::Take(uint32_t uid, uint32_t rate, planner::Moment now) {
  auto it = users_.find(uid);
  if (it == users_.end()) {
    ForgetRested(now);
    it = users_.emplace(uid, User{0, now}).first;
  }
  User& user = it->second;
  const double part =
      static_cast<double>((now - user.at).count()) / static_cast<double>(per_.count());
  user.spent = std::max(0.0, user.spent - part * rate);
  user.at = now;
  if (user.spent + 1 > rate) return false;
  user.spent += 1;
  return true;
}

// Everything is back after one `per`; so the table holds only users of the last while.
void Rate::ForgetRested(planner::Moment now) {
  std::erase_if(users_, [&](const auto& user) { return now - user.second.at >= per_; });
}

}  // namespace blazed::session
