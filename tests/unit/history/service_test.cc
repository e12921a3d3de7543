// History over a real in-process channel and a memory store.
#include "daemon/history/service.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/digest_text.h"
#include "storage/memory/memory_store.h"
#include "tests/contract/storage/samples.h"

namespace blazed::history {
namespace {

namespace samples = storage::samples;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class FixedStatus : public StatusSource {
 public:
  void Snapshot(std::function<void(DaemonStatus)> done) override { done(status); }
  DaemonStatus status;
};

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() { Start({}); }

  void Start(ServiceOptions options) {
    service_ = std::make_unique<HistoryService>(
        store_.NewReader(),
        [this](grpc::CallbackServerContext*) -> absl::StatusOr<rpc::Caller> { return caller_; },
        status_, options);
    grpc::ServerBuilder builder;
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    stub_ = v1::History::NewStub(server_->InProcessChannel({}));
  }

  ~ServiceTest() override {
    service_->StopWatches();
    server_->Shutdown();
  }

  storage::TuningId PutTuning(const storage::TuningKey& key = samples::Key()) {
    return samples::PutTuningWithParents(store_, key).value();
  }

  // Writes on the test's thread stand for the writer's.
  void PutEvent(storage::TuningId tuning, const std::string& kind) {
    ASSERT_TRUE(store_.PutEvent(samples::Event(tuning, kind)).ok());
    service_->EventsCommitted();
  }

  static rpc::Caller User(uint32_t uid) { return {uid, 42, samples::Key(uid).principal, false}; }

  storage::MemoryStore store_;
  FixedStatus status_;
  // Handlers run on other threads; tests change it only between calls.
  rpc::Caller caller_ = User(1000);
  std::unique_ptr<HistoryService> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::History::Stub> stub_;
};

TEST_F(ServiceTest, PagesARaceListWithoutAGapOrARepeat) {
  const storage::TuningId tuning = PutTuning();
  for (planner::RaceId id = 1; id <= 5; ++id) {
    ASSERT_TRUE(store_.PutRace(tuning, samples::Race(id)).ok());
  }
  v1::ListRequest request;
  request.set_page_size(2);
  std::vector<uint64_t> seen;
  do {
    grpc::ClientContext context;
    v1::ListRacesReply reply;
    const grpc::Status status = stub_->ListRaces(&context, request, &reply);
    ASSERT_TRUE(status.ok()) << status.error_message();
    for (const v1::RaceRow& row : reply.rows()) seen.push_back(row.id());
    request.set_page_token(reply.next_page_token());
    // A race that comes in between shows on no later page.
    ASSERT_TRUE(store_.PutRace(tuning, samples::Race(100 + seen.size())).ok());
  } while (!request.page_token().empty());
  EXPECT_THAT(seen, ElementsAre(5, 4, 3, 2, 1));
}

TEST_F(ServiceTest, AnswersBadRequestsWithOneSentence) {
  PutTuning();
  struct Case {
    uint32_t size;
    const char* token;
    const char* workload;
    grpc::StatusCode code;
    const char* text;
  };
  const std::string other_list = "MSBwbGFucyA3";  // a token of ListPlans
  for (const Case& c :
       {Case{1001, "", "", grpc::StatusCode::INVALID_ARGUMENT, "ask for fewer"},
        Case{0, "zzz", "", grpc::StatusCode::INVALID_ARGUMENT, "page_token"},
        Case{0, other_list.c_str(), "", grpc::StatusCode::INVALID_ARGUMENT, "next_page_token"},
        Case{0, "", "33", grpc::StatusCode::INVALID_ARGUMENT, "more digits"},
        Case{0, "", "nohex", grpc::StatusCode::INVALID_ARGUMENT, "hex digits"},
        Case{0, "", "ffff", grpc::StatusCode::NOT_FOUND, "blazectl graphs"}}) {
    v1::ListRequest request;
    request.set_page_size(c.size);
    request.set_page_token(c.token);
    request.set_workload(c.workload);
    grpc::ClientContext context;
    v1::ListRacesReply reply;
    const grpc::Status status = stub_->ListRaces(&context, request, &reply);
    EXPECT_EQ(status.error_code(), c.code) << c.text << ": " << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(c.text));
  }
}

TEST_F(ServiceTest, ShowsACallerItsOwnRowsAndRootEverything) {
  const storage::TuningId mine = PutTuning(samples::Key(1000, 3));
  const storage::TuningId theirs = PutTuning(samples::Key(1001, 5));
  for (const storage::TuningId tuning : {mine, theirs}) {
    ASSERT_TRUE(store_.PutPlan(tuning, samples::Plan()).ok());
    ASSERT_TRUE(store_.PutSettlement(tuning, samples::Settlement()).ok());
  }
  const auto count = [this] {
    grpc::ClientContext first, second, third;
    v1::ListPlansReply plans;
    v1::ListSettlementsReply settlements;
    v1::ListWorkloadsReply workloads;
    EXPECT_TRUE(stub_->ListPlans(&first, {}, &plans).ok());
    EXPECT_TRUE(stub_->ListSettlements(&second, {}, &settlements).ok());
    EXPECT_TRUE(stub_->ListWorkloads(&third, {}, &workloads).ok());
    EXPECT_EQ(plans.rows_size(), settlements.rows_size());
    EXPECT_EQ(plans.rows_size(), workloads.rows_size());
    return plans.rows_size();
  };
  EXPECT_EQ(count(), 1);
  caller_ = User(1002);
  EXPECT_EQ(count(), 0);
  caller_ = User(0);
  caller_.principal = "uid:0 container:1";
  EXPECT_EQ(count(), 0) << "root of a container is an ordinary user";
  caller_.is_root = true;
  EXPECT_EQ(count(), 2);
}

TEST_F(ServiceTest, ConvertsWhatTheRowsHold) {
  const storage::TuningId tuning = PutTuning();
  ASSERT_TRUE(store_.PutPlan(tuning, samples::Plan()).ok());
  planner::RaceRecord race = samples::Race();
  race.challenger = samples::Plan().plan;
  ASSERT_TRUE(store_.PutRace(tuning, race).ok());
  ASSERT_TRUE(store_.PutSettlement(tuning, samples::Settlement()).ok());
  v1::ListRequest request;
  request.set_workload(storage::DigestToHex(samples::DigestOf(3)).substr(0, 4));
  grpc::ClientContext first, second, third, fourth, fifth;
  v1::ListPlansReply plans;
  ASSERT_TRUE(stub_->ListPlans(&first, request, &plans).ok());
  ASSERT_EQ(plans.rows_size(), 1);
  EXPECT_EQ(plans.rows(0).plan_text(), "ln.1|gemm.2=cut, attention/forward=streamed");
  EXPECT_EQ(plans.rows(0).verdict(), v1::VERDICT_LOST);
  EXPECT_EQ(plans.rows(0).comparison().equivalence(), v1::EQUIVALENCE_ROUNDING);
  EXPECT_EQ(plans.rows(0).workload(), storage::DigestToHex(samples::DigestOf(3)));
  v1::ListRacesReply races;
  ASSERT_TRUE(stub_->ListRaces(&second, request, &races).ok());
  ASSERT_EQ(races.rows_size(), 1);
  EXPECT_EQ(races.rows(0).kind(), "verification");
  EXPECT_EQ(races.rows(0).outcome(), "won");
  EXPECT_EQ(races.rows(0).challenger_plan(), plans.rows(0).id());
  EXPECT_EQ(races.rows(0).pairs(), 20u);
  v1::ListSettlementsReply settlements;
  ASSERT_TRUE(stub_->ListSettlements(&third, request, &settlements).ok());
  ASSERT_EQ(settlements.rows_size(), 1);
  EXPECT_EQ(settlements.rows(0).kind(), v1::SETTLEMENT_KIND_IN_JOB);
  EXPECT_EQ(settlements.rows(0).state(), "in_force");
  EXPECT_EQ(settlements.rows(0).workload_name(), "attention");
  EXPECT_FALSE(settlements.rows(0).has_next_check_steps());
  v1::ListWorkloadsReply workloads;
  ASSERT_TRUE(stub_->ListWorkloads(&fourth, request, &workloads).ok());
  EXPECT_EQ(workloads.rows(0).settlement(), "in_job");
  v1::ListGraphsReply graphs;
  ASSERT_TRUE(stub_->ListGraphs(&fifth, request, &graphs).ok());
  ASSERT_EQ(graphs.rows_size(), 1);
  EXPECT_EQ(graphs.rows(0).regime(), v1::REGIME_FORWARD);
}

TEST_F(ServiceTest, SaysAfterHowManyStepsASettlementIsCheckedAgain) {
  const storage::TuningId tuning = PutTuning();
  const auto ask = [this] {
    grpc::ClientContext context;
    v1::ListSettlementsReply reply;
    EXPECT_TRUE(stub_->ListSettlements(&context, {}, &reply).ok());
    return reply.rows(0);
  };
  const auto sentences = [this] {
    grpc::ClientContext context;
    v1::ExplainRequest request;
    request.set_workload(storage::DigestToHex(samples::DigestOf(3)));
    v1::ExplainReply reply;
    EXPECT_TRUE(stub_->Explain(&context, request, &reply).ok());
    return std::vector<std::string>(reply.sentences().begin(), reply.sentences().end());
  };
  const uint64_t id = store_.PutSettlement(tuning, samples::Settlement()).value();
  EXPECT_THAT(sentences(), Contains("no check is planned"));
  ASSERT_TRUE(store_.PutDriftTimer(tuning, {id, 500, 320}).ok());
  EXPECT_EQ(ask().next_check_steps(), 320u);
  EXPECT_THAT(sentences(), Contains(HasSubstr("after 320 more steps")));
  ASSERT_TRUE(store_.Demote(id, "a drift check").ok());
  EXPECT_FALSE(ask().has_next_check_steps()) << "nobody checks what is not in force";
  planner::SettlementRecord none = samples::Settlement();
  none.kind = planner::SettlementKind::kNoWinner;
  none.plan.clear();
  const uint64_t no_winner = store_.PutSettlement(tuning, none).value();
  EXPECT_FALSE(ask().has_next_check_steps());
  ASSERT_TRUE(store_.PutDriftTimer(tuning, {no_winner, 250, 40}).ok());
  EXPECT_EQ(ask().next_check_steps(), 40u);
  EXPECT_THAT(sentences(), Contains(HasSubstr("demoted is looked at again after 40 more steps")));
}

TEST_F(ServiceTest, ExplainsWhatIsInForceAndAnyPlan) {
  const storage::TuningId tuning = PutTuning();
  ASSERT_TRUE(store_.PutPlan(tuning, samples::Plan()).ok());
  ASSERT_TRUE(store_.PutSettlement(tuning, samples::Settlement()).ok());
  v1::ExplainRequest request;
  request.set_workload(storage::DigestToHex(samples::DigestOf(3)));
  grpc::ClientContext first, second, third, fourth;
  v1::ExplainReply reply;
  ASSERT_TRUE(stub_->Explain(&first, request, &reply).ok());
  ASSERT_GT(reply.sentences_size(), 1);
  EXPECT_THAT(reply.sentences(0), HasSubstr("saves 5.0 %"));
  EXPECT_EQ(reply.environment_size(), 3);
  EXPECT_TRUE(reply.has_settlement());
  request.set_plan(reply.plans(0).id());
  ASSERT_TRUE(stub_->Explain(&second, request, &reply).ok());
  EXPECT_THAT(reply.sentences(0), HasSubstr("dropped as slower"));
  request.set_plan(99);
  EXPECT_EQ(stub_->Explain(&third, request, &reply).error_code(), grpc::StatusCode::NOT_FOUND);
  caller_ = User(1001);
  request.set_plan(0);
  EXPECT_EQ(stub_->Explain(&fourth, request, &reply).error_code(), grpc::StatusCode::NOT_FOUND)
      << "another user's workload is none";
}

TEST_F(ServiceTest, ExplainsNoMoreThanAClientTakesAndSaysWhatIsLeftOut) {
  const storage::TuningId tuning = PutTuning();
  for (uint32_t i = 0; i < 3000; ++i) {
    planner::PlanRecord plan = samples::Plan();
    plan.plan = {{0, 1 + i}};
    plan.reason = std::string(2000, 'r');
    ASSERT_TRUE(store_.PutPlan(tuning, plan).ok());
  }
  v1::ExplainRequest request;
  request.set_workload(storage::DigestToHex(samples::DigestOf(3)));
  grpc::ClientContext context;
  v1::ExplainReply reply;
  const grpc::Status status = stub_->Explain(&context, request, &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_LT(reply.ByteSizeLong(), size_t{4} << 20);
  EXPECT_GT(reply.plans_size(), 1000);
  const std::vector<std::string> sentences(reply.sentences().begin(), reply.sentences().end());
  EXPECT_THAT(sentences, Contains(absl::StrCat(3000 - reply.plans_size(),
                                               " plans and 0 races did not fit this answer; list "
                                               "them with blazectl plans and races")));
}

TEST_F(ServiceTest, ExplainsAWorkloadThatNothingIsKnownOf) {
  PutTuning();
  v1::ExplainRequest request;
  request.set_workload(storage::DigestToHex(samples::DigestOf(3)));
  grpc::ClientContext context, second;
  v1::ExplainReply reply;
  const grpc::Status status = stub_->Explain(&context, request, &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(reply.sentences(0), HasSubstr("nothing is settled"));
  EXPECT_EQ(stub_->Explain(&second, {}, &reply).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServiceTest, ExplainsWhyNothingIsSettled) {
  const storage::TuningId tuning = PutTuning();
  ASSERT_TRUE(store_.PutPlan(tuning, samples::Plan()).ok());
  v1::ExplainRequest request;
  request.set_workload(storage::DigestToHex(samples::DigestOf(3)));
  const auto sentences = [&] {
    grpc::ClientContext context;
    v1::ExplainReply reply;
    EXPECT_TRUE(stub_->Explain(&context, request, &reply).ok());
    return std::vector<std::string>(reply.sentences().begin(), reply.sentences().end());
  };
  for (const planner::SessionId session : {1, 2}) {
    planner::RaceRecord race = samples::Race(session);
    race.session = session;
    ASSERT_TRUE(store_.PutRace(tuning, race).ok());
  }
  EXPECT_THAT(sentences(), Not(Contains(HasSubstr("the latest search")))) << "no row of it";
  for (const planner::SessionId session : {1, 2}) {
    ASSERT_TRUE(store_.PutSession(samples::Session(session, tuning)).ok());
    planner::KeepOutcome outcome = samples::Outcome(session, 0);
    outcome.outcome = planner::Outcome::kUndecided;
    outcome.reason = absl::StrCat("reason ", session);
    ASSERT_TRUE(store_.PutOutcome(tuning, outcome).ok());
  }
  EXPECT_THAT(sentences(), Contains("the latest search ended undecided: reason 2"));
}

TEST_F(ServiceTest, ShowsACallerItsOwnSessionsInTheStatus) {
  status_.status.version = "0.1.0";
  status_.status.store_state = "quarantined";
  status_.status.store_detail = "the store's structure is damaged";
  status_.status.store_opening = {storage::OpenReport::State::kRestored, "a sentence", "/q", "/b",
                                  3};
  status_.status.read_only_since_ns = 5;
  status_.status.rows_waiting = 6;
  status_.status.rows_dropped = 7;
  for (const uint32_t uid : {1000, 1001}) {
    SessionStatus session;
    session.session = uid;
    session.uid = uid;
    session.principal = samples::Key(uid).principal;
    session.phase = "search";
    status_.status.sessions.push_back(session);
  }
  grpc::ClientContext first, second;
  v1::GetStatusReply reply;
  ASSERT_TRUE(stub_->GetStatus(&first, {}, &reply).ok());
  EXPECT_EQ(reply.store_state(), "quarantined");
  EXPECT_EQ(reply.store_opening().state(), "restored");
  EXPECT_EQ(reply.store_opening().detail(), "a sentence");
  EXPECT_EQ(reply.store_opening().quarantine(), "/q");
  EXPECT_EQ(reply.store_opening().restored_from(), "/b");
  EXPECT_EQ(reply.store_opening().migrated_from(), 3);
  EXPECT_EQ(reply.store_read_only_since_unix_ns(), 5);
  EXPECT_EQ(reply.rows_waiting(), 6u);
  EXPECT_EQ(reply.rows_dropped(), 7u);
  ASSERT_EQ(reply.sessions_size(), 1);
  EXPECT_EQ(reply.sessions(0).session(), 1000u);
  EXPECT_GT(reply.rss_bytes(), 0u);
  EXPECT_FALSE(reply.sqlite_version().empty());
  caller_.is_root = true;
  v1::GetStatusReply all;
  ASSERT_TRUE(stub_->GetStatus(&second, {}, &all).ok());
  EXPECT_EQ(all.sessions_size(), 2);
}

TEST_F(ServiceTest, RefusesACallerItCannotIdentify) {
  HistoryService strangers(
      store_.NewReader(),
      [](grpc::CallbackServerContext*) -> absl::StatusOr<rpc::Caller> {
        return absl::UnauthenticatedError("this connection is nobody's: connect again");
      },
      status_, {});
  grpc::ServerBuilder builder;
  builder.RegisterService(&strangers);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  auto stub = v1::History::NewStub(server->InProcessChannel({}));
  grpc::ClientContext first, second, third;
  v1::ListPlansReply plans;
  EXPECT_EQ(stub->ListPlans(&first, {}, &plans).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  v1::GetStatusReply status;
  EXPECT_EQ(stub->GetStatus(&second, {}, &status).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  auto stream = stub->Watch(&third, {});
  v1::WatchEvent event;
  EXPECT_FALSE(stream->Read(&event));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  server->Shutdown();
}

TEST_F(ServiceTest, MakesAReportOfAStoredSession) {
  const storage::TuningId tuning = PutTuning();
  ASSERT_TRUE(store_.PutSession(samples::Session(7, tuning)).ok());
  absl::Mutex mutex;
  std::vector<absl::StatusOr<std::string>> answers;
  for (const planner::SessionId session : {7, 8}) {
    service_->Report(session, {}, [&](absl::StatusOr<std::string> report) {
      absl::MutexLock lock(&mutex);
      answers.push_back(std::move(report));
    });
    absl::MutexLock lock(&mutex);
    mutex.Await(absl::Condition(
        +[](std::vector<absl::StatusOr<std::string>>* list) { return !list->empty(); }, &answers));
    if (session == 7) {
      EXPECT_THAT(*answers.back(), HasSubstr("\"outcome\":\"undecided\""));
    } else {
      EXPECT_EQ(answers.back().status().code(), absl::StatusCode::kNotFound);
    }
    answers.clear();
  }
}

// A daemon that comes back gives the same process another session.
TEST_F(ServiceTest, TellsAJobThatSettledBeforeARestartThatItPaidForTheSearchItself) {
  const storage::TuningId tuning = PutTuning();
  ASSERT_TRUE(store_.PutSession(samples::Session(1, tuning)).ok());
  ASSERT_TRUE(store_.PutSession(samples::Session(7, tuning)).ok());
  storage::SessionRow other = samples::Session(8, tuning);
  other.process = "boot-1 4343 999";
  ASSERT_TRUE(store_.PutSession(other).ok());
  planner::SettlementRecord settlement = samples::Settlement();
  settlement.session = 1;
  const uint64_t id = store_.PutSettlement(tuning, settlement).value();
  for (const planner::SessionId session : {7, 8}) {
    planner::KeepOutcome outcome = samples::Outcome(session, id);
    outcome.outcome = planner::Outcome::kServed;
    ASSERT_TRUE(store_.PutOutcome(tuning, outcome).ok());
    absl::Notification done;
    service_->Report(session, {}, [&](absl::StatusOr<std::string> report) {
      ASSERT_TRUE(report.ok()) << report.status();
      EXPECT_THAT(*report, HasSubstr(session == 7 ? "\"served\":false" : "\"served\":true"));
      done.Notify();
    });
    done.WaitForNotification();
  }
}

TEST_F(ServiceTest, FollowsEventsInOrderAcrossReconnectsWithoutAGap) {
  const storage::TuningId tuning = PutTuning();
  for (int i = 0; i < 600; ++i) PutEvent(tuning, "before");
  v1::WatchRequest request;
  uint64_t expected = 1;
  // The first place is after an event that exists: 0 would mean "from now on".
  request.set_after(1);
  for (const uint64_t until : {uint64_t{300}, uint64_t{700}, uint64_t{900}}) {
    grpc::ClientContext context;
    auto stream = stub_->Watch(&context, request);
    v1::WatchEvent event;
    while (expected < until) {
      if (expected >= 600) PutEvent(tuning, "after");
      ASSERT_TRUE(stream->Read(&event));
      ASSERT_EQ(event.id(), ++expected);
    }
    request.set_after(expected);
    context.TryCancel();
    while (stream->Read(&event)) {
    }
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
}

TEST_F(ServiceTest, FollowsFromNowOnWhereNoPlaceIsNamed) {
  const storage::TuningId tuning = PutTuning();
  PutEvent(tuning, "before");
  grpc::ClientContext context;
  auto stream = stub_->Watch(&context, {});
  stream->WaitForInitialMetadata();  // the place is taken
  for (int i = 0; i < 50; ++i) PutEvent(tuning, "race_won");
  v1::WatchEvent event;
  for (uint64_t id = 2; id <= 51; ++id) {
    ASSERT_TRUE(stream->Read(&event));
    EXPECT_EQ(event.id(), id);
    EXPECT_EQ(event.kind(), "race_won");
    EXPECT_EQ(event.workload(), storage::DigestToHex(samples::DigestOf(3)));
    EXPECT_EQ(event.workload_name(), "attention");
  }
  context.TryCancel();
}

TEST_F(ServiceTest, ShowsAWatcherOnlyItsOwnEvents) {
  const storage::TuningId mine = PutTuning(samples::Key(1000, 3));
  const storage::TuningId theirs = PutTuning(samples::Key(1001, 5));
  PutEvent(mine, "first");
  PutEvent(theirs, "secret");
  PutEvent(0, "daemon_started");
  PutEvent(mine, "second");
  v1::WatchRequest request;
  request.set_after(1);
  grpc::ClientContext context;
  auto stream = stub_->Watch(&context, request);
  v1::WatchEvent event;
  ASSERT_TRUE(stream->Read(&event));
  EXPECT_EQ(event.kind(), "second");
  context.TryCancel();
}

TEST_F(ServiceTest, RefusesAPlaceTheStoreHasNotReached) {
  v1::WatchRequest request;
  request.set_after(77);
  grpc::ClientContext context;
  auto stream = stub_->Watch(&context, request);
  v1::WatchEvent event;
  EXPECT_FALSE(stream->Read(&event));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::OUT_OF_RANGE);
}

TEST_F(ServiceTest, EndsWatchesWhenItStopsAndTakesNoFurtherOnes) {
  const storage::TuningId tuning = PutTuning();
  PutEvent(tuning, "a");
  PutEvent(tuning, "b");
  v1::WatchRequest request;
  request.set_after(1);
  grpc::ClientContext first, second;
  auto stream = stub_->Watch(&first, request);
  v1::WatchEvent event;
  ASSERT_TRUE(stream->Read(&event));
  service_->StopWatches();
  EXPECT_FALSE(stream->Read(&event));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  auto late = stub_->Watch(&second, request);
  EXPECT_FALSE(late->Read(&event));
  EXPECT_EQ(late->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ServiceTest, LimitsTheWatchesOfOneUser) {
  const storage::TuningId tuning = PutTuning();
  PutEvent(tuning, "a");
  PutEvent(tuning, "b");
  v1::WatchRequest request;
  request.set_after(1);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::WatchEvent>>> streams;
  v1::WatchEvent event;
  for (size_t i = 0; i < ServiceOptions{}.watchers_per_user; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    streams.push_back(stub_->Watch(contexts.back().get(), request));
    ASSERT_TRUE(streams.back()->Read(&event));
  }
  grpc::ClientContext context;
  auto stream = stub_->Watch(&context, request);
  EXPECT_FALSE(stream->Read(&event));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  for (auto& open : contexts) open->TryCancel();
}

}  // namespace
}  // namespace blazed::history
