#include "daemon/session/thought_line.h"

#include <algorithm>
#include <utility>

namespace blazed::session {

ThoughtLine::ThoughtLine(Thinker& thinker, Find find, Done done)
    : thinker_(thinker), find_(std::move(find)), done_(std::move(done)) {}

ThoughtLine::~ThoughtLine() { *alive_ = false; }

void ThoughtLine::Join(storage::TuningId tuning, const planner::Think& asked) {
  const auto place = std::find_if(line_.begin(), line_.end(),
                                  [tuning](const Place& each) { return each.tuning == tuning; });
  if (place == line_.end()) {
    line_.push_back({tuning, asked});
  } else {
    place->asked = asked;
  }
  Next();
}

void ThoughtLine::Next() {
  while (!thinks_ && !line_.empty()) {
    const Place place = line_.front();
    line_.pop_front();
    auto thought = find_(place.tuning, place.asked);
    if (thought == nullptr) continue;
    thinks_ = true;
    thinker_.Think(std::move(thought),
                   [this, alive = alive_, place](planner::Conclusion conclusion) {
                     if (*alive) Came(place, std::move(conclusion));
                   });
  }
}

void ThoughtLine::Came(const Place& place, planner::Conclusion conclusion) {
  thinks_ = false;
  done_(place.tuning, {place.asked.session, place.asked.request, std::move(conclusion)});
  Next();
}

}  // namespace blazed::session
