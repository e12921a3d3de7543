// blazectl against a gRPC server of this test over a real Unix socket: what goes over the wire, and
// the exit codes.
#include "client/blazectl/verbs.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "blazed/v1/history.grpc.pb.h"
#include "blazed/v1/tuner.grpc.pb.h"
#include "client/blazectl/health_call.h"

namespace blazed::blazectl {
namespace {

// Answers from tables; the store of a real daemon is not needed to test the command line.
class FakeHistory : public v1::History::Service {
 public:
  grpc::Status GetStatus(grpc::ServerContext* context, const v1::GetStatusRequest*,
                         v1::GetStatusReply* reply) override {
    const auto key = context->client_metadata().find("blazed-protocol");
    if (key == context->client_metadata().end() || key->second != "1") {
      return {grpc::StatusCode::INVALID_ARGUMENT, "no protocol key"};
    }
    reply->set_version("0.1.0");
    reply->set_store_state("ok");
    return grpc::Status::OK;
  }

  // 1,200 plans in pages of what is asked; the token is the next row's number.
  grpc::Status ListPlans(grpc::ServerContext*, const v1::ListRequest* request,
                         v1::ListPlansReply* reply) override {
    uint64_t next = 0;
    if (!request->page_token().empty() && !absl::SimpleAtoi(request->page_token(), &next)) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "page token"};
    }
    for (uint32_t i = 0; i < request->page_size() && next < kPlans; ++i, ++next) {
      reply->add_rows()->set_id(kPlans - next);
    }
    if (next < kPlans) reply->set_next_page_token(absl::StrCat(next));
    return grpc::Status::OK;
  }

  grpc::Status ListWorkloads(grpc::ServerContext*, const v1::ListRequest*,
                             v1::ListWorkloadsReply* reply) override {
    for (const auto& [fingerprint, name, seen] : {std::tuple("aaaa1111", "chain", 1),
                                                  {"bbbb2222", "attention", 3},
                                                  {"0123abcd", "face", 1},
                                                  {"dead4444", "cafe", 1},
                                                  {"cafe5555", "other", 1},
                                                  {"cccc3333", "chain", 2}}) {
      auto* row = reply->add_rows();
      row->set_fingerprint(fingerprint);
      row->set_name(name);
      row->set_last_seen_unix_ns(seen);
    }
    return grpc::Status::OK;
  }

  grpc::Status Explain(grpc::ServerContext*, const v1::ExplainRequest* request,
                       v1::ExplainReply* reply) override {
    reply->mutable_workload()->set_fingerprint(request->workload());
    reply->add_sentences(absl::StrCat("plan ", request->plan()));
    return grpc::Status::OK;
  }

  grpc::Status ListRaces(grpc::ServerContext*, const v1::ListRequest*,
                         v1::ListRacesReply*) override {
    return {grpc::StatusCode::PERMISSION_DENIED, "only for root; ask the operator"};
  }

  // Two events a stream, then the stream is lost: a watcher must come back behind the second.
  grpc::Status Watch(grpc::ServerContext*, const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::WatchEvent>* writer) override {
    for (uint64_t id = request->after() + 1; id <= request->after() + 2; ++id) {
      v1::WatchEvent event;
      event.set_id(id);
      event.set_kind(id % 2 == 0 ? "race_won" : "tick");
      writer->Write(event);
    }
    return {grpc::StatusCode::UNAVAILABLE, "stopping"};
  }

  static constexpr uint64_t kPlans = 1200;
};

class FakeTuner : public v1::Tuner::Service {
 public:
  grpc::Status GetReport(grpc::ServerContext*, const v1::GetReportRequest* request,
                         v1::GetReportReply* reply) override {
    switch (request->session().back()) {
      case 7:
        return {grpc::StatusCode::DEADLINE_EXCEEDED, "the report took too long; ask again"};
      case 8:
        released_.WaitForNotification();
        return grpc::Status::OK;
      case 9:
        reply->set_json(absl::StrCat("{\"long\":\"", std::string(6 << 20, 'x'), "\"}"));
        return grpc::Status::OK;
    }
    reply->set_json(absl::StrCat("{\"bytes\":", request->session().size(),
                                 ",\"last\":", static_cast<int>(request->session().back()), "}"));
    return grpc::Status::OK;
  }

  void Release() { released_.Notify(); }

 private:
  absl::Notification released_;
};

struct Outcome {
  ExitCode code;
  std::string out, err;
};

std::string Slurp(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) text.append(buffer, n);
  std::fclose(file);
  return text;
}

class Verbs : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "blazectl-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    socket_ = folder_ + "/s";
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket_, grpc::InsecureServerCredentials());
    builder.RegisterService(&history_);
    builder.RegisterService(&tuner_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }

  void TearDown() override {
    tuner_.Release();
    server_->Shutdown();
    std::filesystem::remove_all(folder_);
  }

  Outcome Run(Options options) {
    if (options.socket.empty()) options.socket = socket_;
    std::FILE* out = std::tmpfile();
    std::FILE* err = std::tmpfile();
    Outcome outcome;
    outcome.code = RunVerb(options, RealSurroundings(), out, err);
    outcome.out = Slurp(out);
    outcome.err = Slurp(err);
    return outcome;
  }

  Outcome RunJson(Verb verb, const std::string& workload = "") {
    Options options;
    options.verb = verb;
    options.output = Output::kJson;
    options.workload = workload;
    return Run(options);
  }

  std::string folder_, socket_;
  FakeHistory history_;
  FakeTuner tuner_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(Verbs, SendTheProtocolKeyWithEveryCall) {
  const Outcome outcome = Run({});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_NE(outcome.out.find("blazed 0.1.0"), std::string::npos);
}

TEST_F(Verbs, JsonStartsWithItsSchema) {
  const Outcome outcome = RunJson(Verb::kStatus);
  EXPECT_EQ(outcome.out.rfind("{\n  \"schema\": 1,", 0), 0u) << outcome.out;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["store_state"], "ok");
}

TEST_F(Verbs, FollowPagesUpToTheLimit) {
  Options options;
  options.verb = Verb::kPlans;
  options.output = Output::kJson;
  options.limit = 1100;
  auto json = nlohmann::json::parse(Run(options).out);
  ASSERT_EQ(json["plans"].size(), 1100u);
  EXPECT_EQ(json["plans"][0]["id"], 1200);
  EXPECT_EQ(json["plans"][1099]["id"], 101);
  EXPECT_EQ(json["next_page_token"], "1100");
  options.limit = 5000;
  json = nlohmann::json::parse(Run(options).out);
  EXPECT_EQ(json["plans"].size(), 1200u);
  EXPECT_EQ(json["next_page_token"], "");
}

TEST_F(Verbs, ExplainTakesAFingerprintANameOrTheNewestWorkload) {
  const auto asked = [&](const std::string& typed) {
    const Outcome outcome = RunJson(Verb::kExplain, typed);
    EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
    return std::string(nlohmann::json::parse(outcome.out)["workload"]["fingerprint"]);
  };
  EXPECT_EQ(asked("aaaa"), "aaaa");
  EXPECT_EQ(asked("attention"), "bbbb2222");
  EXPECT_EQ(asked("face"), "0123abcd") << "a name of hex digits is a name first";
  EXPECT_EQ(asked(""), "bbbb2222");
}

TEST_F(Verbs, ExplainRefusesANameThatFitsNoneOrSeveral) {
  const Outcome several = RunJson(Verb::kExplain, "chain");
  EXPECT_EQ(several.code, ExitCode::kError);
  EXPECT_NE(several.err.find("aaaa1111, cccc3333"), std::string::npos) << several.err;
  const Outcome both = RunJson(Verb::kExplain, "cafe");
  EXPECT_EQ(both.code, ExitCode::kError);
  EXPECT_NE(both.err.find("dead4444, cafe5555"), std::string::npos) << both.err;
  const Outcome none = RunJson(Verb::kExplain, "nothing like it");
  EXPECT_EQ(none.code, ExitCode::kError);
  EXPECT_NE(none.err.find("blazectl graphs"), std::string::npos) << none.err;
}

TEST_F(Verbs, ReportTakesANumberOrAToken) {
  Options options;
  options.verb = Verb::kReport;
  options.session = "258";
  EXPECT_EQ(Run(options).out, "{\n  \"schema\": 1,\n  \"bytes\": 8,\n  \"last\": 2\n}\n");
  options.session = "000102030405060708090a0b0c0d0e0f";
  EXPECT_EQ(Run(options).out, "{\n  \"schema\": 1,\n  \"bytes\": 16,\n  \"last\": 15\n}\n");
  options.session = "frob";
  EXPECT_EQ(Run(options).code, ExitCode::kError);
}

TEST_F(Verbs, DeniedAndUnknownQuestionsHaveTheirOwnCodes) {
  const Outcome denied = RunJson(Verb::kRaces);
  EXPECT_EQ(denied.code, ExitCode::kDenied);
  EXPECT_EQ(denied.err, "blazectl: only for root; ask the operator\n");
  const Outcome unknown = RunJson(Verb::kSettlements);
  EXPECT_EQ(unknown.code, ExitCode::kError);
  EXPECT_NE(unknown.err.find("compare blazectl --version"), std::string::npos) << unknown.err;
}

TEST_F(Verbs, TheDaemonsOwnDeadlineIsItsErrorAndNoSilence) {
  Options options;
  options.verb = Verb::kReport;
  options.session = "7";
  const Outcome late = Run(options);
  EXPECT_EQ(late.code, ExitCode::kError);
  EXPECT_EQ(late.err, "blazectl: the report took too long; ask again\n");
  options.session = "8";
  options.timeout = absl::Milliseconds(100);
  const Outcome silent = Run(options);
  EXPECT_EQ(silent.code, ExitCode::kUnreachable);
  EXPECT_NE(silent.err.find("stays silent"), std::string::npos) << silent.err;
}

TEST_F(Verbs, AReportMayBeLargerThanTheLibrarysUsualLimit) {
  Options options;
  options.verb = Verb::kReport;
  options.session = "9";
  const Outcome outcome = Run(options);
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_GT(outcome.out.size(), size_t{6} << 20);
}

TEST_F(Verbs, ATimeoutWaitsForASocketThatIsNotThereYet) {
  std::filesystem::create_directory(folder_ + "/blazed");
  std::filesystem::create_symlink(socket_, folder_ + "/blazed/blazed.sock");
  int looks = 0;
  Surroundings world;
  world.environment = [&](const char* name) -> std::optional<std::string> {
    if (std::string(name) == "XDG_RUNTIME_DIR") return folder_;
    return std::nullopt;
  };
  // There at the third look of a search, which has two places.
  world.exists = [&](const std::string& path) {
    return ++looks > 4 && path == folder_ + "/blazed/blazed.sock";
  };
  const auto run = [&](const Options& options) {
    std::FILE* out = std::tmpfile();
    const ExitCode code = RunVerb(options, world, out, out);
    std::fclose(out);
    return code;
  };
  EXPECT_EQ(run({}), ExitCode::kUnreachable);
  Options patient;
  patient.timeout = absl::Minutes(1);
  EXPECT_EQ(run(patient), ExitCode::kOk);
}

TEST_F(Verbs, WatchComesBackBehindTheLastEventAfterALostStream) {
  Options options;
  options.verb = Verb::kWatch;
  options.output = Output::kJson;
  options.after = 10;
  options.events = 5;
  const Outcome outcome = Run(options);
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  std::string ids;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line.rfind("{\"schema\":1,", 0), 0u) << line;
    absl::StrAppend(&ids, nlohmann::json::parse(line)["id"].dump(), " ");
  }
  EXPECT_EQ(ids, "11 12 13 14 15 ");
  EXPECT_NE(outcome.err.find("is back"), std::string::npos);
}

TEST_F(Verbs, WatchShowsPeopleNoTicksAndDoesNotCountThem) {
  Options options;
  options.verb = Verb::kWatch;
  options.after = 10;
  options.events = 2;
  const Outcome outcome = Run(options);
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_EQ(outcome.out.find("tick"), std::string::npos) << outcome.out;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2);
}

TEST_F(Verbs, AnAnswerThatCannotBeWrittenIsAnErrorAndEndsAWatch) {
  for (const Verb verb : {Verb::kStatus, Verb::kWatch}) {
    Options options;
    options.verb = verb;
    options.socket = socket_;
    std::FILE* out = std::fopen("/proc/self/status", "re");  // takes no byte
    ASSERT_NE(out, nullptr);
    std::FILE* err = std::tmpfile();
    EXPECT_EQ(RunVerb(options, RealSurroundings(), out, err), ExitCode::kError);
    std::fclose(out);
    EXPECT_EQ(Slurp(err), "blazectl: cannot write the answer; is the disk full?\n");
  }
}

TEST_F(Verbs, HealthFollowsTheDaemonsWord) {
  Options options;
  options.verb = Verb::kHealth;
  EXPECT_EQ(Run(options).code, ExitCode::kOk);
  EXPECT_EQ(Run(options).out, "serving\n");
  server_->GetHealthCheckService()->SetServingStatus(false);
  EXPECT_EQ(Run(options).code, ExitCode::kUnhealthy);
  EXPECT_EQ(Run(options).out, "not_serving\n");
  options.subsystem = "store";
  EXPECT_EQ(Run(options).code, ExitCode::kError);
  server_->GetHealthCheckService()->SetServingStatus("store", true);
  EXPECT_EQ(Run(options).out, "serving\n");
}

TEST_F(Verbs, NobodyListeningIsUnreachableAtOnceAndAfterTheTimeout) {
  Options options;
  options.socket = folder_ + "/none";
  EXPECT_EQ(Run(options).code, ExitCode::kUnreachable);
  options.timeout = absl::Milliseconds(300);
  const Outcome waited = Run(options);
  EXPECT_EQ(waited.code, ExitCode::kUnreachable);
  EXPECT_NE(waited.err.find("no daemon listens at"), std::string::npos) << waited.err;
  options.socket = std::string(200, 'x');
  EXPECT_EQ(Run(options).code, ExitCode::kUsage);
}

TEST_F(Verbs, ASocketOfOthersIsDenied) {
  ASSERT_EQ(chmod(socket_.c_str(), 0), 0);
  // Root may open every socket, so it looks as somebody else.
  const uid_t me = geteuid();
  if (me == 0) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const ExitCode code = Run({}).code;
  ASSERT_EQ(seteuid(me), 0);
  EXPECT_EQ(code, ExitCode::kDenied);
}

TEST_F(Verbs, AServerOfAnotherUserIsNotAsked) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can listen as somebody else";
  const std::string path = folder_ + "/theirs";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(seteuid(65534), 0);
  const int listening = listen(fd, 8);
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_EQ(listening, 0);
  Options options;
  options.socket = path;
  options.timeout = absl::Minutes(1);
  const Outcome outcome = Run(options);
  close(fd);
  EXPECT_EQ(outcome.code, ExitCode::kDenied);
  EXPECT_NE(outcome.err.find("runs as another user"), std::string::npos) << outcome.err;
}

TEST(HealthCall, ReadsAnswersAndRefusesGarbage) {
  EXPECT_EQ(EncodeHealthRequest(""), "");
  EXPECT_EQ(EncodeHealthRequest("store"), "\x0a\x05store");
  EXPECT_EQ(*DecodeHealthResponse("\x08\x02"), Serving::kNotServing);
  EXPECT_EQ(*DecodeHealthResponse(""), Serving::kUnknown);
  EXPECT_EQ(*DecodeHealthResponse("\x08\x63"), Serving::kUnknown);
  EXPECT_FALSE(DecodeHealthResponse("\x08").ok());
  EXPECT_FALSE(DecodeHealthResponse("\xff\xff").ok());
}

}  // namespace
}  // namespace blazed::blazectl
