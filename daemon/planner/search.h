// Which plan to try next. Any heuristic on any data may sit here, because nothing in this file
// accepts a plan.
//
// Thompson proposals flip several toggles at once under a cap of the predicted slowdown; coordinate
// descent on the posterior mean names the plan worth a race; expected improvement says when to
// stop.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

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

  const SearchProfile& profile() const { return profile_; }
  // Constants follow what a process measures; what was learned stays.
  void SetProfile(const SearchProfile& profile) { profile_ = profile; }
  const Surrogate& surrogate() const { return surrogate_; }

  // Builds are dear, and the surrogate chooses them one by one.
  bool ChoosesBuilds() const { return profile_.max_builds > 0 && !listing_; }

  // Up to `count` different plans to measure against the champion, none equal to it and none given
  // up earlier.
  std::vector<Plan> Propose(const Plan& champion, size_t count, Random& random);
  // Where builds are dear and so many are left: what to add to `base`, and how much that is
  // expected to bring in log step time. Nothing where no plan is expected to bring anything.
  std::optional<std::pair<Plan, double>> Prospect(const Plan& base, uint32_t builds_left) const;
  // The plan whose gain looks proven enough for a race. Asking opens it: the next race of the same
  // two plans has to look better by one more sd.
  std::optional<Plan> RaceCandidate(const Plan& champion);
  // The same of one plan, whose gain has to lie beyond `least` by enough sd.
  bool MayRace(const Plan& champion, const Plan& plan, double least);
  // True where going on is not expected to pay; `why` names the rule.
  bool Exhausted(const Plan& champion, std::string* why) const;

  // The mean log(champion / challenger) of some pairs, each under this scale. Returns what was
  // predicted for it afterwards.
  double Learn(const Plan& champion, const Plan& challenger, double ratio, double scale,
               size_t pairs = 1);
  // Two plans that ran the same cost the same.
  void LearnEqual(const Plan& a, const Plan& b);

  void GiveUp(const Plan& plan) { given_up_.insert(plan); }
  bool GivenUp(const Plan& plan) const { return given_up_.contains(plan); }
  // The plan was built: each of its changes had its turn.
  void NoteTried(const Plan& plan);
  void Ban(size_t toggle) { banned_.insert(toggle); }
  bool Banned(size_t toggle) const { return banned_.contains(toggle); }
  void NoteAccept() {
    turns_since_accept_ = 0;
    quiet_ = 0;
    if (listing_) listing_->NoteAccept();
  }
  void Inflate() { surrogate_.Inflate(4); }  // times changed: what was learned is a first guess
  // Another process, where plans' effects differ by this spread: what was learned holds within it.
  void NextProcess(double spread);
  void Reset();  // forgets what was learned about times; bans stay

  // Predicted saving of `plan` against `champion` and its posterior sd.
  std::pair<double, double> Predict(const Plan& champion, const Plan& plan) const;

  std::vector<uint8_t> Save() const { return surrogate_.Save(); }
  bool Restore(const std::vector<uint8_t>& bytes);

 private:
  Toggles Descend(const std::vector<double>& weights, const Toggles& from, uint32_t flips,
                  double cap) const;
  double ExpectedImprovement(const Toggles& champion) const;
  bool Skipped(const Plan& plan) const;  // given up, or with a banned change

  const Space* space_;
  SearchProfile profile_;
  Surrogate surrogate_;
  std::optional<Listing> listing_;   // in place of the surrogate's proposals
  std::set<size_t> banned_, tried_;  // toggles
  std::set<Plan> given_up_;
  std::map<std::pair<Plan, Plan>, uint32_t> raced_;
  uint32_t quiet_ = 0;
  uint32_t turns_since_accept_ = 0;
};

}  // namespace blazed::planner
