// The state behind Tuning, and its flows. Each group of methods is one file; the groups stand in
// data order.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/planner/campaign.h"
#include "daemon/planner/confirm.h"
#include "daemon/planner/drift.h"
#include "daemon/planner/gates.h"
#include "daemon/planner/search.h"
#include "daemon/planner/session_state.h"
#include "daemon/planner/settling.h"
#include "daemon/planner/space.h"
#include "daemon/planner/tail_guard.h"
#include "daemon/planner/tuning.h"

namespace blazed::planner {

class Tuning::State {
 public:
  State(WorkloadSpec workload, Contract contract, TuningConfig config, TuningMemory memory);

  std::vector<Action> Apply(const Event& event);
  std::vector<uint8_t> SaveSurrogate() const { return search_.Save(); }
  Phase phase(SessionId session) const;
  bool IsOpen(SessionId session, DirectiveId directive) const;
  std::shared_ptr<const Thought> FindThought(SessionId session, uint64_t request) const;

 private:
  // -- sessions.cc: who is here, whose turn it is
  void On(const SessionReady& event);
  void On(const SessionGone& event);
  void On(const Tick& event);
  void GrantTurns();
  bool Holds(const Session& s) const;
  void SetAside();
  void StartExploring(Session& s);
  double LargestSpread() const;
  void LeaveTurn(Session& s);
  void Advance(Session& s);
  bool Step(Session& s);
  void DropStale(Session& s);

  // -- answers.cc: each answer is matched to its open directive, then judged
  void On(const VariantBuilt& event);
  void On(const ProbeDone& event);
  void On(const LeaseDone& event);
  void On(const LeaseExpired& event);
  void On(const DirectiveRefused& event);
  void On(const DirectiveHeld& event);
  void On(const DirectiveSent& event);
  void On(const VariantAdopted& event);
  Session* FindSession(SessionId id);
  Outstanding* FindOpen(Session& s, DirectiveId id, DirectiveKind kind);
  void JudgeBuild(Session& s, Variant& v, const VariantBuilt& event);
  void ConfirmBuild(Session& s, Variant& v);
  void LeaseFailed(Session& s, const std::string& why);
  void TrialsEnd(Session& s, const Outstanding& directive, const std::string& why);
  void Refused(Session& s, const Outstanding& directive, const DirectiveRefused& event,
               const std::string& why);
  void NoteStep(Session& s, uint64_t step);

  // -- directives.cc: what is asked of a session
  VariantId IssueBuild(Session& s, const Plan& plan, VariantId rebuild_of);
  void IssueProbe(Session& s, const std::vector<VariantId>& variants, uint32_t batches);
  void IssueLease(Session& s, LeasePurpose purpose, VariantId champion, VariantId challenger,
                  uint32_t pairs, bool discard);
  void IssueAdopt(Session& s, VariantId variant, AdoptReason reason, bool settled);
  void IssueDrop(Session& s, VariantId variant);

  // -- prepare.cc: from a plan to a proven variant
  bool Prepare(Session& s, const std::vector<Plan>& plans);  // true: each is proven or failed
  bool ProbeBuilt(Session& s, const std::vector<Plan>& plans);
  std::optional<VariantId> Proven(Session& s, const Plan& plan);
  void FailVariant(Session& s, VariantId id, Verdict verdict, const std::string& reason);
  void Blame(const Plan& plan, Verdict verdict);
  void CountAgainst(const Plan& plan, bool passed, Verdict verdict);
  bool MakeRoom(Session& s);
  void DropUnused(Session& s);
  PlanRecord& RecordOf(const Plan& plan);
  // An empty reason is allowed where the verdict is no decision: standing.h has one.
  void Judge(const Plan& plan, Verdict verdict, const std::string& reason);
  void NoteStanding(const Plan& plan);

  // -- faults.cc: probes that failed to run
  GateAnswer AfterFault(Session& s, const Plan& plan, GateAnswer answer);
  bool TryAgainAfterFault(Session& s, const Variant& v, const GateAnswer& answer);
  void ForgiveFaults();
  bool FaultHidesAWin(const Session& s) const;

  // -- spending.cc: what exploring may still cost; expected costs are in nanoseconds
  double BuildNs(const Session& s) const;
  std::optional<uint64_t> GuessedBuildNs(const Session& s, const Plan& plan) const;
  double BuildNs(const Session& s, const Plan& plan) const;
  double ProbeNs(const Session& s, uint32_t batches) const;
  double LeaseNs(const Session& s, uint32_t pairs, bool two_plans, bool discard) const;
  double PlanNs(const Session& s) const;
  double KeptBackNs(const Session& s) const;
  bool Fits(const Session& s, double ns) const;
  bool Affords(Session& s, double ns, double goes_on_at);  // false: it waits
  bool AffordsProbe(Session& s, size_t variants, uint32_t batches);
  bool AffordsNoise(Session& s);
  bool AffordsLease(Session& s, VariantId champion, VariantId challenger, uint32_t pairs,
                    bool discard);
  size_t BuildsNow(Session& s, size_t wanted);
  void Charge(Session& s, double ns);
  void ChargeUnanswered(Session& s, const Outstanding& directive);
  void DropOpenWork(Session& s);
  void ChargeCheck(Session& s, const Outstanding& lease, const std::vector<PairSample>& pairs);
  bool PaysCheck(const Session& s) const;
  std::optional<Moment> JobEnd(const Session& s) const;
  std::optional<Moment> SearchEnd(const Session& s) const;
  void BeginPause(Session& s, double needed_ns);
  void EndPause(Session& s);
  Nanos PausedFor(const Session& s) const;
  std::string BudgetNote(const Session& s) const;
  bool PauseIsShort(const Session& s) const;
  Session* NextToExplore();
  void PassTurn(Session& s);
  CostRecord CostOf(const Session& s) const;

  // -- explore.cc: the stages of a search
  bool ExploreStep(Session& s);
  bool BudgetEnds(Session& s);
  double JobShare(const Session& s) const;
  double BudgetShare(const Session& s) const;
  bool NoiseStep(Session& s);
  bool CandidateStep(Session& s);
  bool ScoutsPay(const Session& s) const;
  bool ScoutStep(Session& s);
  bool SearchStep(Session& s);
  bool MeasureNext(Session& s);
  bool ProbeChampionAgain(Session& s);
  bool FillBatch(Session& s);
  void EndSearch(Session& s, const std::string& why);
  bool LookedAtWhatIsThere() const;
  std::optional<Plan> LastLook(Session& s);  // last_look.cc
  bool MeasureTheRest(const Session& s);
  void EndUndecided(Session& s, const std::string& why);
  Surroundings Measure(const Session& s) const;
  void SetStage(Session& s, Stage stage);

  // -- thinking.cc: what comes next in a search
  const Conclusion* Concluded(Session& s);
  Question NextQuestion(Session& s);
  void Ask(Session& s, Question question);
  void On(const ThoughtDone& event);
  Conclusion WhatHolds(Conclusion conclusion, const Question& question) const;
  void DropThought();
  void ClearBatch();
  void AskAgainIfLate(Session& s);

  // -- queueing.cc: units that fit the host's queue
  bool SeeQueue(Session& s, const Outstanding& lease, const LeaseDone& done,
                std::vector<PairSample>& pairs);
  void UnitsChanged(Session& s);
  void ForgetNoise(Session& s);
  UnitShape UnitFor(const Session& s, LeasePurpose purpose, bool discard) const;
  void IssueNoise(Session& s);
  void SeeFill(Session& s);
  bool RefillNoise(Session& s);
  bool RaceAgain(Session& s);
  // -- few_builds.cc: a search where builds are dear
  uint32_t BuildsLeft(const Session& s) const;
  Toggles CheapBuilds(const Session& s) const;
  double TrialSteps(const Session& s, const Plan& plan) const;
  double StepsSoFar(const Session& s) const;
  bool BuildPays(const Session& s, const Plan& plan, double gain) const;
  std::vector<Plan> MeasuredPlans(const Session& s) const;
  bool NextBuild(Session& s);
  void EndWait();
  void PassWait(Session& s);
  std::string WaitNote(const Session& s) const;

  // -- racing.cc: pairs into verdicts
  void OpenRace(Session& s, RaceTerms terms, const Plan& champion, const Plan& challenger);
  bool RaceStep(Session& s);
  void TakePairs(Session& s, const Outstanding& lease, const std::vector<PairSample>& pairs);
  void TakeNoise(Session& s, const Outstanding& lease, const std::vector<PairSample>& pairs);
  void TakeTrial(Session& s, const Outstanding& lease, const std::vector<PairSample>& pairs);
  void TakeEvidence(Session& s, Race* race, ScaleRing& ring, const std::vector<PairSample>& pairs);
  void CountExcess(Session& s, const Outstanding& lease, const std::vector<PairSample>& pairs,
                   double expected, double scale);
  void CloseRace(Session& s);
  void RaceEnded(Session& s, const Race& race);
  void AfterSearchRace(Session& s, const Race& race);
  void AfterVerification(Session& s, const Race& race);
  void NoteEffects(const Race& race);
  void AfterReplication(Session& s, const Race& race);
  void AfterCandidate(Session& s, const Race& race);
  void AfterLostReplication(Session& s, const Race& race);
  void TakeAsVerified(const Race& race);
  void DemoteChampion(Session& s, const std::string& reason);
  std::optional<Plan> ChampionBefore(const Session& s);
  void DropForItsTail(Session& s, const Race& race);
  void LookForCarry(const Race& race, double claimed);

  // -- pool.cc: other jobs at the races of the one that explores
  Session* Lead();
  std::vector<Session*> Partners();
  bool MayHelp(const Session& s, const Session& lead) const;
  bool DeviceTaken(const Session& s) const;
  void AskPartners();
  bool HelpStep(Session& s);
  bool MayBuildFor(const Session& s, const Race& race) const;
  bool BringPlans(Session& s, Session& lead);
  void GivePairs(Session& s, const Race& race);
  bool SameAsLead(Session& s, const Plan& plan);
  bool HoldsBack(const Session& s, const Race& race);
  uint32_t LeasePairs(const Race& race);
  Race* OpenRaceOf(Session& s);
  Race* RaceOf(Session& s, const Outstanding& lease);
  void StopHelping(Session& s, const std::string& note);
  void SitOut(Session& s, const std::string& why);
  void FailForHelp(Session& s, const Variant& v, const std::string& why);
  void ForgetHelp(Session& s);
  void DropLatePartners();
  bool HandOver(Session& from);
  void TakeOver(Session& s, const Session& from);
  // -- shams.cc: races between equal plans, as a control
  void ConsiderSham(Session& s);
  bool IsSham(Session& s, const Variant& v);
  bool ShamStep(Session& s);
  void EndSham(Session& s);
  void AfterSham(Session& s, const Race& race);

  // -- settle.cc: disk before memory
  bool VerifyStep(Session& s);
  bool RebuildStep(Session& s);
  bool ReplicateStep(Session& s);
  void AskStore(Session& s, SettlementRecord record);
  void SettleWon(Session& s, const Race& proof, SettlementKind kind);
  void SettleNoWinner(Session& s, const std::string& why);
  void On(const SettlementStored& event);
  void On(const SettlementFailed& event);

  // -- dwelling.cc: is the win there when a plan runs for long
  void StartDwelling(Session& s, const Race& proof, SettlementKind kind);
  bool DwellStep(Session& s);
  void TakeDwell(Session& s, const Outstanding& lease, const std::vector<PairSample>& pairs);
  void EndDwelling(Session& s, std::string cut);
  void DwellLost(Session& s, const std::string& why);

  // -- serve.cc: what is settled, for everybody else
  void StartServing(Session& s);
  uint64_t PlansMeasured() const;
  bool WonHere(const Session& s) const;
  bool AwaitsPairs(const Session& s) const;
  bool ServeStep(Session& s);
  void ServeUnproven(Session& s);
  bool Matches(Session& s, VariantId variant);
  bool ServeByPairs(Session& s, const std::string& why);
  void ServeMatch(Session& s, AdoptReason reason);
  void ServeReplicated(Session& s, const Race& race);
  void ServeMissed(Session& s, const std::string& why);

  // -- service.cc: what the windows of ordinary service tell
  void On(const ServiceWindow& event);
  bool AtRest(const Session& s) const;
  void HostStoodDown(Session& s, Verdict verdict, const std::string& why);
  void SeeOtherVariant(Session& s, const ServiceWindow& event);
  void ObserveWindow(Session& s, const ServiceWindow& event);
  bool DriftDue(Session& s, const ServiceWindow& event, uint64_t steps);

  // -- checks.cc: drift checks of what is settled
  void StartCheck(Session& s, bool with_pairs);
  void FailedInService(Session& s);
  double SettledRatio() const;
  bool BurstStep(Session& s);
  void LeaseBurst(Session& s);
  void TakeBurst(Session& s, const std::vector<PairSample>& pairs);
  void EndBurst(Session& s, RaceOutcome outcome, const std::string& reason);
  void DemoteSettled(const std::string& reason, Verdict verdict, const Burst* check = nullptr);
  void DoubtWhatWasLearned(const Plan& plan, const Burst* check);
  void KeepTimer();
  void KeepTimerNowAndThen();

  // -- returning.cc: a demoted plan that may be the faster one again
  void RememberDemoted();
  void WaitForReturn(uint64_t settlement, uint64_t factor);
  bool MayReturn(const Session& s) const;
  void LookForReturn(Session& s, const ServiceWindow& event, uint64_t steps);
  bool ReturnStep(Session& s);
  void TakeReturn(Session& s, const std::vector<PairSample>& pairs);
  void EndReturn(Session& s, RaceOutcome outcome, const std::string& reason);
  void Return(const Returning& look, const std::string& process);

  // -- going_on.cc: searches that go on in a job that has become longer
  Plan InForce() const;
  bool GoesOn(const Session& s) const;
  void WaitToGoOn(Session& s);
  bool RunsSettled(Session& s);
  bool MayGoOn(Session& s);
  void GoOn(Session& s);
  bool LookAgain(Session& s);
  void BackToService(Session& s, const std::string& why);
  void LoseSettled(Session& s, const std::string& why);

  // -- progress.cc
  std::string StandingNote(const Session& s) const;
  void Report(Session& s, const std::string& note);
  void SetPhase(Session& s, Phase phase, const std::string& note);
  void KeepEnd(Session& s, Outcome outcome, uint64_t settlement, const std::string& reason);

  void Emit(Action action) { actions_.push_back(std::move(action)); }

  const Contract contract_;
  const TuningConfig config_;
  const std::shared_ptr<const Space> shared_space_;  // with thoughts that are out
  const Space& space_ = *shared_space_;
  SignatureTable table_;
  Search search_;
  std::map<Plan, PlanRecord> plans_;
  std::map<SessionId, Session> sessions_;
  std::map<std::string, uint32_t> devices_;  // sessions on each
  SessionId explorer_ = 0;  // 0: nobody; one session explores, replicates or checks drift at a time
  std::string last_process_;
  Campaign campaign_;

  std::optional<SettlementRecord> settlement_;  // in force
  std::string settled_process_;                 // where it was won, as far as this tuning saw it
  std::optional<DriftTimer> timer_;
  std::optional<Plan> demoted_;  // the latest that drift demoted, until another one is settled
  uint64_t timer_kept_at_ = 0;
  DriftDetector detector_;
  // Rare slow steps of plans against the default, over all their races and checks in this tuning.
  std::map<Plan, TailGuard> tails_;
  std::map<Plan, std::vector<SessionEffect>> effects_;
  std::map<Plan, uint32_t> faults_;  // probes that failed to run, in all processes
  std::vector<EarlierSearch> earlier_;

  uint64_t races_earlier_ = 0;  // opened by earlier tunings of this workload
  uint64_t races_opened_ = 0;   // ids
  uint64_t split_ = 0;          // index of the error split of search races
  uint64_t checks_ = 0;         // the same of verifications and replications
  uint64_t requests_ = 0;
  uint64_t thoughts_ = 0;  // asked for so far
  uint64_t turns_ = 0;     // to explore, given so far
  Moment now_{};
  std::vector<Action> actions_;
};

}  // namespace blazed::planner
