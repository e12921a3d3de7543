// Checksums of rows while the schema grows: each step of these tables stands for one release.
#include "storage/sqlite/tables.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace blazed::storage {
namespace {

constexpr Table kFirst{"t", "id", "a"};
constexpr Table kSecond{"t", "id", "a,b,c", {2}};
constexpr Table kThird{"t", "id", "a,b,c,d", {2, 1}};

class Growth : public ::testing::Test {
 protected:
  Growth() { Run("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, checksum INTEGER) STRICT"); }

  void Run(const std::string& sql) {
    const absl::Status done = db_->Execute(sql);
    ASSERT_TRUE(done.ok()) << done;
  }
  void TakeSecondStep() {
    Run("ALTER TABLE t ADD COLUMN b INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE t ADD COLUMN c INTEGER NOT NULL DEFAULT 0");
  }
  void TakeThirdStep() { Run("ALTER TABLE t ADD COLUMN d INTEGER NOT NULL DEFAULT 0"); }

  void Write(const Table& table, Row later) {
    RowWriter out;
    Row row = out.Text("text").Take();
    row.insert(row.end(), later.begin(), later.end());
    const absl::Status written = WriteRow(*db_, table, ++rows_, row);
    ASSERT_TRUE(written.ok()) << written;
  }
  size_t Sound(const Table& table) {
    const auto rows = ReadRows(*db_, table, "", {}, damaged_);
    return rows.ok() ? rows->size() : 0;
  }

  std::unique_ptr<Connection> db_ = *Connection::Open(":memory:", Access::kReadWrite);
  std::atomic<uint64_t> damaged_ = 0;
  int64_t rows_ = 0;
};

TEST_F(Growth, RowsOfEveryReleaseStaySoundInEveryLaterOne) {
  Write(kFirst, {});
  EXPECT_EQ(Sound(kFirst), 1u);
  TakeSecondStep();
  for (const auto& [b, c] : {std::pair<int64_t, int64_t>{5, 1}, {5, 0}, {0, 5}, {0, 0}}) {
    Write(kSecond, {b, c});
  }
  EXPECT_EQ(Sound(kSecond), 5u);
  TakeThirdStep();
  for (const int64_t d : {0, 1}) {
    Write(kThird, {int64_t{0}, int64_t{0}, d});
    Write(kThird, {int64_t{7}, int64_t{0}, d});
  }
  EXPECT_EQ(Sound(kThird), 9u);
  EXPECT_EQ(damaged_, 0u);
}

TEST_F(Growth, ABentValueOfALaterColumnIsSeen) {
  TakeSecondStep();
  TakeThirdStep();
  Write(kThird, {int64_t{5}, int64_t{1}, int64_t{0}});
  Write(kThird, {int64_t{0}, int64_t{0}, int64_t{0}});
  for (const char* change : {"b=4", "c=0", "d=1", "a='test'"}) {
    Run(std::string("SAVEPOINT bent; UPDATE t SET ") + change);
    EXPECT_EQ(Sound(kThird), change[0] == 'c' ? 1u : 0u) << change;
    Run("ROLLBACK TO bent; RELEASE bent");
  }
  EXPECT_EQ(Sound(kThird), 2u);
}

}  // namespace
}  // namespace blazed::storage
