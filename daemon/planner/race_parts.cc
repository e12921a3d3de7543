#include "daemon/planner/race_parts.h"

#include <cmath>

namespace blazed::planner {
namespace {

constexpr double kBackingOdds = 4;  // of the evidence without any one job

}  // namespace

void RaceParts::Add(SessionId job, double score) {
  parts_[job].accept.AddScore(score);
  ++given_;
}

void RaceParts::Leave(SessionId job) {
  const auto part = parts_.find(job);
  if (part != parts_.end()) part->second.left = true;
}

uint64_t RaceParts::GivenBy(SessionId job) const {
  const auto part = parts_.find(job);
  return part == parts_.end() ? 0 : part->second.accept.count();
}

std::vector<SessionId> RaceParts::Jobs() const {
  std::vector<SessionId> jobs;
  for (const auto& [job, part] : parts_) jobs.push_back(job);
  return jobs;
}

size_t RaceParts::AtIt() const {
  size_t count = 0;
  for (const auto& [job, part] : parts_) count += part.left ? 0 : 1;
  return count;
}

bool RaceParts::Balanced() const {
  if (AtIt() < kSharingJobs) return true;
  for (const auto& [job, part] : parts_) {
    if (!part.left && 2 * part.accept.count() > given_) return false;
  }
  return true;
}

bool RaceParts::Backed(const ClippedBet& all) const {
  if (AtIt() < 2) return true;
  for (const auto& [job, part] : parts_) {
    if (!part.left && all.Without(part.accept).LogE() < std::log(kBackingOdds)) return false;
  }
  return true;
}

}  // namespace blazed::planner
