// Several jobs at one race. While one session explores, others of its tuning on other devices give
// pairs to its races: under their own coin and scale, in variants that they built and probed
// themselves. A pair lies within one job, so the level of a device is in both its arms.
#include <algorithm>
#include <set>
#include <utility>

#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr size_t kMostPartners = 15;  // more would only run pairs behind the verdict
constexpr uint32_t kFirstLease = 8, kRaceLease = 16, kLeastLease = 2;
constexpr double kUsualShare = 0.25;  // of its pair cap: what a race usually takes

const char kNoTurn[] = "waiting for a turn to explore";

bool HasPlans(const Session& s, const Race& race) {
  for (const Plan& plan : {race.champion(), race.challenger()}) {
    if (!plan.empty() && !s.by_plan.contains(plan)) return false;
  }
  return true;
}

// A build that takes longer than the race comes too late to give it anything.
bool InTime(double build_ns, double step_ns, const Race& race) {
  const RaceTerms& terms = race.terms();
  const double steps = 2 * kUsualShare * static_cast<double>(terms.max_pairs);
  return build_ns <= steps * (terms.discard ? 2 : 1) * step_ns;
}

std::string NameOf(const Session& s) {
  return s.ready.job.empty() ? "of session " + std::to_string(s.ready.session)
                             : "of job " + s.ready.job;
}

}  // namespace

// Whose races are open to others.
Session* Tuning::State::Lead() {
  Session* s = settlement_ ? nullptr : FindSession(explorer_);
  return s != nullptr && s->role == Role::kExploring ? s : nullptr;
}

bool Tuning::State::MayHelp(const Session& s, const Session& lead) const {
  return s.role == Role::kWaiting && s.ready.mode == Mode::kTune && !s.silent && !s.trials_ended &&
         s.ready.default_signature == lead.ready.default_signature && BudgetShare(s) < 1;
}

// One session of a process and, as neighbours disturb each other, of a device; the first to come is
// the one.
std::vector<Session*> Tuning::State::Partners() {
  std::vector<Session*> partners;
  Session* lead = Lead();
  const bool several = config_.share_device || devices_.size() > 1;
  if (lead == nullptr || !several || space_.size() == 0) return partners;
  std::set<std::string> processes = {lead->ready.process}, devices = {lead->ready.device};
  if (!config_.share_device) devices.insert("");  // unknown may be any of them
  if (!config_.share_device && lead->ready.device.empty()) return partners;
  for (auto& [id, s] : sessions_) {
    if (partners.size() == kMostPartners) break;
    if (!MayHelp(s, *lead) || processes.contains(s.ready.process)) continue;
    if (!config_.share_device && !devices.insert(s.ready.device).second) continue;
    processes.insert(s.ready.process);
    partners.push_back(&s);
  }
  return partners;
}

// Another session's lease still runs there, for a race or a turn that is over.
bool Tuning::State::DeviceTaken(const Session& s) const {
  if (config_.share_device || s.ready.device.empty()) return false;
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& each) {
    const Session& other = each.second;
    return &other != &s && other.ready.device == s.ready.device && other.Leased();
  });
}

// After every event: who can go on or give pairs by now, is asked to.
void Tuning::State::AskPartners() {
  Session* lead = sessions_.size() < 2 ? nullptr : Lead();
  if (lead == nullptr) return;
  if (!lead->Busy()) Advance(*lead);
  const std::vector<Session*> partners = Partners();
  for (auto& [id, s] : sessions_) {
    if (!s.helping) continue;
    const bool partner = std::find(partners.begin(), partners.end(), &s) != partners.end();
    if (!partner || OpenRaceOf(s) == nullptr) StopHelping(s, kNoTurn);
  }
  for (Session* s : partners) {
    if (!s->Busy()) Advance(*s);
  }
}

// The race that the session gives pairs to, while they count.
Race* Tuning::State::OpenRaceOf(Session& s) {
  Session* lead = Lead();
  if (lead == nullptr || !lead->race || lead->race->ended()) return nullptr;
  return s.helping && s.helping->race == lead->race->id() ? &*lead->race : nullptr;
}

void Tuning::State::StopHelping(Session& s, const std::string& note) {
  if (Race* race = OpenRaceOf(s)) race->Leave(s.ready.session);
  s.helping.reset();
  SetPhase(s, Phase::kWaiting, note);
}

// What this process could not bring to another's race may be tried once more for itself.
void Tuning::State::ForgetHelp(Session& s) {
  s.helping.reset();
  std::erase_if(s.failed, [](const auto& each) { return each.second == Verdict::kProposed; });
}

// Its own reason concerns nobody else: the plan races on without this job.
void Tuning::State::SitOut(Session& s, const std::string& why) {
  if (!s.helping) return;
  s.sat_out = s.helping->race;
  StopHelping(s, std::string(kNoTurn) + "; no part in the race: " + why);
}

void Tuning::State::FailForHelp(Session& s, const Variant& v, const std::string& why) {
  s.failed[v.plan] = Verdict::kProposed;
  IssueDrop(s, v.id);
  SitOut(s, why);
}

bool Tuning::State::HelpStep(Session& s) {
  const std::vector<Session*> partners = Partners();
  if (DeviceTaken(s) || std::find(partners.begin(), partners.end(), &s) == partners.end()) {
    return false;
  }
  if (!Fits(s, PlanNs(s))) {
    SitOut(s, BudgetNote(s));
    return false;
  }
  // Before there is a race: it is not to wait for a scale.
  if (s.noise_pairs < kRingPairs) {
    IssueLease(s, LeasePurpose::kNoise, kDefaultVariant, kDefaultVariant,
               PairsALease(s.units.Shape(false), kRingPairs), false);
    return false;
  }
  Session& lead = *Lead();
  if (!lead.race || lead.race->ended() || s.sat_out == lead.race->id()) return false;
  if (!s.helping || s.helping->race != lead.race->id()) {
    // Pairs of two kinds of units have no scale in common.
    const RaceTerms& terms = lead.race->terms();
    if (s.units.Shape(terms.discard) != terms.unit || !MayBuildFor(s, *lead.race)) {
      s.sat_out = lead.race->id();
      return false;
    }
    s.helping = Helping{lead.race->id(), "helps a race " + NameOf(lead), false};
    // The other one may wait for its budget: what is built here explores all the same.
    SetPhase(s, lead.SearchPhase(), s.helping->note);
  }
  if (BringPlans(s, lead)) GivePairs(s, *lead.race);
  return false;
}

// Builds are charged wherever they happen.
bool Tuning::State::MayBuildFor(const Session& s, const Race& race) const {
  if (race.terms().kind != RaceKind::kReplication && HasPlans(s, race)) return true;
  const uint32_t most = search_.profile().max_builds;
  return InTime(BuildNs(s), s.step_ns, race) && (most == 0 || s.ledger.Record(now_).builds < most);
}

// True where both plans are proven here and run as what the exploring job runs.
bool Tuning::State::BringPlans(Session& s, Session& lead) {
  const std::vector<Plan> plans = {lead.race->champion(), lead.race->challenger()};
  const bool afresh = lead.race->terms().kind == RaceKind::kReplication;
  if (afresh && !std::exchange(s.helping->rebuilt, true)) {
    // What an earlier race saw in this build is not to decide the one that settles.
    if (const auto earlier = Proven(s, plans[1]); earlier && *earlier != kDefaultVariant) {
      IssueBuild(s, plans[1], *earlier);
      return false;
    }
  }
  if (!Prepare(s, plans)) return false;
  for (const Plan& plan : plans) {
    if (s.helping && !Proven(s, plan)) SitOut(s, "a plan of it could not be built and proven here");
    if (s.helping && !SameAsLead(s, plan)) SitOut(s, "a plan of it runs as something else here");
  }
  return s.helping.has_value();
}

bool Tuning::State::SameAsLead(Session& s, const Plan& plan) {
  Session* lead = Lead();
  if (plan.empty() || lead == nullptr) return true;
  const auto here = s.by_plan.find(plan), there = lead->by_plan.find(plan);
  if (here == s.by_plan.end() || there == lead->by_plan.end()) return true;
  const Variant *v = s.Find(here->second), *other = lead->Find(there->second);
  return v == nullptr || other == nullptr || v->signature == other->signature;
}

void Tuning::State::GivePairs(Session& s, const Race& race) {
  if (HoldsBack(s, race)) return;
  const VariantId champion = *Proven(s, race.champion()),
                  challenger = *Proven(s, race.challenger());
  const uint32_t pairs = LeasePairs(race);
  const bool discard = race.terms().discard;
  // The exploring job waits for its budget; one that helps gives what it can.
  if (s.race ? !AffordsLease(s, champion, challenger, pairs, discard)
             : !Fits(s, LeaseNs(s, pairs, true, discard))) {
    return;
  }
  IssueLease(s, LeasePurpose::kRace, champion, challenger, pairs, discard);
}

// Shorter where several jobs give pairs at a time: what is under way at the verdict is late.
uint32_t Tuning::State::LeasePairs(const Race& race) {
  uint32_t jobs = 1;
  for (const Session* s : Partners()) jobs += s->sat_out == race.id() ? 0 : 1;
  const uint32_t all =
      PairsALease(race.terms().unit, race.counted() == 0 ? kFirstLease : kRaceLease);
  return jobs == 1 ? all : std::max(kLeastLease, (all + jobs - 1) / jobs);
}

// Where three or more jobs are at it, who has more than half of what was given and lent waits for
// the others.
bool Tuning::State::HoldsBack(const Session& s, const Race& race) {
  std::vector<Session*> members = Partners();
  if (Session* lead = Lead()) members.push_back(lead);
  uint64_t own = 0, all = race.counted();
  size_t jobs = 0;
  for (const Session* each : members) {
    if (each->sat_out == race.id()) continue;
    const uint64_t lent = each->Lent(race.id());
    const uint64_t part = race.parts().GivenBy(each->ready.session) + lent;
    jobs += part > 0 ? 1 : 0;
    all += lent;
    if (each == &s) own = part;
  }
  return jobs >= kSharingJobs && 2 * own > all;
}

// The race that a lease was for; null once it has its row, and where its units were found too
// short.
Race* Tuning::State::RaceOf(Session& s, const Outstanding& lease) {
  if (s.race) return s.race->id() == lease.race ? &*s.race : nullptr;
  Session* lead = Lead();
  const bool open = lead != nullptr && lead->race && lead->race->id() == lease.race;
  return open && s.sat_out != lease.race ? &*lead->race : nullptr;
}

// A job that does not answer in time is not waited for.
void Tuning::State::DropLatePartners() {
  for (Session* s : Partners()) {
    const size_t before = s->open.size();
    std::erase_if(s->open, [&](const auto& each) {
      const Outstanding& d = each.second;
      const bool late = d.kind == DirectiveKind::kLease && d.purpose == LeasePurpose::kRace &&
                        now_ - d.issued > d.deadline;
      if (late) ChargeUnanswered(*s, d);
      return late;
    });
    if (s->open.size() < before) SitOut(*s, "its pairs did not come in time");
  }
}

// The exploring job is leaving. Where another has both plans of the open race, it goes on with the
// race and the search as they stand.
bool Tuning::State::HandOver(Session& from) {
  if (!from.race || Lead() != &from) return false;
  const Race& race = *from.race;
  for (Session* heir : Partners()) {
    if (heir->sat_out == race.id() || !Proven(*heir, race.champion()) ||
        !Proven(*heir, race.challenger())) {
      continue;
    }
    from.race->Leave(from.ready.session);
    heir->race = std::move(from.race);
    from.race.reset();
    TakeOver(*heir, from);
    return true;
  }
  return false;
}

void Tuning::State::TakeOver(Session& s, const Session& from) {
  explorer_ = s.ready.session;
  last_process_ = s.ready.process;
  s.role = Role::kExploring;
  ForgetHelp(s);
  s.turn = ++turns_;
  s.rebuilt = true;  // in a replication; every earlier stage says so by itself
  campaign_.proof.reset();
  campaign_.default_step_ns = s.step_ns;
  search_.NextProcess(LargestSpread());
  ForgiveFaults();
  const bool in_use = campaign_.stage == Stage::kSearch || campaign_.stage == Stage::kVerify;
  const auto champion = Proven(s, campaign_.champion);
  if (in_use && champion && *champion != kDefaultVariant) {
    IssueAdopt(s, *champion, AdoptReason::kWonRace, false);
  }
  SetPhase(s, from.SearchPhase(), "goes on with the search " + NameOf(from));
}

}  // namespace blazed::planner
