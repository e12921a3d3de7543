// Steps of a schema, one after another.
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/migrations.h"

namespace blazed::storage {
namespace {

using ::testing::HasSubstr;

TEST(Migrate, TakesEachStepOnceAndCopiesBeforeTheFirstOfAStoreWithData) {
  auto db = *Connection::Open(":memory:", Access::kReadWrite);
  const std::string one =
      "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER) STRICT; CREATE TABLE t(a INTEGER);";
  const std::string two = "INSERT INTO t VALUES(2);", three = "INSERT INTO t VALUES(3);";
  int copies = 0;
  const auto copy = [&copies] {
    ++copies;
    return absl::OkStatus();
  };
  ASSERT_TRUE(Migrate(*db, {one}, copy).ok());
  EXPECT_EQ(copies, 0);
  ASSERT_TRUE(Migrate(*db, {one, two, three}, copy).ok());
  ASSERT_TRUE(Migrate(*db, {one, two, three}, copy).ok());
  EXPECT_EQ(copies, 1);
  EXPECT_EQ(*db->QueryInt("SELECT sum(a) FROM t"), 5);
  EXPECT_EQ(*SchemaVersion(*db), 3);
}

TEST(Migrate, LeavesTheVersionWhereAStepFailed) {
  auto db = *Connection::Open(":memory:", Access::kReadWrite);
  const std::string one =
      "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER) STRICT; CREATE TABLE t(a INTEGER);";
  const std::string broken = "INSERT INTO t VALUES(2); INSERT INTO missing VALUES(1);";
  const absl::Status status = Migrate(*db, {one, broken}, [] { return absl::OkStatus(); });
  EXPECT_THAT(std::string(status.message()), HasSubstr("version 2"));
  EXPECT_EQ(*SchemaVersion(*db), 1);
  EXPECT_EQ(*db->QueryInt("SELECT count(*) FROM t"), 0);
}

TEST(Migrate, StopsWhereTheCopyCannotBeMade) {
  auto db = *Connection::Open(":memory:", Access::kReadWrite);
  const std::string one = "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER) STRICT;";
  ASSERT_TRUE(Migrate(*db, {one}, [] { return absl::OkStatus(); }).ok());
  EXPECT_FALSE(Migrate(*db, {one, "CREATE TABLE u(a INTEGER);"}, [] {
                 return absl::ResourceExhaustedError("no room");
               }).ok());
  EXPECT_EQ(*SchemaVersion(*db), 1);
}

}  // namespace
}  // namespace blazed::storage
