// A simulated host for the product's own planner: processes with simulated step times that follow
// directives, and a store that keeps settlements. Everything happens in simulated time, in one
// thread, from one seed.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/sim/cost_table.h"
#include "client/sim/launch_queue.h"
#include "client/sim/noise.h"
#include "daemon/planner/tuning.h"

namespace blazed::sim {

// By how much longer the slow steps of `tail_share` take.
inline constexpr double kTailFactor = 3;

// What a host with a launch queue says of it, true or not.
struct QueueClaims {
  bool queued = true;                 // when it describes itself
  bool tells_run_ahead = true;        // in each lease
  std::optional<uint32_t> run_ahead;  // this, whatever happens
};

struct HostSettings {
  NoiseSettings noise;
  double step_ns = 10e6;                // of the default plan
  double build_steps = 0.3;             // cost of a build, in steps
  std::vector<uint64_t> build_guesses;  // as SessionReady::build_ns has them
  double probe_batch_steps = 1.3;
  double process_sd = 0;  // a plan's effect differs by this much between processes
  double rebuild_sd = 0;  // and by this much between builds of one process
  uint64_t tune_until_steps = 0;
  uint64_t thought_steps = 0;  // a thought takes so many steps; 0: it is there at once
  uint64_t peak_bytes = 0;     // of the default plan, as the host says; 0: it does not
  bool fixed_order = false;    // ignores the coin: the negative control
  double tail_share = 0;       // of steps of any other plan than the default: kTailFactor as long

  // A device with a launch queue. `step_ns` and the cost table are the device's then; the host's
  // own time a step stands here, what plans change of it in a table of its own.
  std::optional<QueueSettings> queue;
  double queue_host_ns = 0;
  const CostTable* queue_host_costs = nullptr;  // null: plans change nothing of the host's time
  QueueClaims queue_claims;
  uint64_t queues_from_step = 0;  // before it the host waits for its device in each step
};

enum class Restart { kStopped, kKilled };

class Host {
 public:
  Host(const CostTable* table, HostSettings settings, planner::TuningConfig config,
       planner::TuningMemory memory, uint64_t seed);

  // Attaches a process; sessions of one process string share process effects. No device: unknown,
  // so that the planner takes no pairs of it for another session's race.
  planner::SessionId Attach(const std::string& process, planner::Mode mode = planner::Mode::kTune,
                            const std::string& device = "");
  void Detach(planner::SessionId session);
  // Everything runs as something else in this process: its signatures differ from other processes'.
  void SetSalt(const std::string& process, uint64_t salt) { processes_[process].salt = salt; }

  // Runs until the session's exploring has ended (settled, no winner, undecided) or `steps` host
  // steps have passed. True where it ended.
  bool RunUntilEnd(planner::SessionId session, uint64_t steps);
  // The daemon is started anew on what the store kept, with the same sessions: all that a tuning
  // says when it is closed, or, where the daemon was killed, what it had written before.
  void RestartDaemon(Restart how);
  // So many steps of the default pass on the clock, in which nothing is asked of the host.
  void Pass(double steps);
  // Settled service: windows of 256 steps with drift checks in between.
  void Serve(planner::SessionId session, uint64_t steps);

  void Send(planner::EventBody body);  // now, as it stands
  planner::Tuning& tuning() { return *tuning_; }
  planner::Moment now() const { return planner::Nanos(static_cast<int64_t>(now_ns_)); }
  uint64_t steps() const { return steps_; }
  double lost_steps() const { return lost_steps_; }  // step-equivalents slower than the default
  double run_steps() const { return run_steps_; }    // all steps in step-equivalents of the default
  const std::vector<planner::Event>& events() const { return events_; }
  const std::vector<planner::Action>& actions() const { return actions_; }
  const std::vector<planner::RaceRecord>& races() const { return races_; }
  const std::map<planner::Plan, planner::PlanRecord>& plans() const { return plans_; }
  std::optional<planner::KeepOutcome> outcome(planner::SessionId session) const;
  std::optional<planner::SettlementRecord> settlement() const { return settlement_; }
  std::optional<planner::ForecastRecord> forecast() const { return forecast_; }
  std::optional<planner::DriftTimer> drift() const { return drift_; }
  const planner::Plan& in_use(planner::SessionId session) const;
  bool settled(planner::SessionId session) const;
  uint64_t demotions() const { return demotions_; }
  uint64_t builds() const { return builds_; }
  double overhead_steps() const { return overhead_steps_; }  // builds and probes, in default steps
  uint64_t steps_of(planner::SessionId session) const;
  // What the process alone adds to the plan's log time.
  double EffectOf(const std::string& process, const planner::Plan& plan) const;
  uint64_t demoted_at() const { return demoted_at_; }  // steps at the last demotion

  // Test hooks: bend an answer before it is sent; false drops it.
  std::function<bool(planner::EventBody&)> bend;
  // Bends what a session says of itself, before it is sent.
  std::function<void(planner::SessionReady&)> bend_ready;
  // Called for every plan the host would run on a live step.
  std::function<void(planner::SessionId, planner::VariantId, const planner::Plan&)> on_live;
  bool store_fails = false;
  CostTable* live_table = nullptr;  // where costs are changed while the host runs

 private:
  struct Process {
    std::map<planner::Plan, double> effect;
    uint64_t salt = 0;
  };
  struct Client {
    std::string process;
    std::map<planner::VariantId, planner::Plan> variants;
    std::map<planner::VariantId, double> build_effect;
    std::map<planner::VariantId, uint32_t> passed;
    planner::VariantId in_use = 0;
    bool settled = false, ended = false;
    std::deque<planner::Action> inbox;
    uint64_t step = 0;
    std::vector<double> window_ns;  // of the service window under way
    std::unique_ptr<StepNoise> noise, device_noise;
    std::unique_ptr<LaunchQueue> queue;
    planner::SessionReady ready;
    double clock_ns = 0;                     // its own, where several run at a time
    std::deque<planner::EventBody> answers;  // of what it did until then
  };

  void Take(const std::vector<planner::Action>& actions);
  void Keep(const planner::Action& action);
  void Store(const planner::Settle& settle);
  void Deliver(const planner::Action& action);
  void Do(planner::SessionId id, Client& c, const planner::Action& action);
  void Build(planner::SessionId id, Client& c, const planner::BuildVariant& build);
  void Probe(planner::SessionId id, Client& c, const planner::ProbeVariants& probe);
  void Pairs(planner::SessionId id, Client& c, const planner::RunPairs& run);
  void ServeStep(planner::SessionId id, Client& c);
  double StepNs(planner::SessionId id, Client& c, planner::VariantId variant);
  double QueuedStepNs(Client& c, const planner::Plan& plan, double cost, uint64_t key);
  double TrueExcess(const planner::Plan& plan, double cost) const;
  double Drain(Client& c);
  planner::UnitTime Unit(planner::SessionId id, Client& c, const planner::RunPairs& run,
                         bool challenger, planner::LeaseDone& done);
  static void SeeRunAhead(const Client& c, planner::LeaseDone& done);
  planner::TuningMemory Remembered(Restart how) const;
  void Answer(planner::EventBody body);
  void TickIfDue();
  void Turn(planner::SessionId id);
  void TurnAmongOthers();
  void AnswerStore();
  void Ponder(const planner::Think& asked);
  void AnswerThoughts();

  const CostTable* table_;
  HostSettings settings_;
  planner::TuningConfig config_;
  planner::Random random_;
  std::unique_ptr<planner::Tuning> tuning_;
  std::map<std::string, Process> processes_;
  std::map<planner::SessionId, Client> clients_;
  planner::SessionId next_session_ = 1;
  double now_ns_ = 1e9, last_tick_ns_ = 1e9;
  uint64_t steps_ = 0, next_settlement_ = 1, demotions_ = 0, builds_ = 0;
  uint64_t demoted_at_ = 0, restarts_ = 0, highest_race_ = 0, checks_ = 0;
  double lost_steps_ = 0, run_steps_ = 0, overhead_steps_ = 0;
  std::vector<planner::Event> events_;
  std::vector<planner::Action> actions_;
  std::vector<planner::RaceRecord> races_;
  std::map<planner::Plan, planner::PlanRecord> plans_;
  std::map<planner::SessionId, planner::KeepOutcome> outcomes_;
  std::optional<planner::SettlementRecord> settlement_;
  std::optional<planner::ForecastRecord> forecast_;
  std::optional<planner::DriftTimer> drift_;
  struct LateThought {
    planner::ThoughtDone done;
    uint64_t due = 0;  // in steps_
  };

  std::deque<LateThought> thoughts_;
  bool answers_thoughts_ = false;
  std::deque<planner::EventBody> answers_;
  double store_due_ns_ = 0;  // when the store's answers are there, where several run at a time
  Client* among_others_ = nullptr;  // whose turn it is while several run at a time
};

}  // namespace blazed::sim
