// The tunings whose searches wait for a thought, in line for the one thinker: one place each, so
// that it is never longer than there are tunings. A thought is copied when its turn has come.
//
// The strand only.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "daemon/planner/action.h"
#include "daemon/session/thinker.h"
#include "storage/records.h"

namespace blazed::session {

class ThoughtLine {
 public:
  // Null where nobody waits for it any more.
  using Find = std::function<std::shared_ptr<const planner::Thought>(storage::TuningId,
                                                                     const planner::Think&)>;
  using Done = std::function<void(storage::TuningId, planner::ThoughtDone)>;

  ThoughtLine(Thinker& thinker, Find find, Done done);
  ~ThoughtLine();

  // A tuning that asks again keeps its place.
  void Join(storage::TuningId tuning, const planner::Think& asked);
  size_t size() const { return line_.size(); }

 private:
  struct Place {
    storage::TuningId tuning = 0;
    planner::Think asked;
  };

  void Next();
  void Came(const Place& place, planner::Conclusion conclusion);

  Thinker& thinker_;
  const Find find_;
  const Done done_;
  std::deque<Place> line_;
  bool thinks_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace blazed::session
