// Opening: owner, version, epoch, migration, backup, quarantine.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/files.h"
#include "storage/sqlite/identity_file.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/contract/storage/samples.h"
#include "tests/contract/storage/temporary_folder.h"

namespace blazed::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class OpenTest : public ::testing::Test {
 protected:
  OpenTest() { options_.folder = folder_.path() + "/store"; }

  std::unique_ptr<SqliteStore> Open() {
    absl::StatusOr<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(options_, &report_);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  std::unique_ptr<Connection> Raw() {
    auto connection = Connection::Open(StoreNames{options_.folder}.database(), Access::kReadWrite);
    EXPECT_TRUE(connection.ok()) << connection.status();
    return *std::move(connection);
  }

  StoreNames names() const { return {options_.folder}; }

  TemporaryFolder folder_;
  SqliteOptions options_;
  OpenReport report_;
};

TEST_F(OpenTest, MakesAPrivateFolderAndNothingElseOutsideIt) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  struct stat facts {};
  ASSERT_EQ(stat(options_.folder.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
  EXPECT_EQ(report_.state, OpenReport::State::kOk);
  EXPECT_THAT(report_.detail, IsEmpty());
  EXPECT_EQ(report_.migrated_from, 0);
}

TEST_F(OpenTest, SaysWhatItsFilesTakeAndWhereThereIsNone) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  const auto reader = store->NewReader();
  const auto files = [this] {
    return std::filesystem::file_size(names().database()) +
           std::filesystem::file_size(names().log());
  };
  EXPECT_GT(files(), 0u);
  EXPECT_EQ(*reader->SizeBytes(), files());
  std::filesystem::remove(names().database());
  EXPECT_FALSE(reader->SizeBytes().ok());
}

TEST_F(OpenTest, LetsNobodyElseReadItsFilesInAFolderThatOthersMayList) {
  const mode_t before = umask(0022);
  ASSERT_EQ(mkdir(options_.folder.c_str(), 0755), 0);
  const auto modes = [this] {
    std::vector<uint32_t> found;
    for (const std::string& path :
         {names().database(), names().log(), names().log_index(), names().lock()}) {
      struct stat facts {};
      EXPECT_EQ(stat(path.c_str(), &facts), 0) << path;
      found.push_back(facts.st_mode & 0777);
    }
    return found;
  };
  const std::vector<uint32_t> closed(4, 0600);
  {
    auto store = Open();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(modes(), closed);
  }
  // As an earlier version left it.
  ASSERT_EQ(chmod(names().database().c_str(), 0644), 0);
  auto store = Open();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(modes(), closed);
  umask(before);
}

TEST_F(OpenTest, RefusesAFolderThatOthersMayWrite) {
  ASSERT_EQ(mkdir(options_.folder.c_str(), 0700), 0);
  for (const mode_t mode : {0777, 0770, 01777}) {
    ASSERT_EQ(chmod(options_.folder.c_str(), mode), 0);
    const auto store = SqliteStore::Open(options_, nullptr);
    EXPECT_EQ(store.status().code(), absl::StatusCode::kFailedPrecondition) << mode;
    EXPECT_THAT(std::string(store.status().message()), HasSubstr("chmod it to 0700"));
    EXPECT_TRUE(std::filesystem::is_empty(options_.folder));
  }
}

// Who is told of a full disk frees space.
TEST_F(OpenTest, CallsNothingButAFullDiskExhausted) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int free_number = dup(STDIN_FILENO);
  ASSERT_GE(free_number, 0);
  close(free_number);
  rlimit none_left = before;
  none_left.rlim_cur = static_cast<rlim_t>(free_number);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none_left), 0);
  const absl::Status written = WriteIdentity(folder_.path() + "/identity", Identity{});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(written.code(), absl::StatusCode::kUnavailable) << written;
  EXPECT_THAT(std::string(written.message()), HasSubstr("Too many open files: try again"));
  EXPECT_THAT(std::string(written.message()), Not(HasSubstr("--state")));
}

TEST_F(OpenTest, RefusesAFolderOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(mkdir(options_.folder.c_str(), 0700), 0);
  ASSERT_EQ(chown(options_.folder.c_str(), 12345, 12345), 0);
  auto store = SqliteStore::Open(options_, nullptr);
  EXPECT_EQ(store.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(store.status().message()), HasSubstr("belongs to user 12345"));
  EXPECT_TRUE(std::filesystem::is_empty(options_.folder));
  // Nor through a link of that user's, which may lead elsewhere tomorrow.
  const std::string own = folder_.path() + "/own";
  ASSERT_EQ(mkdir(own.c_str(), 0700), 0);
  options_.folder = folder_.path() + "/link";
  ASSERT_EQ(symlink(own.c_str(), options_.folder.c_str()), 0);
  EXPECT_TRUE(SqliteStore::Open(options_, nullptr).ok()) << "a link of its own is good";
  ASSERT_EQ(lchown(options_.folder.c_str(), 12345, 12345), 0);
  EXPECT_FALSE(SqliteStore::Open(options_, nullptr).ok());
}

TEST_F(OpenTest, SaysTheNextMoveWhereItsPlaceIsTaken) {
  const auto error = [this](const std::string& folder) {
    options_.folder = folder;
    auto store = SqliteStore::Open(options_, nullptr);
    EXPECT_FALSE(store.ok()) << folder;
    return std::string(store.status().message());
  };
  EXPECT_THAT(error("/dev/null"), HasSubstr("name another one with --state"));
  EXPECT_THAT(error("/dev/null/store"), HasSubstr("name another one with --state"));
  const auto taken = [this](const std::string& name) {
    const std::string folder = folder_.path() + "/taken-" + name;
    std::filesystem::create_directories(folder + "/" + name);
    chmod(folder.c_str(), 0700);
    return folder;
  };
  for (const char* name : {kLockFile, kIdentityFile, kDatabaseFile}) {
    EXPECT_THAT(error(taken(name)), HasSubstr("name another folder with --state")) << name;
  }
}

TEST_F(OpenTest, GrowsItsEpochWithEveryOpen) {
  for (uint64_t epoch = 1; epoch <= 4; ++epoch) {
    auto store = Open();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->epoch(), epoch);
  }
}

TEST_F(OpenTest, RemembersAcrossRestarts) {
  uint64_t settlement = 0;
  TuningId tuning = 0;
  {
    auto store = Open();
    tuning = *samples::PutTuningWithParents(*store, samples::Key());
    settlement = *store->PutSettlement(tuning, samples::Settlement());
  }
  auto store = Open();
  EXPECT_EQ(*store->PutTuning(samples::Key()), tuning);
  EXPECT_EQ(store->LoadMemory(tuning)->settlement->id, settlement);
}

TEST_F(OpenTest, GivesOutNoSessionIdThatItsIdentityFileDoesNotHoldBack) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  // In the way of the next write of the file.
  const std::string blocker = names().identity() + ".part";
  ASSERT_TRUE(std::filesystem::create_directory(blocker));
  planner::SessionId last = 0;
  absl::StatusOr<planner::SessionId> id = 0;
  for (int i = 0; i < 5000 && id.ok(); ++i) {
    id = store->NewSessionId();
    if (id.ok()) last = *id;
  }
  EXPECT_EQ(id.status().code(), absl::StatusCode::kUnavailable) << id.status();
  EXPECT_FALSE(store->NewSessionId().ok()) << "not at the second try either";
  EXPECT_LE(last, ReadIdentity(names().identity()).sessions_reserved);
  std::filesystem::remove(blocker);
  EXPECT_EQ(store->NewSessionId().value_or(0), last + 1);
}

TEST_F(OpenTest, RefusesASecondDaemonAndNamesTheFirst) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  auto second = SqliteStore::Open(options_, nullptr);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(absl::StrCat("pid ", getpid())));
  store = nullptr;
  EXPECT_TRUE(SqliteStore::Open(options_, nullptr).ok()) << "the lock ends with its holder";
}

TEST_F(OpenTest, RefusesANewerSchemaAndLeavesItUntouched) {
  Open();
  const auto last = static_cast<int64_t>(Migrations().size());
  {
    auto raw = Raw();
    ASSERT_TRUE(raw->Execute(absl::StrCat("UPDATE meta SET value=", last + 1,
                                          " WHERE key='schema'; PRAGMA user_version=", last + 1))
                    .ok());
  }
  auto store = SqliteStore::Open(options_, &report_);
  EXPECT_EQ(store.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(store.status().message()), HasSubstr("run the newer blazed"));
  EXPECT_EQ(*Raw()->QueryInt("PRAGMA user_version"), last + 1);
  EXPECT_FALSE(FileExists(names().quarantine()));
}

TEST_F(OpenTest, TakesAHeaderAloneForNoVersion) {
  Open();
  ASSERT_TRUE(Raw()->Execute("PRAGMA user_version=77").ok());
  ASSERT_NE(Open(), nullptr);
  EXPECT_EQ(report_.state, OpenReport::State::kFresh);
  EXPECT_TRUE(FileExists(report_.quarantine + "/" + kDatabaseFile));
}

TEST_F(OpenTest, MigratesFromEveryEarlierVersionAndKeepsACopy) {
  const std::vector<std::string>& steps = Migrations();
  for (size_t from = 1; from < steps.size(); ++from) {
    options_.folder = absl::StrCat(folder_.path(), "/from", from);
    ASSERT_TRUE(MakeFolder(options_.folder).ok());
    const std::vector<std::string> first(steps.begin(), steps.begin() + static_cast<long>(from));
    ASSERT_TRUE(Migrate(*Raw(), first, [] { return absl::OkStatus(); }).ok());
    ASSERT_NE(Open(), nullptr);
    EXPECT_EQ(report_.migrated_from, static_cast<int64_t>(from));
    EXPECT_THAT(ListBackups(names()), SizeIs(1));
  }
}

// A store as an earlier version left it: what later steps added is taken away again.
struct EarlierStore {
  int version;
  std::vector<const char*> dropped;  // ALTER TABLE ... DROP COLUMN
  uint64_t late_pairs;
};

class EarlierSchema : public OpenTest, public testing::WithParamInterface<EarlierStore> {};

TEST_P(EarlierSchema, RowsFromBeforeAStepKeepTheirChecksums) {
  uint64_t settled = 0;
  planner::SettlementRecord record = samples::Settlement();
  record.cost.noise_pairs = 0;
  record.cost.late_pairs = GetParam().late_pairs;
  record.carry = false;
  planner::RaceRecord race = samples::Race();
  race.warm_steps = race.timed_steps = 0;
  {
    auto store = Open();
    ASSERT_TRUE(store->Begin().ok());
    const TuningId tuning = *samples::PutTuningWithParents(*store, samples::Key());
    settled = *store->PutSettlement(tuning, record);
    ASSERT_TRUE(store->PutRace(tuning, race).ok());
    ASSERT_TRUE(store->Commit(Durability::kSynced).ok());
  }
  for (const char* column : GetParam().dropped) {
    const absl::Status dropped = Raw()->Execute(absl::StrCat("ALTER TABLE ", column));
    ASSERT_TRUE(dropped.ok()) << dropped;
  }
  ASSERT_TRUE(Raw()->Execute("DROP TABLE plan_kernels").ok());
  const int version = GetParam().version;
  ASSERT_TRUE(Raw()
                  ->Execute(absl::StrCat("UPDATE meta SET value=", version,
                                         " WHERE key='schema'; PRAGMA user_version=", version))
                  .ok());
  auto store = Open();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(report_.state, OpenReport::State::kOk) << report_.detail;
  EXPECT_EQ(report_.migrated_from, version);
  const auto rows = store->NewReader()->Settlements({});
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_THAT(*rows, SizeIs(1));
  record.id = settled;
  EXPECT_EQ(rows->front().record, record);
  const auto races = store->NewReader()->Races({});
  ASSERT_TRUE(races.ok()) << races.status();
  ASSERT_THAT(*races, SizeIs(1));
  EXPECT_EQ(races->front().record.warm_steps, 0u);
  EXPECT_EQ(races->front().record.timed_steps, 1u) << "before there were others";
}

INSTANTIATE_TEST_SUITE_P(
    Open, EarlierSchema,
    testing::Values(
        EarlierStore{1,
                     {"settlement DROP COLUMN carry", "settlement DROP COLUMN late_pairs",
                      "settlement DROP COLUMN noise_pairs", "outcome DROP COLUMN late_pairs",
                      "outcome DROP COLUMN noise_pairs", "race DROP COLUMN timed_steps",
                      "race DROP COLUMN warm_steps", "outcome DROP COLUMN budget_allowed_ns",
                      "outcome DROP COLUMN budget_spent_ns"},
                     0},
        EarlierStore{2,
                     {"settlement DROP COLUMN carry", "race DROP COLUMN timed_steps",
                      "race DROP COLUMN warm_steps", "outcome DROP COLUMN budget_allowed_ns",
                      "outcome DROP COLUMN budget_spent_ns"},
                     7},
        EarlierStore{
            3,
            {"race DROP COLUMN timed_steps", "race DROP COLUMN warm_steps",
             "outcome DROP COLUMN budget_allowed_ns", "outcome DROP COLUMN budget_spent_ns"},
            7},
        EarlierStore{
            4,
            {"outcome DROP COLUMN budget_allowed_ns", "outcome DROP COLUMN budget_spent_ns"},
            7}));

struct FileSystemCase {
  const char* name;
  int64_t magic;
  const char* refused_as;  // null: taken
};

class FileSystem : public ::testing::TestWithParam<FileSystemCase> {};

TEST_P(FileSystem, IsTakenOnlyWhereNoOtherMachineWrites) {
  const FileSystemCase& type = GetParam();
  // statfs fills a signed word on some machines.
  for (const int64_t magic : {type.magic, int64_t{static_cast<int32_t>(type.magic)}}) {
    const absl::Status status = CheckFileSystemType(magic, "/state");
    if (type.refused_as == nullptr) {
      EXPECT_TRUE(status.ok()) << status;
      continue;
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message(), absl::StrCat("the store's folder /state is on ", type.refused_as,
                                             ": name a local folder with --state"));
  }
}

// linux/magic.h
INSTANTIATE_TEST_SUITE_P(
    Types, FileSystem,
    ::testing::Values(
        FileSystemCase{"Nfs", 0x6969, "a network file system (NFS)"},
        FileSystemCase{"Smb", 0x517B, "a network file system (SMB)"},
        FileSystemCase{"Cifs", 0xFF534D42, "a network file system (CIFS)"},
        FileSystemCase{"Smb2", 0xFE534D42, "a network file system (SMB2)"},
        FileSystemCase{"NineP", 0x01021997, "a network file system (9P)"},
        FileSystemCase{"Lustre", 0x0BD00BD0, "a network file system (Lustre)"},
        FileSystemCase{"Ceph", 0x00C36400, "a network file system (Ceph)"},
        FileSystemCase{"Fuse", 0x65735546, "a FUSE file system, which other machines may share"},
        FileSystemCase{"Ext4", 0xEF53, nullptr}, FileSystemCase{"Xfs", 0x58465342, nullptr},
        FileSystemCase{"Btrfs", 0x9123683E, nullptr}, FileSystemCase{"Zfs", 0x2FC12FC1, nullptr},
        FileSystemCase{"Tmpfs", 0x01021994, nullptr},
        FileSystemCase{"Overlay", 0x794C7630, nullptr}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(OpenTest, RestoresTheNewestGoodBackupAfterDamage) {
  TuningId tuning = 0;
  uint64_t settlement = 0;
  planner::SessionId last_session = 0;
  {
    auto store = Open();
    tuning = *samples::PutTuningWithParents(*store, samples::Key());
    settlement = *store->PutSettlement(tuning, samples::Settlement());
    ASSERT_TRUE(store->Backup().ok());
    ASSERT_TRUE(store->PutPlan(tuning, samples::Plan()).ok());
    const std::string newest = *store->Backup();
    std::ofstream(newest, std::ios::app) << "not what the checksum says";
    last_session = *store->NewSessionId();
  }
  std::ofstream(names().database(), std::ios::trunc) << "no database at all";
  auto store = Open();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(report_.state, OpenReport::State::kRestored);
  EXPECT_THAT(report_.detail, HasSubstr(report_.quarantine));
  EXPECT_TRUE(FileExists(report_.quarantine + "/" + kDatabaseFile));
  EXPECT_EQ(store->LoadMemory(tuning)->settlement->id, settlement);
  EXPECT_THAT(store->LoadMemory(tuning)->plans, IsEmpty()) << "the damaged newer copy is not used";
  EXPECT_EQ(store->epoch(), 2u) << "the epoch outlives the database";
  EXPECT_GT(*store->NewSessionId(), last_session) << "and so do session ids";
}

TEST_F(OpenTest, BeginsEmptyWhereNothingCanBeRestored) {
  Open();
  std::ofstream(names().database(), std::ios::trunc) << std::string(8192, 'x');
  auto store = Open();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(report_.state, OpenReport::State::kFresh);
  EXPECT_EQ(store->epoch(), 2u);
  EXPECT_TRUE(samples::PutTuningWithParents(*store, samples::Key()).ok());
}

TEST_F(OpenTest, TakesAnEmptiedDatabaseForALoss) {
  {
    auto store = Open();
    ASSERT_TRUE(samples::PutTuningWithParents(*store, samples::Key()).ok());
    ASSERT_TRUE(store->Backup().ok());
  }
  std::filesystem::remove(names().database());
  ASSERT_NE(Open(), nullptr);
  EXPECT_EQ(report_.state, OpenReport::State::kRestored);
}

TEST_F(OpenTest, TakesTheSoundDatabaseOfAnotherStoreForNone) {
  Open();
  const std::string mine = options_.folder;
  options_.folder = folder_.path() + "/other";
  Open();
  std::filesystem::copy_file(names().database(), StoreNames{mine}.database(),
                             std::filesystem::copy_options::overwrite_existing);
  options_.folder = mine;
  ASSERT_NE(Open(), nullptr);
  EXPECT_EQ(report_.state, OpenReport::State::kFresh);
  EXPECT_THAT(report_.detail, HasSubstr("another store"));
}

TEST_F(OpenTest, OpensAStoreThatWasMovedWithItsFolder) {
  TuningId tuning = 0;
  {
    auto store = Open();
    tuning = *samples::PutTuningWithParents(*store, samples::Key());
  }
  const std::string moved = folder_.path() + "/moved";
  std::filesystem::rename(options_.folder, moved);
  options_.folder = moved;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(report_.state, OpenReport::State::kOk);
  EXPECT_TRUE(store->LoadMemory(tuning).ok());
}

TEST_F(OpenTest, KeepsThreeQuarantines) {
  for (int i = 0; i < 5; ++i) {
    Open();
    std::ofstream(names().database(), std::ios::trunc) << std::string(8192, 'x');
  }
  Open();
  size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(names().quarantine())) {
    folders += entry.is_directory() ? 1 : 0;
  }
  EXPECT_EQ(folders, 3u);
}

TEST_F(OpenTest, RotatesBackupsAndVerifiesThem) {
  options_.backups_kept = 2;
  auto store = Open();
  std::string last;
  for (int i = 0; i < 4; ++i) last = *store->Backup();
  const std::vector<std::string> backups = ListBackups(names());
  ASSERT_THAT(backups, SizeIs(2));
  EXPECT_EQ(store->NewestBackup(), BackupTime(last));
  EXPECT_LT(BackupTime(backups.back()), BackupTime(last));
  EXPECT_GT(BackupTime(last), absl::Now() - absl::Hours(1));
  EXPECT_EQ(backups.front(), last);
  for (const std::string& backup : backups) EXPECT_TRUE(VerifyBackup(backup).ok());
  std::filesystem::remove(last + kChecksumSuffix);
  EXPECT_EQ(VerifyBackup(last).code(), absl::StatusCode::kDataLoss);
}

TEST_F(OpenTest, LeavesOutRowsWhoseChecksumIsWrongAndCountsThem) {
  TuningId tuning = 0;
  {
    auto store = Open();
    tuning = *samples::PutTuningWithParents(*store, samples::Key());
    ASSERT_TRUE(store->PutSettlement(tuning, samples::Settlement()).ok());
    ASSERT_TRUE(store->PutPlan(tuning, samples::Plan()).ok());
    ASSERT_TRUE(store->PutPlan(tuning, samples::Plan(2)).ok());
    ASSERT_TRUE(store->PutRace(tuning, samples::Race()).ok());
  }
  ASSERT_TRUE(Raw()
                  ->Execute("UPDATE settlement SET gain_low=0.01; UPDATE plan SET verdict=11 WHERE "
                            "id=1; UPDATE race_pair SET pairs=x'00';")
                  .ok());
  auto store = Open();
  auto memory = store->LoadMemory(tuning);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->settlement, std::nullopt);
  EXPECT_THAT(memory->plans, SizeIs(1));
  EXPECT_EQ(memory->damaged_rows, 3u) << "the settlement is looked for twice";
  auto reader = store->NewReader();
  EXPECT_THAT(*reader->Settlements({}), IsEmpty());
  EXPECT_THAT(*reader->Plans({}), SizeIs(1));
  EXPECT_FALSE(reader->LoadPairs(1).ok());
  EXPECT_EQ(store->damaged_rows(), 6u);
  EXPECT_EQ(reader->DamagedRows(), 6u);
  ASSERT_TRUE(store->PutSettlement(tuning, samples::Settlement()).ok())
      << "a damaged settlement makes room for the next";
  EXPECT_TRUE(store->LoadMemory(tuning)->settlement.has_value());
}

TEST_F(OpenTest, QuarantinesAStoreWhoseTuningKeysAreDamaged) {
  {
    auto store = Open();
    ASSERT_TRUE(samples::PutTuningWithParents(*store, samples::Key()).ok());
  }
  ASSERT_TRUE(Raw()->Execute("UPDATE tuning SET uid=0").ok());
  ASSERT_NE(Open(), nullptr);
  EXPECT_EQ(report_.state, OpenReport::State::kFresh);
}

TEST_F(OpenTest, StopsWritingWhenTheLimitIsReachedAndReadsOn) {
  options_.max_bytes = 400 * 1024;
  auto store = Open();
  const TuningId tuning = *samples::PutTuningWithParents(*store, samples::Key());
  const uint64_t settlement = *store->PutSettlement(tuning, samples::Settlement());
  auto reader = store->NewReader();
  absl::Status status;
  EventRow event = samples::Event(tuning, "big");
  event.payload = std::string(20'000, 'x');
  for (int i = 0; status.ok() && i < 100; ++i) status = store->PutEvent(event).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("full: free some space or raise limits.store_mib"));
  EXPECT_EQ(reader->Settlements({})->front().record.id, settlement);
  reader = nullptr;
  store = nullptr;
  options_.max_bytes = 0;
  store = Open();
  EXPECT_EQ(report_.state, OpenReport::State::kOk);
  EXPECT_EQ(store->LoadMemory(tuning)->settlement->id, settlement);
  EXPECT_TRUE(store->PutEvent(event).ok()) << "with space it goes on";
}

TEST_F(OpenTest, PrunesTheLogFurtherBeforeTheLimitIsReached) {
  options_.max_bytes = 1 << 20;
  options_.events_kept_crowded = 5;
  options_.prune_batch = 10;
  auto store = Open();
  EventRow event = samples::Event(0, "big");
  event.payload = std::string(20'000, 'x');
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(store->PutEvent(event).ok());
  EXPECT_EQ(*store->Prune(), 0u) << "half full, and far below the cap of rows";
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(store->PutEvent(event).ok()) << i;
    ASSERT_TRUE(store->Prune().ok());
  }
  EXPECT_GE(store->NewReader()->Events({})->size(), 5u);
}

TEST_F(OpenTest, EndsAQueryAtItsTimeBudget) {
  options_.read_budget = -absl::Seconds(1);
  auto store = Open();
  const TuningId tuning = *samples::PutTuningWithParents(*store, samples::Key());
  ASSERT_TRUE(store->Begin().ok());
  for (planner::RaceId id = 1; id <= 300; ++id) {
    ASSERT_TRUE(store->PutRace(tuning, samples::Race(id, 1)).ok());
  }
  ASSERT_TRUE(store->Commit(Durability::kBatched).ok());
  Page page;
  page.limit = 1000;
  EXPECT_EQ(store->NewReader()->Races(page).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(IdentityFile, CountsForNothingWhenDamaged) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/identity";
  ASSERT_TRUE(WriteIdentity(path, {5, 7, 1000}).ok());
  EXPECT_EQ(ReadIdentity(path).epoch, 7u);
  std::string content = *ReadWholeFile(path);
  content[content.find("epoch") + 6] = '9';
  std::ofstream(path, std::ios::trunc) << content;
  EXPECT_EQ(ReadIdentity(path).epoch, 0u);
  EXPECT_EQ(ReadIdentity(folder.path() + "/missing").epoch, 0u);
}

}  // namespace
}  // namespace blazed::storage
