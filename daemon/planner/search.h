// What the search knows: what plans cost (surrogate.h), what was tried, raced and given up. Any
// heuristic on any data may sit behind it, because nothing here accepts a plan. What to try next is
// a thought about it (thought.h), or comes from a list (listing.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/planner/conclusion.h"
#include "daemon/planner/listing.h"
#include "daemon/planner/profile.h"
#include "daemon/planner/random.h"
#include "daemon/planner/space.h"
#include "daemon/planner/surrogate.h"

namespace blazed::planner {

class Search {
 public:
  // A kind that does not fit the space leaves the search to the surrogate.
  Search(const Space* space, SearchProfile profile, SearchKind kind = SearchKind::kSurrogate);

  const Space& space() const { return *space_; }
  const SearchProfile& profile() const { return profile_; }
  // Constants follow what a process measures; what was learned stays.
  void SetProfile(const SearchProfile& profile) { profile_ = profile; }
  const Surrogate& surrogate() const { return surrogate_; }

  // Plans come from a list, and no thought is needed.
  bool Lists() const { return listing_.has_value(); }
  // What comes next of it: up to `count` plans that the champion was not measured against.
  Conclusion NextOfList(const Plan& champion, size_t count, Random& random);
  // Builds are dear, and the surrogate chooses them one by one.
  bool ChoosesBuilds() const { return profile_.max_builds > 0 && !listing_; }

  // Whether the plan's gain lies beyond `least` by enough sd for a race; the next race of the same
  // two plans has to look better by one more.
  bool MayRace(const Plan& champion, const Plan& plan, double least) const;
  void NoteRace(const Plan& champion, const Plan& plan) { ++raced_[{champion, plan}]; }
  // True where going on is not expected to pay. `left`: expected improvement; `why` names the rule.
  bool Exhausted(const Plan& champion, double left, std::string* why = nullptr) const;
  // The plans of a conclusion are tried from here on.
  void Count(const Conclusion& conclusion);
  uint32_t quiet() const { return quiet_; }  // samples in a row that named the champion

  // The mean log(champion / challenger) of some pairs, each under this scale. Returns what was
  // predicted for it afterwards.
  double Learn(const Plan& champion, const Plan& challenger, double ratio, double scale,
               size_t pairs = 1);
  // Two plans that ran the same cost the same.
  void LearnEqual(const Plan& a, const Plan& b);

  void GiveUp(const Plan& plan) { given_up_.insert(plan); }
  void TakeUp(const Plan& plan) { given_up_.erase(plan); }
  bool GivenUp(const Plan& plan) const { return given_up_.contains(plan); }
  // The plan was built: each of its changes had its turn.
  void NoteTried(const Plan& plan);
  bool Tried(size_t toggle) const { return tried_[toggle] != 0; }
  void Ban(size_t toggle) { banned_[toggle] = 1; }
  bool Banned(size_t toggle) const { return banned_[toggle] != 0; }
  void NoteAccept() {
    turns_since_accept_ = 0;
    quiet_ = 0;
    if (listing_) listing_->NoteAccept();
  }
  void Inflate() { surrogate_.Inflate(4); }  // times changed: what was learned is a first guess
  // Times changed, and pairs show by now this mean log(default / plan): as Inflate, and where not
  // even that leaves room for what they show, what was learned about times is forgotten.
  void Doubt(const Plan& plan, double ratio, double scale, size_t pairs);
  // Another process, where plans' effects differ by this spread: what was learned holds within it.
  void NextProcess(double spread);
  void Reset();  // forgets what was learned about times; bans stay

  // Predicted saving of `plan` against `champion` and its posterior sd.
  std::pair<double, double> Predict(const Plan& champion, const Plan& plan) const;

  std::vector<uint8_t> Save() const { return surrogate_.Save(); }
  bool Restore(const std::vector<uint8_t>& bytes);

 private:
  bool Skipped(const Plan& plan) const;  // given up, or with a banned change

  const Space* space_;
  SearchProfile profile_;
  Surrogate surrogate_;
  std::optional<Listing> listing_;  // in place of the surrogate's proposals
  Toggles banned_, tried_;
  std::set<Plan> given_up_;
  std::map<std::pair<Plan, Plan>, uint32_t> raced_;
  uint32_t quiet_ = 0;
  uint32_t turns_since_accept_ = 0;
};

}  // namespace blazed::planner
