// A thin owner of SQLite connections and statements, with errors as values.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace regraph {

// One prepared statement. Bind, step, read columns, reset; in that order and again. Not
// thread-safe. Must not outlive its database.
class SqliteStatement {
 public:
  // Parameters count from 1, as in SQL. A failed bind is reported by the next step().
  SqliteStatement& bind(int parameter, std::int64_t value);
  SqliteStatement& bind(int parameter, int value) { return bind(parameter, std::int64_t{value}); }
  SqliteStatement& bind(int parameter, double value);
  SqliteStatement& bind(int parameter, std::string_view text);
  SqliteStatement& bind_null(int parameter);

  // Runs to the next row: true when there is one, whose columns can then be read; false at the end,
  // after which the statement is reset. Errors as SqliteDatabase::execute.
  [[nodiscard]] Result<bool> step();
  // Runs a statement that yields no rows, or whose rows do not matter.
  [[nodiscard]] Status run();
  // Forgets position and bound values.
  void reset();

  // Columns count from 0. A value of another type is converted by SQLite's rules; is_null tells
  // what was absent. Texts may hold any bytes.
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_integer(int column) const;
  [[nodiscard]] bool is_number(int column) const;  // integer or real
  [[nodiscard]] bool is_text(int column) const;

 private:
  friend class SqliteDatabase;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_code_ = 0;
};

// One connection. Not thread-safe: one thread at a time.
class SqliteDatabase {
 public:
  enum class Mode : unsigned char {
    create,     // make the file if it is not there
    existing,   // read and write a file that must be there
    read_only,  // of a file that must be there; leaves nothing beside it
  };

  // Opens a database. Its content is not trusted: its schema may not call functions with side
  // effects, and writing to internal tables is off. Errors as execute, or not_found.
  [[nodiscard]] static Result<SqliteDatabase> open(const std::filesystem::path& path, Mode mode);

  // Runs statements separated by semicolons. Errors, each with the file's name:
  //   parse     the file is damaged or no database
  //   resource  no space is left
  //   io        the operating system failed, or the file cannot be opened or written
  //   internal  anything else, which is a mistake in the SQL
  [[nodiscard]] Status execute(const std::string& sql);
  [[nodiscard]] Result<SqliteStatement> prepare(std::string_view sql);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  explicit SqliteDatabase(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] Error error() const;

  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> connection_;
};

// All or nothing: what was executed since begin() is undone unless commit() succeeds.
class SqliteTransaction {
 public:
  [[nodiscard]] static Result<SqliteTransaction> begin(SqliteDatabase& database);
  SqliteTransaction(SqliteTransaction&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)) {}
  SqliteTransaction& operator=(SqliteTransaction&&) = delete;
  ~SqliteTransaction();
  [[nodiscard]] Status commit();

 private:
  explicit SqliteTransaction(SqliteDatabase& database) : database_(&database) {}
  SqliteDatabase* database_;
};

}  // namespace regraph
