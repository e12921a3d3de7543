#include "daemon/planner/search.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/prospect.h"

namespace blazed::planner {
namespace {

constexpr double kNoCap = 1e9;
constexpr uint32_t kAllFlips = 1000;
constexpr double kNoiseMargin = 1.1;  // the pair variance under the model's own misfit
constexpr double kEqualSd = 1e-4;

// The spread between processes is that of a plan: of one with so many changes.
constexpr double kChangesOfAPlan = 4;

Surrogate Unlearned(const Space* space, const SurrogatePrior& prior) {
  return {space, prior, PriorWeights(*space, prior.sd)};
}

}  // namespace

Search::Search(const Space* space, SearchProfile profile, SearchKind kind)
    : space_(space), profile_(profile), surrogate_(Unlearned(space, profile.prior)) {
  if (Listing::Fits(*space, kind)) listing_.emplace(space, kind);
}

void Search::Reset() {
  surrogate_ = Unlearned(space_, profile_.prior);
  if (listing_) listing_->Reset();
  raced_.clear();
  quiet_ = 0;
  turns_since_accept_ = 0;
}

void Search::NextProcess(double spread) {
  surrogate_.Widen(spread / std::sqrt(kChangesOfAPlan));
  if (listing_) listing_->NextProcess();
}

bool Search::Restore(const std::vector<uint8_t>& bytes) {
  if (bytes.empty() || !surrogate_.Restore(bytes)) return false;
  return true;
}

// Steepest single flips under `weights`, each toggle once; stops adding where the mean predicts too
// much slowdown.
Toggles Search::Descend(const std::vector<double>& weights, const Toggles& from, uint32_t flips,
                        double cap) const {
  Toggles at = from;
  std::vector<uint8_t> used(at.size(), 0);
  double predicted = 0;
  for (uint32_t n = 0; n < flips; ++n) {
    size_t best = at.size();
    double best_cost = -1e-9;
    for (size_t i = 0; i < at.size(); ++i) {
      if (used[i] || (!at[i] && banned_.contains(i))) continue;
      const double cost = surrogate_.FlipCost(weights, at, i);
      if (cost >= best_cost) continue;
      if (n > 0 && predicted + surrogate_.FlipCost(surrogate_.mean(), at, i) > cap) continue;
      best = i;
      best_cost = cost;
    }
    if (best == at.size()) break;
    predicted += surrogate_.FlipCost(surrogate_.mean(), at, best);
    used[best] = 1;
    space_->Set(at, best, !at[best]);
  }
  return at;
}

bool Search::Skipped(const Plan& plan) const {
  const Toggles on = space_->Encode(plan);
  return given_up_.contains(plan) ||
         std::any_of(banned_.begin(), banned_.end(), [&on](size_t i) { return on[i] != 0; });
}

std::vector<Plan> Search::Propose(const Plan& champion, size_t count, Random& random) {
  if (listing_) {
    return listing_->Propose(
        champion, count, [this](const Plan& p) { return Skipped(p); }, random);
  }
  std::vector<Plan> plans;
  const Toggles from = space_->Encode(champion);
  for (size_t tries = 0; tries < 2 * count && plans.size() < count; ++tries) {
    ++turns_since_accept_;
    const std::vector<double> weights = surrogate_.Sample(random);
    const Plan plan = space_->Decode(Descend(weights, from, profile_.flips, profile_.slowdown_cap));
    if (plan == champion) {
      ++quiet_;
      continue;
    }
    quiet_ = 0;
    if (given_up_.contains(plan)) continue;
    if (std::find(plans.begin(), plans.end(), plan) == plans.end()) plans.push_back(plan);
  }
  return plans;
}

std::pair<double, double> Search::Predict(const Plan& champion, const Plan& plan) const {
  const Contrast contrast = surrogate_.Between(space_->Encode(champion), space_->Encode(plan));
  return {-surrogate_.Predict(contrast), std::sqrt(surrogate_.Variance(contrast))};
}

void Search::NoteTried(const Plan& plan) {
  const Toggles on = space_->Encode(plan);
  for (size_t i = 0; i < on.size(); ++i) {
    if (on[i]) tried_.insert(i);
  }
}

// First every change has its turn, several in a build; then what is expected to bring most.
std::optional<std::pair<Plan, double>> Search::Prospect(const Plan& base,
                                                        uint32_t builds_left) const {
  const Toggles from = space_->Encode(base);
  std::vector<size_t> untried;
  for (size_t i = 0; i < space_->size(); ++i) {
    if (!tried_.contains(i) && !banned_.contains(i)) untried.push_back(i);
  }
  planner::Prospect found = NextGroup(*space_, surrogate_, from, untried, builds_left);
  if (untried.empty()) {
    const auto closed = [this](size_t i) { return banned_.contains(i); };
    const auto taken = [this](const Toggles& on) { return GivenUp(space_->Decode(on)); };
    found = BestProspect(*space_, surrogate_, from, closed, taken, profile_.flips);
  }
  if (found.gain <= 0) return std::nullopt;
  return std::make_pair(space_->Decode(found.plan), found.gain);
}

std::optional<Plan> Search::RaceCandidate(const Plan& champion) {
  if (listing_) {
    return listing_->RaceCandidate(champion, [this](const Plan& p) { return Skipped(p); });
  }
  const Toggles best = Descend(surrogate_.mean(), space_->Encode(champion), kAllFlips, kNoCap);
  const Plan plan = space_->Decode(best);
  if (!MayRace(champion, plan, profile_.delta1)) return std::nullopt;
  return plan;
}

bool Search::MayRace(const Plan& champion, const Plan& plan, double least) {
  if (plan == champion || GivenUp(plan)) return false;
  const auto [gain, sd] = Predict(champion, plan);
  uint32_t& times = raced_[{champion, plan}];
  if ((gain - least) / std::max(sd, 1e-9) <= profile_.race_z + times) return false;
  ++times;
  return true;
}

double Search::ExpectedImprovement(const Toggles& champion) const {
  double sum = 0;
  for (size_t i = 0; i < champion.size(); ++i) {
    if (!champion[i] && banned_.contains(i)) continue;
    Toggles flipped = champion;
    space_->Set(flipped, i, !champion[i]);
    const Contrast contrast = surrogate_.Between(champion, flipped);
    const double sd = std::sqrt(std::max(surrogate_.Variance(contrast), 1e-16));
    sum += planner::ExpectedImprovement(-surrogate_.Predict(contrast) - profile_.stop_delta, sd);
  }
  return sum;
}

bool Search::Exhausted(const Plan& champion, std::string* why) const {
  if (space_->size() == 0) {
    *why = "there is nothing to choose";
  } else if (listing_) {
    return listing_->Exhausted(
        champion, [this](const Plan& p) { return Skipped(p); }, why);
  } else if (quiet_ >= profile_.quiet) {
    *why = "the search keeps naming the plan in use";
  } else if (turns_since_accept_ > profile_.patience) {
    *why = "no plan was accepted for " + std::to_string(profile_.patience) + " turns";
  } else if (ExpectedImprovement(space_->Encode(champion)) < profile_.stop_gain) {
    *why = "what is left to gain is not worth another trial";
  } else {
    return false;
  }
  return true;
}

double Search::Learn(const Plan& champion, const Plan& challenger, double ratio, double scale,
                     size_t pairs) {
  NoteTried(challenger);
  const Contrast contrast =
      surrogate_.Between(space_->Encode(champion), space_->Encode(challenger));
  const double variance =
      kNoiseMargin * scale * scale / static_cast<double>(std::max<size_t>(pairs, 1));
  surrogate_.Update(contrast, -ratio, variance);
  if (listing_) listing_->Learn(champion, challenger, ratio, pairs);
  return -surrogate_.Predict(contrast);
}

void Search::LearnEqual(const Plan& a, const Plan& b) {
  NoteTried(a);
  surrogate_.Update(surrogate_.Between(space_->Encode(a), space_->Encode(b)), 0,
                    kEqualSd * kEqualSd);
}

}  // namespace blazed::planner
