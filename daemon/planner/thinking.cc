// The search's thoughts: asked for, answered, and given up where what they were about is gone.
// While one is out the job trains on.
#include <algorithm>
#include <utility>

#include "daemon/planner/thought.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr Nanos kThoughtPatience = std::chrono::minutes(5);
constexpr uint32_t kMostSamples = 1024;  // of one thought; a log may say anything

}  // namespace

// Null: it is being thought about elsewhere.
const Conclusion* Tuning::State::Concluded(Session& s) {
  if (campaign_.thinking) return nullptr;
  // What a search waits with is thought about again only where what it looks for has changed.
  const bool again = std::exchange(campaign_.reconsider, false);
  if (campaign_.conclusion && !again) return &*campaign_.conclusion;
  const SearchProfile profile = ChooseProfile(Measure(s), config_);
  if (campaign_.conclusion && profile == search_.profile()) return &*campaign_.conclusion;
  search_.SetProfile(profile);
  campaign_.conclusion.reset();
  const Question question = NextQuestion(s);
  if (search_.Lists()) {
    campaign_.conclusion = search_.NextOfList(question.champion, question.plans, s.draw);
  } else if (search_.surrogate().dimension() <= kAtOnce) {
    campaign_.conclusion = Conclude(search_, question);
  } else {
    Ask(s, question);
    return nullptr;
  }
  return &*campaign_.conclusion;
}

Question Tuning::State::NextQuestion(Session& s) {
  Question question;
  question.champion = campaign_.champion;
  question.seed = s.draw.Next();
  if (campaign_.suspects.empty() && BuildsLeft(s) > 0) question.plans = search_.profile().batch;
  if (search_.ChoosesBuilds()) {
    question.builds_left = BuildsLeft(s);
    question.measured = MeasuredPlans(s);
    question.cheap = CheapBuilds(s);
  }
  return question;
}

void Tuning::State::Ask(Session& s, Question question) {
  campaign_.thinking = Thinking{s.ready.session, ++thoughts_, now_, std::move(question)};
  Emit(Think{s.ready.session, thoughts_});
}

std::shared_ptr<const Thought> Tuning::State::FindThought(SessionId session,
                                                          uint64_t request) const {
  const auto& thinking = campaign_.thinking;
  if (!thinking || thinking->session != session || thinking->request != request) return nullptr;
  return std::make_shared<const Thought>(Thought{shared_space_, search_, thinking->question});
}

void Tuning::State::On(const ThoughtDone& event) {
  const auto& thinking = campaign_.thinking;
  if (!thinking || thinking->session != event.session || thinking->request != event.request) return;
  campaign_.conclusion = WhatHolds(event.conclusion, thinking->question);
  campaign_.thinking.reset();
  if (Session* s = FindSession(event.session)) Advance(*s);
}

// A plan that this space does not have, or that was given up meanwhile, is left out.
Conclusion Tuning::State::WhatHolds(Conclusion conclusion, const Question& question) const {
  const auto holds = [&](const Plan& plan) {
    return space_.Valid(plan) && plan != question.champion && !search_.GivenUp(plan);
  };
  if (!space_.Valid(conclusion.base)) conclusion.base = question.champion;
  if (conclusion.contender && !holds(*conclusion.contender)) conclusion.contender.reset();
  std::erase_if(conclusion.plans, [&](const Plan& plan) { return !holds(plan); });
  if (conclusion.plans.size() > question.plans) conclusion.plans.resize(question.plans);
  conclusion.samples = std::min(conclusion.samples, kMostSamples);
  return conclusion;
}

// What it was about is no more: the champion, the turn, the search.
void Tuning::State::DropThought() {
  EndWait();
  campaign_.reconsider = false;
  campaign_.thinking.reset();
  campaign_.conclusion.reset();
}

void Tuning::State::ClearBatch() {
  campaign_.batch.clear();
  campaign_.batch_next = 0;
  DropThought();
}

// One that never comes back must not hold the search for ever.
void Tuning::State::AskAgainIfLate(Session& s) {
  const auto& thinking = campaign_.thinking;
  if (!thinking || thinking->session != s.ready.session) return;
  if (now_ - thinking->asked > kThoughtPatience) Ask(s, thinking->question);
}

}  // namespace blazed::planner
