// Searches without a model: a list of plans, each measured by some pairs, and then races for those
// that came out best. Every plan of a small space; plans drawn at random; or rounds of single
// changes of the champion, of which each keeps the best. Search asks one of these where the
// configuration says so.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/planner/random.h"
#include "daemon/planner/space.h"
#include "daemon/planner/tuning.h"

namespace blazed::planner {

class Listing {
 public:
  static constexpr uint64_t kMostPlans = 4096;  // of an exhaustive search

  // Whether `kind` lists plans of this space: an exhaustive search of a large one does not.
  static bool Fits(const Space& space, SearchKind kind);

  Listing(const Space* space, SearchKind kind) : space_(space), kind_(kind) {}

  using Skip = std::function<bool(const Plan&)>;  // plans that are not to be tried
  std::vector<Plan> Propose(const Plan& champion, size_t count, const Skip& skip, Random& random);
  // The best measured plan that did not race this champion yet. Asking opens the race.
  std::optional<Plan> RaceCandidate(const Plan& champion, const Skip& skip);
  bool Exhausted(const Plan& champion, const Skip& skip, std::string* why) const;

  // The mean log(champion / plan) of some pairs.
  void Learn(const Plan& champion, const Plan& plan, double ratio, size_t pairs);
  void NoteAccept() { races_ = 0; }
  // What was proposed and not measured comes again.
  void NextProcess();
  void Reset();

 private:
  struct Level {
    double sum = 0;  // over pairs, against the default as far as measured
    double pairs = 0;
    double mean() const { return pairs > 0 ? sum / pairs : 0; }
  };

  bool Through(const Plan& champion) const;  // everything on the list was proposed
  double LevelOf(const Plan& plan) const;
  std::optional<Plan> Best(const Plan& champion, const Skip& skip) const;
  void ListAll();
  void ListRandom(Random& random);
  void ListChanges(const Plan& champion);

  const Space* space_;
  SearchKind kind_;
  bool listed_ = false;
  Plan listed_for_;
  std::vector<Plan> list_;
  size_t next_ = 0;
  std::map<Plan, Level> levels_;
  std::set<std::pair<Plan, Plan>> raced_;
  uint32_t races_ = 0;  // since a plan was accepted
};

}  // namespace blazed::planner
