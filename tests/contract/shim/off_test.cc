// No daemon, a wrong one, or none wanted: a session that is off, with its reason.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "tests/contract/shim/test_daemon.h"
#include "tests/contract/shim/test_host.h"

namespace blazed::contract {
namespace {

class Off : public testing::Test {
 protected:
  Session AttachTo(const std::string& socket, blz_mode mode = BLZ_MODE_TUNE) {
    blz_options options = Session::DefaultOptions();
    options.socket = socket.c_str();
    options.mode = mode;
    return Session(options, &host);
  }
  void ExpectOff(Session& session, const std::string& reason) {
    EXPECT_EQ(session.Status().state, BLZ_STATE_OFF);
    EXPECT_EQ(session.Status().mode, BLZ_MODE_OFF);
    EXPECT_NE(session.Reason().find(reason), std::string::npos) << session.Reason();
    EXPECT_EQ(session.DescribeGraph({7}, BLZ_REGIME_TRAINING, "graph", 1), BLZ_OFF);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(host.Step(session), 0u);
    EXPECT_EQ(session.ReportJson(0), "");
  }
  TemporaryFolder folder;
  TestHost host;
};

TEST_F(Off, NoDaemon) {
  Session session = AttachTo(folder.Socket());
  ExpectOff(session, "no daemon listens there");
}

TEST_F(Off, ASocketThatNobodyServesAnyMore) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, folder.Socket().c_str());
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  close(fd);
  Session session = AttachTo(folder.Socket());
  ExpectOff(session, "no daemon listens there");
}

TEST_F(Off, AFileInPlaceOfASocket) {
  std::ofstream(folder.Socket()) << "text";
  Session session = AttachTo(folder.Socket());
  ExpectOff(session, folder.Socket());
}

TEST_F(Off, APathThatIsTooLong) {
  Session session = AttachTo("/" + std::string(107, 'x'));
  ExpectOff(session, "longer than 107 bytes");
}

TEST_F(Off, ModeOffNeverTouchesTheSocket) {
  TestDaemon daemon(folder.Socket());
  Session session = AttachTo(folder.Socket(), BLZ_MODE_OFF);
  ExpectOff(session, "the mode is off");
  EXPECT_EQ(daemon.streams(), 0);
}

TEST_F(Off, TheEnvironmentCanAlwaysTurnItOff) {
  TestDaemon daemon(folder.Socket());
  setenv("BLAZED_MODE", "off", 1);
  Session session = AttachTo(folder.Socket(), BLZ_MODE_TUNE);
  unsetenv("BLAZED_MODE");
  ExpectOff(session, "the mode is off");
}

TEST_F(Off, TheEnvironmentNamesSocketAndMode) {
  TestDaemon daemon(folder.Socket());
  setenv("BLAZED_MODE", "observe", 1);
  setenv("BLAZED_SOCKET", ("unix://" + folder.Socket()).c_str(), 1);
  Session session = AttachTo("", BLZ_MODE_FROM_ENVIRONMENT);
  unsetenv("BLAZED_MODE");
  unsetenv("BLAZED_SOCKET");
  EXPECT_EQ(daemon.WaitFor(v1::ShimMessage::kHello).hello().mode(), v1::MODE_OBSERVE);
}

TEST_F(Off, AnUnknownModeIsRefusedWithTheNamesThereAre) {
  setenv("BLAZED_MODE", "turbo", 1);
  Session session = AttachTo(folder.Socket(), BLZ_MODE_FROM_ENVIRONMENT);
  unsetenv("BLAZED_MODE");
  ExpectOff(session, "tune_until:N");
}

TEST_F(Off, SeveralRanksAreOnlyObserved) {
  TestDaemon daemon(folder.Socket());
  const std::string socket = folder.Socket();
  blz_options options = Session::DefaultOptions();
  options.socket = socket.c_str();
  options.mode = BLZ_MODE_TUNE;
  options.rank = 1;
  options.world_size = 2;
  Session session(options, &host);
  const v1::Hello hello = daemon.WaitFor(v1::ShimMessage::kHello).hello();
  EXPECT_EQ(hello.mode(), v1::MODE_OBSERVE);
  EXPECT_EQ(hello.world_size(), 2u);
  host.StepUntil(session, [&] { return session.Status().state == BLZ_STATE_ATTACHED; });
  EXPECT_NE(session.Reason().find("several ranks"), std::string::npos);
}

TEST_F(Off, AHostWithoutCallbacksIsOnlyObserved) {
  TestDaemon daemon(folder.Socket());
  const std::string socket = folder.Socket();
  blz_options options = Session::DefaultOptions();
  options.socket = socket.c_str();
  options.mode = BLZ_MODE_TUNE;
  Session session(options, nullptr);
  EXPECT_EQ(daemon.WaitFor(v1::ShimMessage::kHello).hello().mode(), v1::MODE_OBSERVE);
}

TEST_F(Off, TheLogHearsTheReason) {
  std::vector<std::string> said;
  const std::string socket = folder.Socket();
  blz_options options = Session::DefaultOptions();
  options.socket = socket.c_str();
  options.mode = BLZ_MODE_TUNE;
  options.log = [](void* user, blz_log_level, const char* sentence) {
    static_cast<std::vector<std::string>*>(user)->push_back(sentence);
  };
  options.log_user = &said;
  Session session(options, &host);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0], session.Reason());
}

TEST_F(Off, NullAndUnsetArgumentsHurtNobody) {
  EXPECT_EQ(blz_step_begin(nullptr), 0u);
  blz_step_end(nullptr, 0);
  blz_close(nullptr);
  blz_status(nullptr, nullptr);
  EXPECT_STREQ(blz_reason(nullptr), "there is no session");
  EXPECT_EQ(blz_attach(nullptr, nullptr, nullptr), BLZ_INVALID);
  EXPECT_EQ(blz_probe_tensor(nullptr, nullptr), BLZ_INVALID);
  EXPECT_EQ(blz_describe_workload(nullptr, nullptr), BLZ_OFF);
  blz_options unset{};
  blz_session* session = nullptr;
  EXPECT_EQ(blz_attach(&unset, nullptr, &session), BLZ_INVALID);
  EXPECT_NE(std::string(blz_reason(session)).find("struct_size"), std::string::npos);
  blz_status_info info{};
  info.struct_size = sizeof(size_t) + sizeof(blz_state);
  info.steps = 99;
  blz_status(session, &info);
  EXPECT_EQ(info.steps, 99u) << "wrote beyond struct_size";
  blz_close(session);
}

}  // namespace
}  // namespace blazed::contract
