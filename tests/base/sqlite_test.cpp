#include "base/directory_lock.h"
#include "base/files.h"
#include "base/sqlite_table.h"

#include <gtest/gtest.h>

#include <csignal>
#include <limits>
#include <sys/resource.h>

namespace regraph::sqlite_test {
namespace {

class Sqlite : public ::testing::Test {
 protected:
  Sqlite() : directory_(*TemporaryDirectory::create("regraph-sqlite-")) {}
  [[nodiscard]] std::filesystem::path path(const char* name = "test.db") const {
    return directory_.path() / name;
  }
  SqliteDatabase open(SqliteDatabase::Mode mode = SqliteDatabase::Mode::create) const {
    auto database = SqliteDatabase::open(path(), mode);
    EXPECT_TRUE(database) << database.error().message;
    return std::move(*database);
  }
  TemporaryDirectory directory_;
};

using Type = SqlColumn::Type;

SqliteTable sample() {
  return SqliteTable("sample",
                     {{"id", Type::integer}, {"number", Type::real}, {"words", Type::text}});
}

TEST_F(Sqlite, RowsComeBackAsTheyWere) {
  SqliteDatabase database = open();
  SqliteTable table = sample();
  ASSERT_TRUE(database.execute(table.definition()));
  ASSERT_TRUE(table.attach(database));
  const double infinity = std::numeric_limits<double>::infinity();
  const SqlRow rows[] = {
      {std::int64_t{1}, 0.1, std::string("plain")},
      {std::numeric_limits<std::int64_t>::min(), -1e-308, std::string()},
      {std::numeric_limits<std::int64_t>::max(), infinity, std::string("a\0b\xff", 4)},
      {std::int64_t{0}, 4503599627370497.0, std::string(100000, 'x')},
      {std::int64_t{7}, 0.0, std::string("'; DROP TABLE sample; --")},
  };
  for (const SqlRow& row : rows)
    ASSERT_TRUE(table.put(row));
  for (const SqlRow& row : rows) {
    const auto found = table.find(row[0]);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(*found);
    EXPECT_EQ(**found, row);
  }
  EXPECT_EQ(*table.count(), 5);
  EXPECT_FALSE(*table.find(std::int64_t{2}));
  ASSERT_TRUE(table.put(
      {std::int64_t{1}, std::numeric_limits<double>::quiet_NaN(), std::string("replaced")}));
  EXPECT_EQ(**table.find(std::int64_t{1}),
            (SqlRow{std::int64_t{1}, std::monostate{}, std::string("replaced")}));
  EXPECT_EQ(*table.count(), 5);
  ASSERT_TRUE(table.put({std::int64_t{8}, -0.0, std::string()}));
  EXPECT_TRUE(table.find(std::int64_t{8}));
}

TEST_F(Sqlite, ChangedValuesAreNoticed) {
  SqliteDatabase database = open();
  SqliteTable table = sample();
  ASSERT_TRUE(database.execute(table.definition()));
  ASSERT_TRUE(table.attach(database));
  for (const char* change : {"number = 0.2", "words = 'plane'", "checksum = checksum + 1",
                             "checksum = NULL", "words = NULL", "words = x'00'", "number = 'x'"}) {
    ASSERT_TRUE(table.put({std::int64_t{1}, 0.1, std::string("plain")}));
    ASSERT_TRUE(database.execute(std::string("UPDATE sample SET ") + change));
    const auto found = table.find(std::int64_t{1});
    ASSERT_FALSE(found) << change;
    EXPECT_EQ(found.error().code, ErrorCode::parse);
    EXPECT_NE(found.error().message.find("row 1 of table sample is damaged"), std::string::npos);
  }
}

TEST_F(Sqlite, ErrorsAreTold) {
  EXPECT_EQ(SqliteDatabase::open(path(), SqliteDatabase::Mode::existing).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(SqliteDatabase::open(path("no/such"), SqliteDatabase::Mode::create).error().code,
            ErrorCode::io);
  ASSERT_TRUE(write_file(path(), std::string(4096, 'x')));
  auto garbage = SqliteDatabase::open(path(), SqliteDatabase::Mode::existing);
  ASSERT_TRUE(garbage);
  const Status read = garbage->execute("SELECT * FROM sqlite_schema");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::parse);
  EXPECT_NE(read.error().message.find("test.db"), std::string::npos);
}

// A limit on file sizes stands for a full disk; what was committed before stays.
TEST_F(Sqlite, AFullDiskLosesNothingThatWasCommitted) {
  SqliteDatabase database = open();
  SqliteTable table = sample();
  ASSERT_TRUE(database.execute("PRAGMA journal_mode = WAL; " + table.definition()));
  ASSERT_TRUE(table.attach(database));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{200 << 10, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::int64_t written = 0;
  Status status;
  while (status && written < 1000) {
    status = table.put({written, 0.5, std::string(10000, 'x')});
    if (status) ++written;
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::io) << status.error().message;
  EXPECT_GT(written, 5);
  EXPECT_EQ(*table.count(), written);
  EXPECT_TRUE(table.put({written, 0.5, std::string("there is room again")}));
  // SQLite's own word for no space.
  ASSERT_TRUE(database.execute("PRAGMA max_page_count = 1"));
  status = table.put({written + 1, 0.5, std::string(100000, 'x')});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::resource) << status.error().message;
}

TEST_F(Sqlite, AReaderLeavesNothingBesideADatabaseThatNobodyHasOpen) {
  const auto rows = [](SqliteDatabase database) {
    auto statement = database.prepare("SELECT count(*) FROM t");
    EXPECT_TRUE(statement && statement->step());
    return statement->integer(0);
  };
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(directory_.path()), {});
  };
  {
    SqliteDatabase writer = open();
    ASSERT_TRUE(
        writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t "
                       "VALUES (1)"));
    // What is in the log alone is seen, too.
    EXPECT_EQ(rows(open(SqliteDatabase::Mode::read_only)), 1);
  }
  ASSERT_EQ(files(), 1);
  EXPECT_EQ(rows(open(SqliteDatabase::Mode::read_only)), 1);
  EXPECT_EQ(files(), 1);
}

TEST_F(Sqlite, TransactionsAreAllOrNothing) {
  SqliteDatabase database = open();
  SqliteTable table = sample();
  ASSERT_TRUE(database.execute(table.definition()));
  ASSERT_TRUE(table.attach(database));
  {
    auto transaction = SqliteTransaction::begin(database);
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(table.put({std::int64_t{1}, 0.1, std::string()}));
  }
  EXPECT_EQ(*table.count(), 0);
  auto transaction = SqliteTransaction::begin(database);
  ASSERT_TRUE(transaction);
  ASSERT_TRUE(table.put({std::int64_t{1}, 0.1, std::string()}));
  ASSERT_TRUE(transaction->commit());
  EXPECT_EQ(*table.count(), 1);
}

TEST(DirectoryLock, OnlyOneAtATime) {
  const auto directory = *TemporaryDirectory::create("regraph-lock-");
  {
    const auto lock = DirectoryLock::take(directory.path());
    ASSERT_TRUE(lock);
    const auto second = DirectoryLock::take(directory.path());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::resource);
  }
  EXPECT_TRUE(DirectoryLock::take(directory.path()));
  EXPECT_EQ(DirectoryLock::take(directory.path() / "none").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace regraph::sqlite_test
