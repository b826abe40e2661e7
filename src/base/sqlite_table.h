// Rows of a table as vectors of values, each row with a checksum: SQLite notices damage to its own
// structures, not to the values in them.
#pragma once

#include "base/sqlite.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace regraph {

// Absent values are for what has no number, e.g. a time that is not a number.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;
using SqlRow = std::vector<SqlValue>;

struct SqlColumn {
  enum class Type : unsigned char { integer, real, text };
  const char* name;
  Type type;
};

// One table whose first column is the key. Not thread-safe. Must not outlive its database.
class SqliteTable {
 public:
  // `columns` are the table's, without the checksum that is appended to them.
  SqliteTable(std::string name, std::vector<SqlColumn> columns)
      : name_(std::move(name)), columns_(std::move(columns)) {}

  // The statement that creates the table; also what an existing one must have been created by.
  [[nodiscard]] std::string definition() const;
  [[nodiscard]] const std::string& name() const { return name_; }

  // Prepares the statements; call once, when the table exists.
  [[nodiscard]] Status attach(SqliteDatabase& database);
  // Writes a row; a row of the same key is replaced.
  [[nodiscard]] Status put(const SqlRow& row);
  // Returns the row of that key. Errors: parse when a value is of a wrong type or the checksum does
  // not fit, else as SqliteDatabase::execute.
  [[nodiscard]] Result<std::optional<SqlRow>> find(const SqlValue& key);
  [[nodiscard]] Result<std::int64_t> count();

 private:
  [[nodiscard]] Error damaged(const SqlValue& key) const;

  std::string name_;
  std::vector<SqlColumn> columns_;
  std::string file_;
  std::optional<SqliteStatement> insert_;
  std::optional<SqliteStatement> select_;
  std::optional<SqliteStatement> count_;
};

// The key of the first row of a table that SqliteTable made which is not as it was written: a value
// or the checksum was changed. Nothing where all are, where there is no such table, or where it has
// no checksums. Errors as SqliteDatabase::execute.
[[nodiscard]] Result<std::optional<std::string>> find_changed_row(SqliteDatabase& database,
                                                                  const std::string& table);

}  // namespace regraph
