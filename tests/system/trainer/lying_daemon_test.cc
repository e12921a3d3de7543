// The shim's last word: a daemon may order what it likes, a plan that has not passed its probes in
// this process never trains the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cpu/fault.h"
#include "tests/system/trainer/scripted_daemon.h"
#include "tests/system/trainer/training_run.h"
#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

using testing::Contains;

v1::DaemonMessage BuildOrder(uint64_t id, uint32_t variant) {
  v1::DaemonMessage message;
  message.mutable_build()->set_build_id(id);
  message.mutable_build()->set_variant(variant);
  v1::Choice* choice = message.mutable_build()->mutable_plan()->add_choices();
  choice->set_decision(variant);
  choice->set_option(1);
  return message;
}

v1::DaemonMessage AdoptOrder(uint64_t id, uint32_t variant) {
  v1::DaemonMessage message;
  message.mutable_adopt()->set_adopt_id(id);
  message.mutable_adopt()->set_variant(variant);
  v1::Choice* choice = message.mutable_adopt()->mutable_plan()->add_choices();
  choice->set_decision(variant);
  choice->set_option(1);
  message.mutable_adopt()->set_reason(v1::ADOPT_REASON_SETTLED);
  message.mutable_adopt()->set_settlement(v1::SETTLEMENT_KIND_IN_JOB);
  message.mutable_adopt()->set_settlement_id(1);
  message.mutable_adopt()->set_settled(1);
  return message;
}

v1::DaemonMessage PairsOrder(uint64_t id, uint32_t challenger) {
  v1::DaemonMessage message;
  message.mutable_run_pairs()->set_lease_id(id);
  message.mutable_run_pairs()->set_challenger(challenger);
  message.mutable_run_pairs()->set_pairs(4);
  message.mutable_run_pairs()->set_challenger_first(std::string(1, '\x05'));
  message.mutable_run_pairs()->set_timed_steps(1);
  message.mutable_run_pairs()->set_deadline_ns(60'000'000'000);
  return message;
}

v1::DaemonMessage ProbeOrder(uint64_t id, uint32_t variant) {
  v1::DaemonMessage message;
  message.mutable_probe()->set_probe_id(id);
  message.mutable_probe()->add_variants(variant);
  message.mutable_probe()->set_batches(1);
  return message;
}

bool IsRefusal(const v1::ShimMessage& message, uint64_t directive) {
  return message.has_directive_refused() && message.directive_refused().directive_id() == directive;
}

class LyingDaemon : public testing::Test {
 protected:
  // Trains against `script` until the daemon has heard a refusal of every directive named, under
  // variants that are all wrong, and compares with a training that met no daemon.
  void ExpectRefusedAndUntouched(const ScriptedDaemon::Script& script,
                                 const std::vector<uint64_t>& refused, cpu::Fault::Kind kind) {
    const std::string socket = folder_.At("s");
    ScriptedDaemon daemon(socket, script);
    const cpu::Fault fault{kind, {}};
    JobHooks hooks;
    hooks.build_options = [&fault](const fuse::Plan&) {
      cpu::BuildOptions options;
      options.fault = &fault;
      return options;
    };
    // Steps go on until the refusals are there, so that every order met a running job; then the
    // job's length is known and the plain one runs as long.
    int64_t steps = 0;
    hooks.after_step = [&](int64_t step, float) {
      steps = step + 1;
      const auto heard = daemon.Heard();
      for (const uint64_t directive : refused) {
        if (std::none_of(heard.begin(), heard.end(), [directive](const v1::ShimMessage& message) {
              return IsRefusal(message, directive);
            })) {
          return true;
        }
      }
      return step < 200;
    };
    const Json job = RunInProcess(SmallChain(socket, 200'000), hooks);
    ASSERT_LT(steps, 200'000) << "not every order was refused";
    EXPECT_GE(job["run"]["refused"].get<int64_t>(), static_cast<int64_t>(refused.size()));
    EXPECT_EQ(TrainingDigest(job), PlainDigest(SmallChain("", steps)));
    EXPECT_THAT(job["plan"], testing::IsEmpty());
  }

  const TempFolder folder_;
};

TEST_F(LyingDaemon, AnUnprovenPlanIsNotAdopted) {
  ExpectRefusedAndUntouched(
      [](const v1::ShimMessage& message, const ScriptedDaemon::Send& send) {
        if (message.has_workload_seen()) send(BuildOrder(1, 1));
        if (message.has_variant_built()) send(AdoptOrder(2, 1));
      },
      {2}, cpu::Fault::Kind::kNan);
}

TEST_F(LyingDaemon, AnUnprovenPlanRunsNoPairs) {
  ExpectRefusedAndUntouched(
      [](const v1::ShimMessage& message, const ScriptedDaemon::Send& send) {
        if (message.has_workload_seen()) send(BuildOrder(1, 1));
        if (message.has_variant_built()) send(PairsOrder(2, 1));
      },
      {2}, cpu::Fault::Kind::kDropLastTile);
}

TEST_F(LyingDaemon, APlanThatFailedItsProbeIsRefusedHoweverOftenItIsOrdered) {
  ExpectRefusedAndUntouched(
      [](const v1::ShimMessage& message, const ScriptedDaemon::Send& send) {
        if (message.has_workload_seen()) send(BuildOrder(1, 1));
        if (message.has_variant_built()) send(ProbeOrder(2, 1));
        if (message.has_probe_done()) {
          send(AdoptOrder(3, 1));
          send(PairsOrder(4, 1));
          send(AdoptOrder(5, 1));
        }
      },
      {3, 4, 5}, cpu::Fault::Kind::kDropLastTile);
}

TEST_F(LyingDaemon, OneOrderedBatchIsThreeBeforeAPlanIsAdopted) {
  // Re-ordered sums pass no bitwise probe, so a variant without a fault stands in.
  const std::string socket = folder_.At("s");
  ScriptedDaemon daemon(socket,
                        [](const v1::ShimMessage& message, const ScriptedDaemon::Send& send) {
                          if (message.has_workload_seen()) send(BuildOrder(1, 1));
                          if (message.has_variant_built()) {
                            send(ProbeOrder(2, 1));
                            send(AdoptOrder(3, 1));
                          }
                        });
  JobHooks hooks;
  hooks.after_step = [&](int64_t, float) {
    const auto heard = daemon.Heard();
    return std::none_of(heard.begin(), heard.end(), [](const v1::ShimMessage& message) {
      return IsRefusal(message, 3) || message.has_adopted();
    });
  };
  const Json job = RunInProcess(SmallChain(socket, 200'000), hooks);
  uint32_t passed = 0;
  uint32_t passed_at_adoption = 0;
  for (const v1::ShimMessage& message : daemon.Heard()) {
    if (message.has_probe_done()) passed = message.probe_done().passed_batches();
    if (message.has_adopted()) passed_at_adoption = passed;
  }
  EXPECT_EQ(passed_at_adoption, 3u) << job.dump();
}

TEST_F(LyingDaemon, VariantsThatWereNeverBuiltAreUnknown) {
  ExpectRefusedAndUntouched(
      [](const v1::ShimMessage& message, const ScriptedDaemon::Send& send) {
        if (!message.has_workload_seen()) return;
        send(AdoptOrder(1, 77));
        send(PairsOrder(2, 78));
        send(ProbeOrder(3, 79));
      },
      {1, 2}, cpu::Fault::Kind::kNan);
}

TEST_F(LyingDaemon, TheHostHearsOfEachFaultInItsProbe) {
  for (const auto& [kind, expected] : std::vector<std::pair<cpu::Fault::Kind, v1::Equivalence>>{
           {cpu::Fault::Kind::kDropLastTile, v1::EQUIVALENCE_REJECTED_DIFFERENT},
           {cpu::Fault::Kind::kNan, v1::EQUIVALENCE_REJECTED_BROKEN}}) {
    const std::string socket = folder_.At("s" + std::to_string(static_cast<int>(kind)));
    ScriptedDaemon daemon(socket,
                          [](const v1::ShimMessage& message, const ScriptedDaemon::Send& send) {
                            if (message.has_workload_seen()) send(BuildOrder(1, 1));
                            if (message.has_variant_built()) send(ProbeOrder(2, 1));
                          });
    const cpu::Fault fault{kind, {}};
    JobHooks hooks;
    hooks.build_options = [&fault](const fuse::Plan&) {
      cpu::BuildOptions options;
      options.fault = &fault;
      return options;
    };
    hooks.after_step = [&daemon](int64_t, float) {
      const auto heard = daemon.Heard();
      return std::none_of(heard.begin(), heard.end(),
                          [](const v1::ShimMessage& message) { return message.has_probe_done(); });
    };
    RunInProcess(SmallChain(socket, 200'000), hooks);
    std::vector<v1::Equivalence> verdicts;
    for (const v1::ShimMessage& message : daemon.Heard()) {
      if (message.has_probe_done())
        verdicts.push_back(message.probe_done().summary().equivalence());
    }
    EXPECT_THAT(verdicts, Contains(expected));
  }
}

}  // namespace
}  // namespace blazed::trainer
