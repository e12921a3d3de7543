// The shim's decisions on the host's thread: what the coming step runs, which directives are
// followed, and why not. It has the last word: whatever the daemon orders, a variant touches a step
// that updates the model only after passing its probes in this process under this contract.
//
// Session's thread only. All I/O is behind Channel; all time comes from Clock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "client/cpp/engine/answers.h"
#include "client/cpp/engine/config.h"
#include "client/cpp/engine/lease.h"
#include "client/cpp/engine/prober.h"
#include "client/cpp/engine/service_window.h"
#include "client/cpp/engine/variant_table.h"
#include "client/cpp/engine/workload.h"
#include "client/cpp/transport/channel.h"

namespace blazed::shim {

class Engine {
 public:
  static constexpr size_t kMaxQueued = 128;
  // Builds and probes beyond the first minute wait while they make up more than a quarter of the
  // time since attach: no daemon can keep a host from training by orders that are each legitimate.
  static constexpr uint64_t kFreeWorkNs = 60 * kSecond;
  static constexpr uint64_t kWorkShare = 4;
  // A step of a lease that is neither the default's nor the plan's in use ends its lease where it
  // takes longer than this many of theirs, whatever the daemon allows. Short ones are left alone:
  // any machine stops a process for some milliseconds.
  static constexpr uint64_t kTrialFactor = 20;
  static constexpr uint64_t kShortestLimitNs = 10 * kMillisecond;

  // `hot` is the word of fork_guard.h; the engine owns its kHotEngaged and clears kHotAttention.
  Engine(Config config, const blz_host_ops& ops, Clock& clock, std::atomic<uint32_t>& hot,
         Channel& channel);

  blz_result DescribeGraph(const blz_graph* graph);
  blz_result DescribeWorkload(const blz_workload* workload);

  // The host's answer to want_kernels.
  blz_result GiveKernels(uint64_t handle, const blz_step_kernels* before,
                         const blz_step_kernels* after);

  // Takes what the link has; part of every slow step.
  void Poll();

  // The slow path of a step, `step` counts from 1. Returns the handle to run.
  uint64_t BeginStep(uint64_t step);
  void EndStep(uint64_t step, uint32_t flags);

  // A complete service window of the plan in use.
  void OnServiceWindow(const ServiceTimer& timer);

  ServiceTimer& timer() { return timer_; }
  // The plan outside leases.
  uint64_t champion_handle() const { return champion_handle_; }

  // Ends the lease, if any, and drops every handle.
  void Close();

  // Fills everything but state OFF and CLOSED, steps and reason.
  void FillStatus(blz_status_info& info) const;
  const std::string& reason() const { return reason_; }
  bool dead() const { return link_.stage == LinkStage::kDead; }
  const Digest& session_token() const { return link_.welcome.session; }
  LinkStage stage() const { return link_.stage; }

 private:
  // ---- engine.cc: the step ----
  void TakeLink();
  void OnFreshSession();
  void TakeStand();
  void TakeDirectives();
  void Enqueue(Directive&& directive);
  bool IsVoid(const Directive& directive) const;
  void Work();
  void AdoptAhead();
  bool BeginLeaseStep(uint64_t step);  // false: the lease ended before the step
  void EndLeaseStep(uint32_t flags);
  void VoidLease(uint32_t variant);
  uint64_t DrainedPoint(uint64_t now);
  void SeeRunAhead();
  void FinishLease();
  void UpdateHot();

  // ---- directives.cc; false: it must wait for another point ----
  bool Do(Directive& directive);
  void DoBuild(const Build& build);
  bool DoProbe(const Probe& probe);
  void DoRunPairs(const RunPairs& pairs, uint64_t received_ns);
  std::optional<Refusal> WhyNoLease(const RunPairs& pairs);
  void DoAdopt(const Adopt& adopt);
  std::optional<Refusal> WhyNoAdoption(const Adopt& adopt);

  // ---- kernels.cc ----
  void DoWantKernels(const WantKernels& want);

  // ---- building.cc ----
  bool CheckBuild(const Build& build);  // false: refused
  bool ReuseOrphan(const Build& build);
  VariantBuilt BuildVariant(const Build& build);
  bool LearnSignature(uint64_t handle, Digest& signature);
  VariantBuilt AcceptBuilt(const Build& build, const blz_built& out, uint64_t build_ns);
  void TearDown(uint32_t id);
  void DropVariant(uint32_t id);
  void DropHandle(uint64_t handle);
  void DropOrphan();

  // ---- probing.cc ----
  struct ProbeItem {
    uint32_t variant = 0;
    uint32_t batches_left = 0;
    equivalence::Summary summary;
    uint64_t ns = 0;
  };
  void StartProbe(const Probe& probe);
  bool RunProbePoint();
  void CheckOnce(ProbeItem& item, Variant& variant);
  void JudgeSignatures(Prober::Outcome& outcome, Variant& variant);
  void AnswerProbe(const ProbeItem& item);
  void OnRejected(const Variant& variant, equivalence::Verdict verdict);

  // ---- rules ----
  bool Frozen(uint64_t now) const;
  bool MayTry() const;    // leases of a challenger
  bool MayBuild() const;  // builds and probes
  // A plan against itself is only timed, but it runs: it must be one that runs anyway.
  bool MayLease(const RunPairs& pairs) const;
  bool RunsAnyway(uint32_t variant) const { return variant == 0 || variant == champion_; }
  uint64_t LongestStep(uint32_t variant) const;  // in a lease
  uint32_t BatchesNeeded() const { return std::max(config_.probe_batches, session_batches_); }
  // Nothing: the variant may touch a live step.
  std::optional<Refusal> WhyNotLive(uint32_t variant);
  uint64_t HandleOf(uint32_t variant);
  // After a run: a variant that ran under another signature goes back to unproven, and where it is
  // the plan in use, the default runs from the next step on. False there.
  bool SignatureHolds(Variant& variant);
  bool PaceAllows() const {
    const uint64_t elapsed = clock_.Now() - attached_ns_;
    return build_ns_ + probe_ns_ <= kFreeWorkNs + elapsed / kWorkShare;
  }
  bool BudgetLeft() const { return clock_.Now() - point_start_ns_ < config_.point_budget_ns; }

  void SetChampion(uint32_t variant);
  // The plan in use is no longer to be had: the default runs until the next Adopt. Service windows
  // name what runs, so the daemon hears of it also where it asked for none of this.
  void FallBack(const std::string& why);
  void LeaveChampion(blz_log_level level, const std::string& why);  // the same in other words
  void StandDown(uint32_t stand_reason, const std::string& why);
  void Answer(DirectiveKind kind, uint64_t id, const std::string& body);
  void Refuse(DirectiveKind kind, uint64_t id, uint32_t variant, Refusal reason,
              const std::string& detail);
  void Send(OutgoingKind kind, std::string body, bool can_wait = false);
  const std::string& ModeReason() const {
    return link_.welcome.mode_reason.empty() ? config_.note : link_.welcome.mode_reason;
  }
  void Say(blz_log_level level, const std::string& sentence);  // becomes the reason, and is logged

  const Config config_;
  const blz_host_ops ops_;
  Clock& clock_;
  std::atomic<uint32_t>& hot_;
  Channel& channel_;
  const uint64_t attached_ns_;

  LinkState link_;
  uint32_t session_batches_ = 0;  // probe_batches of the session's first Welcome
  blz_mode granted_ = BLZ_MODE_OBSERVE;
  std::vector<GraphSeen> graphs_;
  std::optional<WorkloadSeen> workload_;

  VariantTable variants_;
  std::optional<Variant> orphan_;  // champion that a fresh session of the daemon does not know
  uint32_t champion_ = 0;
  uint64_t champion_handle_ = 0;
  Plan champion_plan_;
  bool settled_ = false;
  Adopt adopted_;
  uint32_t kernels_wanted_ = 0;  // the plan in use, whose kernels the host was asked for; 0: none
  uint32_t stand_reason_ = 0;    // of reason.proto; 0: not standing

  std::deque<Directive> queue_;
  uint64_t stand_order_ = 0;  // leases and adoptions that arrived before it are void
  uint64_t acted_order_ = 0;  // of the latest lease or adoption followed
  Answers answers_;
  std::optional<Lease> lease_;
  uint64_t usual_step_ns_ = 0;        // of a plan that runs anyway, as timed last; 0: not yet
  bool drained_ = false;              // nothing ran since the last drained point
  std::optional<uint64_t> probe_id_;  // of the probe in progress
  std::vector<ProbeItem> probe_items_;
  Prober prober_;
  ServiceTimer timer_;

  uint64_t step_ = 0;
  uint64_t point_start_ns_ = 0;
  bool worked_ = false;
  Progress progress_;
  std::string reason_;
  uint32_t built_ = 0;
  uint32_t rejected_ = 0;
  uint32_t refused_ = 0;
  uint32_t lost_ = 0;
  uint64_t build_ns_ = 0;
  uint64_t probe_ns_ = 0;
  uint64_t drain_ns_ = 0;
  uint64_t units_ = 0;
};

}  // namespace blazed::shim
