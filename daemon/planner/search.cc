#include "daemon/planner/search.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/prospect.h"

namespace blazed::planner {
namespace {

constexpr double kNoiseMargin = 1.1;  // the pair variance under the model's own misfit
constexpr double kEqualSd = 1e-4;
constexpr double kSurprise = 3;  // standard errors

// The spread between processes is that of a plan: of one with so many changes.
constexpr double kChangesOfAPlan = 4;

Surrogate Unlearned(const Space* space, const SurrogatePrior& prior) {
  return {space, prior, PriorWeights(*space, prior.sd)};
}

}  // namespace

Search::Search(const Space* space, SearchProfile profile, SearchKind kind)
    : space_(space),
      profile_(profile),
      surrogate_(Unlearned(space, profile.prior)),
      banned_(space->size(), 0),
      tried_(space->size(), 0) {
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

bool Search::Skipped(const Plan& plan) const {
  const Toggles on = space_->Encode(plan);
  bool banned = false;
  for (size_t i = 0; i < on.size(); ++i) banned = banned || (on[i] && banned_[i]);
  return banned || GivenUp(plan);
}

Conclusion Search::NextOfList(const Plan& champion, size_t count, Random& random) {
  const auto skip = [this](const Plan& plan) { return Skipped(plan); };
  Conclusion next;
  next.contender = listing_->RaceCandidate(champion, skip);
  if (!next.contender && count > 0 && !Exhausted(champion, 0)) {
    next.plans = listing_->Propose(champion, count, skip, random);
  }
  return next;
}

void Search::Count(const Conclusion& conclusion) {
  if (conclusion.samples == 0) return;
  turns_since_accept_ += conclusion.samples;
  quiet_ = conclusion.quiet;
}

std::pair<double, double> Search::Predict(const Plan& champion, const Plan& plan) const {
  const Contrast contrast = surrogate_.Between(space_->Encode(champion), space_->Encode(plan));
  return {-surrogate_.Predict(contrast), std::sqrt(surrogate_.Variance(contrast))};
}

void Search::NoteTried(const Plan& plan) {
  const Toggles on = space_->Encode(plan);
  for (size_t i = 0; i < on.size(); ++i) tried_[i] |= on[i];
}

bool Search::MayRace(const Plan& champion, const Plan& plan, double least) const {
  if (plan == champion || GivenUp(plan)) return false;
  const auto [gain, sd] = Predict(champion, plan);
  const auto raced = raced_.find({champion, plan});
  const uint32_t times = raced == raced_.end() ? 0 : raced->second;
  return (gain - least) / std::max(sd, 1e-9) > profile_.race_z + times;
}

bool Search::Exhausted(const Plan& champion, double left, std::string* why) const {
  std::string rule;
  if (space_->size() == 0) {
    rule = "there is nothing to choose";
  } else if (listing_) {
    listing_->Exhausted(
        champion, [this](const Plan& p) { return Skipped(p); }, &rule);
  } else if (quiet_ >= profile_.quiet) {
    rule = "the search keeps naming the plan in use";
  } else if (turns_since_accept_ > profile_.patience) {
    rule = "no plan was accepted for " + std::to_string(profile_.patience) + " turns";
  } else if (left < profile_.stop_gain) {
    rule = "what is left to gain is not worth another trial";
  }
  if (rule.empty()) return false;
  if (why != nullptr) *why = std::move(rule);
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

void Search::Doubt(const Plan& plan, double ratio, double scale, size_t pairs) {
  Inflate();
  const auto [gain, sd] = Predict(Plan{}, plan);
  const double noise = scale / std::sqrt(static_cast<double>(std::max<size_t>(pairs, 1)));
  if (std::fabs(ratio - gain) > kSurprise * std::hypot(sd, noise)) Reset();
  Learn(Plan{}, plan, ratio, scale, pairs);
}

void Search::LearnEqual(const Plan& a, const Plan& b) {
  NoteTried(a);
  surrogate_.Update(surrogate_.Between(space_->Encode(a), space_->Encode(b)), 0,
                    kEqualSd * kEqualSd);
}

}  // namespace blazed::planner
