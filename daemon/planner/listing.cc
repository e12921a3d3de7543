#include "daemon/planner/listing.h"

#include <algorithm>

namespace blazed::planner {
namespace {

constexpr size_t kRandomPlans = 64;
constexpr double kRandomChanges = 2;  // of a random plan, on average
// The best of many looks better than it is, so the next ones have their turn as well; but where
// three in a row win nothing the rest of the list is noise.
constexpr uint32_t kRacesInRow = 3;

// The options that a decision has in this space, its default included.
std::vector<uint32_t> OptionsOf(const Space& space) {
  std::vector<uint32_t> options(space.spec().decisions.size(), 1);
  for (size_t i = 0; i < space.size(); ++i) ++options[space.toggle(i).decision];
  return options;
}

}  // namespace

bool Listing::Fits(const Space& space, SearchKind kind) {
  if (kind == SearchKind::kSurrogate) return false;
  if (kind != SearchKind::kExhaustive) return true;
  uint64_t plans = 1;
  for (uint32_t options : OptionsOf(space)) {
    plans *= options;
    if (plans > kMostPlans) return false;
  }
  return true;
}

// Plans are numbered in a notation where each decision is a digit.
void Listing::ListAll() {
  const std::vector<uint32_t> options = OptionsOf(*space_);
  uint64_t plans = 1;
  for (uint32_t base : options) plans *= base;
  for (uint64_t number = 1; number < plans; ++number) {
    Plan plan;
    uint64_t rest = number;
    for (uint32_t d = 0; d < options.size(); ++d) {
      const auto option = static_cast<uint32_t>(rest % options[d]);
      if (option > 0) plan.push_back({d, option});
      rest /= options[d];
    }
    list_.push_back(std::move(plan));
  }
}

void Listing::ListRandom(Random& random) {
  std::set<Plan> plans;
  const auto size = static_cast<double>(space_->size());
  for (size_t tries = 0; tries < 4 * kRandomPlans && plans.size() < kRandomPlans; ++tries) {
    Toggles on(space_->size(), 0);
    for (size_t i = 0; i < on.size(); ++i) {
      if (random.Uniform() * size < kRandomChanges) space_->Set(on, i, true);
    }
    plans.insert(space_->Decode(on));
  }
  plans.erase(Plan{});
  list_.assign(plans.begin(), plans.end());
}

void Listing::ListChanges(const Plan& champion) {
  for (size_t i = 0; i < space_->size(); ++i) {
    Toggles on = space_->Encode(champion);
    space_->Set(on, i, !on[i]);
    list_.push_back(space_->Decode(on));
  }
}

std::vector<Plan> Listing::Propose(const Plan& champion, size_t count, const Skip& skip,
                                   Random& random) {
  if (!listed_ || (kind_ == SearchKind::kGreedy && listed_for_ != champion)) {
    listed_ = true;
    listed_for_ = champion;
    list_.clear();
    next_ = 0;
    if (kind_ == SearchKind::kExhaustive) ListAll();
    if (kind_ == SearchKind::kRandom) ListRandom(random);
    if (kind_ == SearchKind::kGreedy) ListChanges(champion);
  }
  std::vector<Plan> plans;
  while (next_ < list_.size() && plans.size() < count) {
    const Plan& plan = list_[next_++];
    if (!plan.empty() && plan != champion && !skip(plan)) plans.push_back(plan);
  }
  return plans;
}

bool Listing::Through(const Plan& champion) const {
  if (!listed_ || next_ < list_.size()) return false;
  return kind_ != SearchKind::kGreedy || listed_for_ == champion;
}

double Listing::LevelOf(const Plan& plan) const {
  const auto it = levels_.find(plan);
  return it == levels_.end() ? 0 : it->second.mean();
}

std::optional<Plan> Listing::Best(const Plan& champion, const Skip& skip) const {
  if (!Through(champion) || races_ >= kRacesInRow) return std::nullopt;
  std::optional<Plan> best;
  double most = LevelOf(champion);
  for (const auto& [plan, level] : levels_) {
    if (level.mean() <= most || plan.empty() || plan == champion || skip(plan)) continue;
    if (raced_.contains({champion, plan})) continue;
    best = plan;
    most = level.mean();
  }
  return best;
}

std::optional<Plan> Listing::RaceCandidate(const Plan& champion, const Skip& skip) {
  const auto best = Best(champion, skip);
  if (!best) return std::nullopt;
  raced_.insert({champion, *best});
  ++races_;
  return best;
}

bool Listing::Exhausted(const Plan& champion, const Skip& skip, std::string* why) const {
  if (!Through(champion) || Best(champion, skip)) return false;
  *why = "every plan on the list was measured, and none of the best wins a further race";
  return true;
}

void Listing::Learn(const Plan& champion, const Plan& plan, double ratio, size_t pairs) {
  const auto weight = static_cast<double>(pairs);
  const double level = LevelOf(champion) + ratio;
  Level& known = levels_[plan];
  known.sum += weight * level;
  known.pairs += weight;
}

void Listing::NextProcess() {
  std::erase_if(list_, [this](const Plan& plan) { return levels_.contains(plan); });
  next_ = 0;
}

void Listing::Reset() { *this = Listing(space_, kind_); }

}  // namespace blazed::planner
