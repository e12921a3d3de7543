// A daemon that is started on a damaged store: it says so, keeps what was damaged, and serves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "blazed/v1/history.grpc.pb.h"
#include "storage/names.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fakes/scripted_shim.h"

namespace blazed::fakes {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

class DaemonDamagedStore : public testing::Test {
 protected:
  static SyntheticHost Host() {
    SyntheticHost host;
    host.saving = {0.05, -0.04};
    return host;
  }

  // A store with one settlement, left in order.
  void Settle() {
    PrivateDaemon daemon(folder_.path());
    ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
    ScriptedShim shim(daemon.socket(), Host(), 1);
    ASSERT_TRUE(shim.RunJob()) << daemon.Log();
    settlement_ = shim.result().settled->settlement_id();
    shim.Bye();
    ASSERT_TRUE(shim.Finish().ok());
    ASSERT_EQ(daemon.Stop(), 0) << daemon.Log();
    fs::remove_all(names_.backups());
  }

  void TakeBackup() {
    storage::SqliteOptions options;
    options.folder = names_.folder;
    auto store = storage::SqliteStore::Open(options, nullptr);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->Backup().ok());
    ASSERT_TRUE((*store)->Checkpoint().ok());
  }

  // Zeros over everything but the first page.
  void Damage() {
    damaged_ = ReadFile(names_.database());
    ASSERT_GT(damaged_.size(), 8192u);
    damaged_.replace(4096, damaged_.size() - 4096, damaged_.size() - 4096, '\0');
    std::ofstream(names_.database(), std::ios::binary | std::ios::trunc) << damaged_;
  }

  v1::GetStatusReply StatusOf(const PrivateDaemon& daemon) {
    grpc::ClientContext context;
    Prepare(&context);
    v1::GetStatusReply reply;
    const grpc::Status status = v1::History::NewStub(DialDaemon(daemon.socket()))
                                    ->GetStatus(&context, v1::GetStatusRequest(), &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }

  // The damaged bytes are kept, with the reason, and log and status name the place.
  void ExpectKeptAndSaid(const PrivateDaemon& daemon) {
    ASSERT_TRUE(fs::exists(names_.quarantine()));
    const fs::directory_iterator kept(names_.quarantine());
    const std::string place = kept->path();
    EXPECT_EQ(ReadFile(place + "/" + storage::kDatabaseFile), damaged_);
    EXPECT_NE(ReadFile(place + "/reason"), "");
    EXPECT_TRUE(daemon.WaitLogged({"the store was damaged", place})) << daemon.Log();
    const v1::GetStatusReply status = StatusOf(daemon);
    EXPECT_EQ(status.store_state(), "ok") << "it serves";
    EXPECT_THAT(status.store_opening().detail(), HasSubstr("the damaged files are in " + place));
  }

  TemporaryFolder folder_;
  const storage::StoreNames names_{folder_.path() + "/state"};
  uint64_t settlement_ = 0;
  std::string damaged_;
};

TEST_F(DaemonDamagedStore, WithoutABackupItBeginsEmptyAndSaysSo) {
  ASSERT_NO_FATAL_FAILURE(Settle());
  ASSERT_NO_FATAL_FAILURE(Damage());
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  ASSERT_NO_FATAL_FAILURE(ExpectKeptAndSaid(daemon));
  EXPECT_THAT(StatusOf(daemon).store_opening().detail(), HasSubstr("the store begins empty"));
  ScriptedShim shim(daemon.socket(), Host(), 2);
  ASSERT_TRUE(shim.RunJob()) << shim.Finish().error_message() << daemon.Log();
  EXPECT_GT(shim.result().pairs, 0u) << "nothing is remembered, so it was searched again";
}

TEST_F(DaemonDamagedStore, TheNewestBackupTakesItsPlaceAndIsServed) {
  ASSERT_NO_FATAL_FAILURE(Settle());
  ASSERT_NO_FATAL_FAILURE(TakeBackup());
  ASSERT_NO_FATAL_FAILURE(Damage());
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  ASSERT_NO_FATAL_FAILURE(ExpectKeptAndSaid(daemon));
  EXPECT_THAT(StatusOf(daemon).store_opening().detail(),
              HasSubstr("the backup " + names_.backups()));
  ScriptedShim shim(daemon.socket(), Host(), 2);
  ASSERT_TRUE(shim.RunJob()) << shim.Finish().error_message() << daemon.Log();
  EXPECT_EQ(shim.result().settled->settlement_id(), settlement_);
  EXPECT_EQ(shim.result().pairs, 0u);
}

TEST_F(DaemonDamagedStore, TheStartAfterThatHasNothingToSay) {
  ASSERT_NO_FATAL_FAILURE(Settle());
  ASSERT_NO_FATAL_FAILURE(Damage());
  {
    PrivateDaemon daemon(folder_.path());
    ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
    ASSERT_EQ(daemon.Stop(), 0) << daemon.Log();
  }
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  EXPECT_THAT(StatusOf(daemon).store_opening().detail(), IsEmpty());
}

}  // namespace
}  // namespace blazed::fakes
