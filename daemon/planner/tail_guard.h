// Rare slow steps. The clipped bets judge the typical step, but a job waits for the sum of all of
// them: a plan that is a little faster and now and then takes three times as long may cost more
// than it saves, and clipping hides that.
//
// The guard bets on the pairs in which only one of the two steps was far slower than the other
// typically explains. Where the plan has no more such steps than what it is compared with, whose
// step that was is a fair coin, so the bets are a test martingale (eprocess.h) and the chance of
// ever being proven wrongly is at most 1/kTailProof. It only ever speaks against a plan.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace blazed::planner {

inline constexpr double kTailProof = 20;
// Of a settled plan, which is looked at again and again for as long as it serves: as much as the
// drift detector asks for.
inline constexpr double kTailDemotes = 2000;
inline constexpr double kTailScales = 8;  // between two steps of one pair; noise alone never is

// What every reason begins with that the guard gives.
inline constexpr const char* kTailReason = "its rare slow steps take back what it saves";

class TailGuard {
 public:
  // One pair: its log(champion / challenger) under this scale, where `typical` was expected.
  void Add(double ratio, double scale, double typical);
  void AddCutShort();  // the challenger ran beyond its limit

  double LogE() const;
  // Its slow steps are its own, and on average they cost what it saves on a typical step or more.
  bool Vetoes(double typical, double proof = kTailProof) const;
  std::string Story() const;
  uint64_t pairs() const { return pairs_; }

 private:
  void Bet(double side, double excess);

  std::array<double, 3> log_{};
  uint64_t pairs_ = 0, own_ = 0, others_ = 0;
  double excess_ = 0;  // of its own slow steps less the other's, in steps
};

}  // namespace blazed::planner
