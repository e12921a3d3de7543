// The shim against gRPC's own C++ server.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/contract/shim/test_daemon.h"
#include "tests/contract/shim/test_host.h"

namespace blazed::contract {
namespace {

class Conformance : public testing::Test {
 protected:
  void StartDaemon(TestDaemon::Greeting greeting = TestDaemon::Greeting::kWelcome,
                   const std::string& token = std::string(16, 't')) {
    daemon = std::make_unique<TestDaemon>(folder.Socket(), greeting, token);
  }
  Session Attach(blz_mode mode = BLZ_MODE_TUNE) {
    socket = folder.Socket();
    blz_options options = Session::DefaultOptions();
    options.socket = socket.c_str();
    options.mode = mode;
    options.job = "conformance";
    options.host_name = "test-host 1";
    static const blz_label kLabels[] = {{"cpu", "test"}, {"threads", "1"}};
    options.environment = kLabels;
    options.environment_count = 2;
    return Session(options, &host);
  }
  // A session that the daemon has welcomed and that has described its workload.
  Session AttachAndDescribe(blz_mode mode = BLZ_MODE_TUNE) {
    Session session = Attach(mode);
    EXPECT_TRUE(StepUntilState(session, BLZ_STATE_ATTACHED));
    host.Describe(session);
    return session;
  }
  bool StepUntilState(Session& session, blz_state state) {
    return host.StepUntil(session, [&] { return session.Status().state == state; });
  }
  v1::ShimMessage StepUntilSent(Session& session, v1::ShimMessage::BodyCase kind) {
    v1::ShimMessage found;
    host.StepUntil(session, [&] {
      for (const auto& message : daemon->Received()) {
        if (message.body_case() == kind) found = message;
      }
      return found.body_case() == kind;
    });
    return found;
  }
  void SendBuild(uint32_t variant, uint32_t option) {
    v1::DaemonMessage message;
    message.mutable_build()->set_build_id(100 + variant);
    message.mutable_build()->set_variant(variant);
    message.mutable_build()->mutable_plan()->add_choices()->set_option(option);
    daemon->Send(message);
  }
  void SendProbe(uint32_t variant) {
    v1::DaemonMessage message;
    message.mutable_probe()->set_probe_id(200 + variant);
    message.mutable_probe()->add_variants(variant);
    message.mutable_probe()->set_batches(3);
    daemon->Send(message);
  }
  void SendPairs(uint64_t lease, uint32_t challenger) {
    v1::DaemonMessage message;
    auto* pairs = message.mutable_run_pairs();
    pairs->set_lease_id(lease);
    pairs->set_challenger(challenger);
    pairs->set_pairs(8);
    pairs->set_challenger_first(std::string(1, '\x5a'));
    pairs->set_timed_steps(1);
    pairs->set_deadline_ns(60'000'000'000);
    daemon->Send(message);
  }
  void SendAdopt(uint32_t variant, bool settled) {
    v1::DaemonMessage message;
    message.mutable_adopt()->set_adopt_id(300 + variant);
    message.mutable_adopt()->set_variant(variant);
    message.mutable_adopt()->set_settled(settled ? 1 : 0);
    message.mutable_adopt()->set_settlement(v1::SETTLEMENT_KIND_IN_JOB);
    daemon->Send(message);
  }

  TemporaryFolder folder;
  TestHost host;
  std::string socket;
  std::unique_ptr<TestDaemon> daemon;
};

TEST_F(Conformance, HelloCarriesWhatTheHostSaid) {
  StartDaemon();
  Session session = Attach();
  const v1::Hello hello = daemon->WaitFor(v1::ShimMessage::kHello).hello();
  EXPECT_EQ(hello.mode(), v1::MODE_TUNE);
  EXPECT_EQ(hello.contract(), v1::CONTRACT_ROUNDING);
  EXPECT_EQ(hello.job(), "conformance");
  EXPECT_EQ(hello.host_name(), "test-host 1");
  EXPECT_EQ(hello.device(), "cpu");
  EXPECT_EQ(hello.world_size(), 1u);
  EXPECT_EQ(hello.shim_version(), blz_version());
  EXPECT_EQ(hello.resume(), "");
  ASSERT_EQ(hello.environment_size(), 2);
  EXPECT_EQ(hello.environment(1).key(), "threads");
  EXPECT_EQ(hello.environment(1).value(), "1");
  const auto metadata = daemon->Metadata();
  const auto protocol = metadata.find("blazed-protocol");
  ASSERT_NE(protocol, metadata.end());
  EXPECT_EQ(protocol->second, "1");
}

TEST_F(Conformance, DescriptionsArriveWhole) {
  StartDaemon();
  Session session = AttachAndDescribe();
  const auto graph = daemon->WaitFor(v1::ShimMessage::kGraphSeen).graph_seen();
  EXPECT_EQ(graph.name(), "graph");
  EXPECT_EQ(graph.nodes(), 3u);
  const auto workload = daemon->WaitFor(v1::ShimMessage::kWorkloadSeen).workload_seen();
  EXPECT_EQ(workload.fingerprint().size(), 16u);
  ASSERT_EQ(workload.graphs_size(), 1);
  EXPECT_EQ(workload.graphs(0), graph.fingerprint());
  ASSERT_EQ(workload.decisions_size(), 1);
  ASSERT_EQ(workload.decisions(0).options_size(), 3);
  EXPECT_EQ(workload.decisions(0).options(2), "bad");
  EXPECT_EQ(workload.decisions(0).sites(), 1u);
  EXPECT_EQ(workload.default_signature()[0], 1);
}

TEST_F(Conformance, TheLargestWorkloadCrossesManyFrames) {
  StartDaemon();
  Session session = Attach();
  StepUntilState(session, BLZ_STATE_ATTACHED);
  ASSERT_EQ(session.DescribeGraph({7}, BLZ_REGIME_TRAINING, "graph", 3, std::string(4096, 'd')),
            BLZ_OK);
  Workload workload;
  workload.graphs = {{7}};
  workload.default_signature = {1};
  for (int i = 0; i < 512; ++i) {
    Decision decision{{1}, std::string(96, 'n'), BLZ_CHOICE, {}, 1};
    for (int option = 0; option < 16; ++option) {
      decision.options.push_back(std::string(96, 'a' + option));
    }
    workload.decisions.push_back(decision);
  }
  ASSERT_EQ(session.DescribeWorkload(workload), BLZ_OK) << session.Reason();
  const auto seen = daemon->WaitFor(v1::ShimMessage::kWorkloadSeen).workload_seen();
  ASSERT_EQ(seen.decisions_size(), 512);
  EXPECT_EQ(seen.decisions(511).options(15), std::string(96, 'p'));
}

TEST_F(Conformance, TheWholeLoopFromBuildToSettlement) {
  StartDaemon();
  Session session = AttachAndDescribe();
  SendBuild(1, 1);
  SendProbe(1);
  SendPairs(7, 1);
  const auto done = StepUntilSent(session, v1::ShimMessage::kStepsDone).steps_done();
  EXPECT_EQ(done.lease_id(), 7u);
  EXPECT_EQ(done.complete(), 1u);
  ASSERT_EQ(done.units_size(), 16);
  for (const auto& unit : done.units()) EXPECT_GT(unit.host_ns(), 0u);
  const auto probe = StepUntilSent(session, v1::ShimMessage::kProbeDone).probe_done();
  EXPECT_EQ(probe.summary().equivalence(), v1::EQUIVALENCE_IDENTICAL);
  EXPECT_EQ(probe.summary().digest_default(), probe.summary().digest_variant());
  EXPECT_EQ(probe.passed_batches(), 3u);
  SendAdopt(1, true);
  host.StepUntil(session, [&] { return session.Status().settled == 1; });
  EXPECT_EQ(host.Step(session), 1u);
  EXPECT_EQ(StepUntilSent(session, v1::ShimMessage::kAdopted).adopted().variant(), 1u);
  // Windows of the default, from before, come first.
  host.StepUntil(session, [&] {
    const auto received = daemon->Received();
    return std::any_of(received.begin(), received.end(), [](const v1::ShimMessage& message) {
      return message.has_service_window() && message.service_window().variant() == 1;
    });
  });
}

TEST_F(Conformance, KernelsOfASettledPlanAreAskedForAndArrive) {
  StartDaemon();
  Session session = AttachAndDescribe();
  SendBuild(1, 1);
  SendProbe(1);
  SendAdopt(1, true);
  v1::DaemonMessage want;
  want.mutable_want_kernels()->set_variant(1);
  daemon->Send(want);
  host.StepUntil(session, [&] { return host.wanted_kernels != 0; });
  blz_kernel kernel{};
  kernel.name = "kernel";
  kernel.known = BLZ_KERNEL_TIME | BLZ_KERNEL_SPILLS;
  kernel.time_ns = 5;
  blz_step_kernels before{}, after{};
  before.struct_size = after.struct_size = sizeof(blz_step_kernels);
  after.kernels = &kernel;
  after.kernel_bytes = sizeof kernel;
  after.kernel_count = 1;
  EXPECT_EQ(session.GiveKernels(host.wanted_kernels, before, after), BLZ_OK);
  EXPECT_EQ(session.GiveKernels(host.wanted_kernels, before, after), BLZ_NOT_FOUND);
  const auto seen = StepUntilSent(session, v1::ShimMessage::kKernelsSeen).kernels_seen();
  EXPECT_EQ(seen.variant(), 1u);
  EXPECT_EQ(seen.before().kernels_size(), 0);
  ASSERT_EQ(seen.after().kernels_size(), 1);
  EXPECT_EQ(seen.after().kernels(0).name(), "kernel");
  EXPECT_EQ(seen.after().kernels(0).time_ns(), 5u);
  EXPECT_TRUE(seen.after().kernels(0).has_spill_bytes());
  EXPECT_FALSE(seen.after().kernels(0).has_registers());
  EXPECT_EQ(blz_give_kernels(nullptr, 1, &before, &after), BLZ_OFF);
}

TEST_F(Conformance, SequencesCountUpWithoutGaps) {
  StartDaemon();
  Session session = AttachAndDescribe();
  SendBuild(1, 1);
  SendProbe(1);
  StepUntilSent(session, v1::ShimMessage::kProbeDone);
  session.Close();
  daemon->WaitFor(v1::ShimMessage::kBye);
  uint64_t expected = 0;
  for (const auto& message : daemon->Received()) EXPECT_EQ(message.sequence(), ++expected);
  EXPECT_GE(expected, 6u);
}

TEST_F(Conformance, ALyingDaemonCannotRunAWrongPlan) {
  StartDaemon();
  Session session = AttachAndDescribe();
  SendBuild(1, 2);
  SendPairs(7, 1);
  SendProbe(1);
  SendPairs(8, 1);
  SendAdopt(1, true);
  int ran = 0;
  host.StepUntil(session, [&] {
    if (host.Step(session) != 0) ++ran;
    return session.Status().refused >= 3;
  });
  EXPECT_EQ(ran, 0);
  std::vector<v1::RefusalReason> reasons;
  for (int i = 0; i < 3; ++i) {
    reasons.push_back(
        daemon->WaitFor(v1::ShimMessage::kDirectiveRefused).directive_refused().reason());
  }
  EXPECT_EQ(reasons, (std::vector<v1::RefusalReason>{v1::REFUSAL_REASON_NOT_PROVEN,
                                                     v1::REFUSAL_REASON_REJECTED_EARLIER,
                                                     v1::REFUSAL_REASON_REJECTED_EARLIER}));
}

TEST_F(Conformance, ProgressShowsInTheStatus) {
  StartDaemon();
  Session session = AttachAndDescribe();
  v1::DaemonMessage message;
  auto* progress = message.mutable_progress();
  progress->set_phase(v1::PHASE_SEARCH);
  progress->set_candidates(12);
  progress->set_gain(0.25);
  progress->set_note("racing\x1b[2J");
  progress->mutable_forecast()->set_window_ns(9);
  progress->mutable_forecast()->set_based_on("guess");
  daemon->Send(message);
  host.StepUntil(session, [&] { return session.Status().candidates == 12; });
  const blz_status_info info = session.Status();
  EXPECT_EQ(info.phase, BLZ_PHASE_SEARCH);
  EXPECT_EQ(info.gain, 0.25);
  EXPECT_STREQ(info.note, "racing?[2J");
  EXPECT_STREQ(info.forecast_based_on, "guess");
}

TEST_F(Conformance, TheReportIsFetchedOnTheSameConnection) {
  StartDaemon();
  daemon->report_json = "{\"outcome\":\"" + std::string(300'000, 'x') + "\"}";
  Session session = AttachAndDescribe();
  EXPECT_EQ(session.ReportJson(20'000), daemon->report_json);
  EXPECT_EQ(session.ReportJson(20'000), daemon->report_json);
  char small[8];
  size_t length = 0;
  EXPECT_EQ(blz_report_json(session.get(), 20'000, small, sizeof small, &length), BLZ_TOO_SMALL);
  EXPECT_EQ(length, daemon->report_json.size());
  EXPECT_EQ(daemon->streams(), 1);
}

TEST_F(Conformance, AMissingReportIsNotFound) {
  StartDaemon();
  daemon->report_status = {grpc::StatusCode::NOT_FOUND, "none yet"};
  Session session = AttachAndDescribe();
  char buffer[8];
  size_t length = 0;
  EXPECT_EQ(blz_report_json(session.get(), 20'000, buffer, sizeof buffer, &length), BLZ_NOT_FOUND);
}

TEST_F(Conformance, ARestartedDaemonGetsTheSessionBack) {
  StartDaemon();
  Session session = AttachAndDescribe();
  SendBuild(1, 1);
  SendProbe(1);
  SendAdopt(1, false);
  host.StepUntil(session, [&] { return session.Status().champion == 1; });
  daemon.reset();
  StepUntilState(session, BLZ_STATE_RECONNECTING);
  EXPECT_EQ(host.Step(session), 1u) << "the champion runs on";
  StartDaemon();
  StepUntilState(session, BLZ_STATE_ATTACHED);
  const v1::Hello hello = daemon->WaitFor(v1::ShimMessage::kHello).hello();
  EXPECT_EQ(hello.resume(), std::string(16, 't'));
  EXPECT_EQ(hello.resume_epoch(), 5u);
  daemon->WaitFor(v1::ShimMessage::kWorkloadSeen);
  // What may have been lost with the stream is said again.
  EXPECT_EQ(daemon->WaitFor(v1::ShimMessage::kVariantBuilt).variant_built().variant(), 1u);
  daemon->WaitFor(v1::ShimMessage::kAdopted);
  EXPECT_EQ(session.Status().champion, 1u);
  EXPECT_EQ(session.Status().reconnects, 1u);
  uint64_t expected = 0;
  for (const auto& message : daemon->Received()) EXPECT_EQ(message.sequence(), ++expected);
}

TEST_F(Conformance, ADaemonThatForgotTheSessionFindsTheChampionStillRunning) {
  StartDaemon();
  Session session = AttachAndDescribe();
  SendBuild(1, 1);
  SendProbe(1);
  SendAdopt(1, false);
  host.StepUntil(session, [&] { return session.Status().champion == 1; });
  daemon.reset();
  StartDaemon(TestDaemon::Greeting::kWelcome, std::string(16, 'u'));
  host.StepUntil(session, [&] { return session.Status().session_token[0] == 'u'; });
  EXPECT_EQ(session.Status().champion, 0u);
  EXPECT_EQ(host.Step(session), 1u);
  SendAdopt(0, false);
  host.StepUntil(session, [&] { return host.Step(session) == 0; });
}

TEST_F(Conformance, ATrailersOnlyRefusalIsForGood) {
  StartDaemon(TestDaemon::Greeting::kForbidden);
  Session session = Attach();
  host.StepUntil(session, [&] { return session.Status().state == BLZ_STATE_OFF; });
  EXPECT_NE(session.Reason().find("not for this user"), std::string::npos) << session.Reason();
  EXPECT_EQ(host.Step(session), 0u);
}

TEST_F(Conformance, AnUnavailableDaemonIsTriedAgain) {
  StartDaemon(TestDaemon::Greeting::kUnavailable);
  Session session = Attach();
  host.StepUntil(session, [&] { return daemon->streams() >= 2; });
  EXPECT_EQ(session.Status().state, BLZ_STATE_ATTACHING);
}

TEST_F(Conformance, ASilentDaemonNeverStopsAStep) {
  StartDaemon(TestDaemon::Greeting::kSilent);
  Session session = Attach();
  host.Describe(session);
  daemon->WaitFor(v1::ShimMessage::kHello);
  for (int i = 0; i < 100'000; ++i) EXPECT_EQ(host.Step(session), 0u);
  EXPECT_EQ(session.Status().state, BLZ_STATE_ATTACHING);
  // The breaker closes the connection and tries again later.
  host.StepUntil(session, [&] { return daemon->streams() >= 2; });
}

TEST_F(Conformance, AStreamEndedByTheDaemonIsResumed) {
  StartDaemon();
  Session session = AttachAndDescribe();
  daemon->Finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "later"});
  host.StepUntil(session, [&] { return session.Status().reconnects == 1; });
  EXPECT_EQ(daemon->streams(), 2);
}

// Nine pauses that doubled would end with one of half a minute, longer than StepUntil waits.
TEST_F(Conformance, ADaemonThatStopsAgainAndAgainIsFoundAgainEachTime) {
  StartDaemon();
  Session session = AttachAndDescribe();
  for (uint32_t stops = 1; stops <= 9; ++stops) {
    daemon->Finish({grpc::StatusCode::UNAVAILABLE, "the daemon is stopping; attach again"});
    ASSERT_TRUE(host.StepUntil(session, [&] { return session.Status().reconnects == stops; }));
  }
}

TEST_F(Conformance, MalformedDirectivesAreRefusedAndTheStreamGoesOn) {
  StartDaemon();
  Session session = AttachAndDescribe();
  v1::DaemonMessage message;
  message.mutable_run_pairs()->set_lease_id(1);
  message.mutable_run_pairs()->set_pairs(1'000'000);
  daemon->Send(message);
  message.mutable_probe()->set_batches(0);
  daemon->Send(message);
  message.mutable_build()->set_variant(0);
  daemon->Send(message);
  host.StepUntil(session, [&] { return session.Status().refused == 3; });
  SendBuild(1, 1);
  StepUntilSent(session, v1::ShimMessage::kVariantBuilt);
  EXPECT_EQ(session.Status().reconnects, 0u);
}

TEST_F(Conformance, AMessageBeyondTheLimitsEndsTheStreamNotTheHost) {
  StartDaemon();
  Session session = AttachAndDescribe();
  v1::DaemonMessage message;
  for (int i = 0; i < 5000; ++i) message.mutable_build()->mutable_plan()->add_choices();
  daemon->Send(message);
  host.StepUntil(session, [&] { return session.Status().reconnects == 1; });
  message.mutable_stand()->set_detail(std::string(2 << 20, 'x'));
  daemon->Send(message);
  host.StepUntil(session, [&] { return session.Status().reconnects == 2; });
  EXPECT_EQ(host.Step(session), 0u);
}

TEST_F(Conformance, AFloodOfDirectivesIsBounded) {
  StartDaemon();
  Session session = AttachAndDescribe();
  for (uint32_t i = 0; i < 20'000; ++i) SendPairs(i, 9);
  v1::DaemonMessage progress;
  progress.mutable_progress()->set_candidates(77);
  daemon->Send(progress);
  host.StepUntil(session, [&] { return session.Status().candidates == 77; });
  EXPECT_EQ(host.Step(session), 0u);
  EXPECT_EQ(session.Status().reconnects, 0u) << "the stream did not survive it";
}

TEST_F(Conformance, GoodbyeIsSaidOnce) {
  StartDaemon();
  Session session = AttachAndDescribe();
  for (int i = 0; i < 10; ++i) host.Step(session);
  const uint64_t steps = session.Status().steps;
  session.Close();
  EXPECT_EQ(daemon->WaitFor(v1::ShimMessage::kBye).bye().steps(), steps);
  EXPECT_TRUE(daemon->WaitForStreamEnd());
  EXPECT_EQ(daemon->streams(), 1);
}

TEST_F(Conformance, ACallbackThatCallsBackIsHarmless) {
  StartDaemon();
  class Confused final : public TestHost {
   public:
    bool Probe(uint64_t handle, ProbeSink& sink) override {
      EXPECT_EQ(blz_step_begin(session), 0u);
      blz_step_end(session, 0);
      blz_close(session);
      return TestHost::Probe(handle, sink);
    }
    Digest Signature(uint64_t handle) override {
      blz_close(session);
      return TestHost::Signature(handle);
    }
    blz_session* session = nullptr;
  } confused;
  socket = folder.Socket();
  blz_options options = Session::DefaultOptions();
  options.socket = socket.c_str();
  options.mode = BLZ_MODE_TUNE;
  Session session(options, &confused);
  confused.session = session.get();
  confused.StepUntil(session, [&] { return session.Status().state == BLZ_STATE_ATTACHED; });
  confused.Describe(session);
  SendBuild(1, 1);
  SendProbe(1);
  confused.StepUntil(session, [&] { return session.Status().probes >= 7; });
  SendAdopt(1, true);
  confused.StepUntil(session, [&] { return session.Status().settled == 1; });
  confused.StepUntil(session, [&] {
    const auto received = daemon->Received();
    return std::any_of(received.begin(), received.end(), [](const v1::ShimMessage& message) {
      return message.has_service_window() && message.service_window().variant() == 1;
    });
  });
}

TEST_F(Conformance, ManySessionsOpenAndClose) {
  StartDaemon();
  for (int i = 0; i < 50; ++i) {
    Session first = Attach();
    Session second = Attach(BLZ_MODE_OBSERVE);
    host.Step(first);
    host.Step(second);
  }
}

}  // namespace
}  // namespace blazed::contract
