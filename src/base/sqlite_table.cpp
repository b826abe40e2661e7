#include "base/sqlite_table.h"

#include "base/hash.h"

#include <bit>
#include <cmath>

namespace regraph {

namespace {

const char* type_name(SqlColumn::Type type) {
  switch (type) {
    case SqlColumn::Type::integer:
      return "INTEGER";
    case SqlColumn::Type::real:
      return "REAL";
    case SqlColumn::Type::text:
      return "TEXT";
  }
  return "";
}

std::int64_t checksum(const SqlRow& row) {
  Hasher hasher;
  for (const SqlValue& value : row) {
    hasher.add(value.index());
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      hasher.add(static_cast<std::uint64_t>(*integer));
    } else if (const auto* real = std::get_if<double>(&value)) {
      // SQLite may store a whole number as an integer, which loses the sign of -0.
      hasher.add(std::bit_cast<std::uint64_t>(*real == 0.0 ? 0.0 : *real));
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      hasher.add(*text);
    }
  }
  return static_cast<std::int64_t>(hasher.finish().low);
}

void bind(SqliteStatement& statement, int parameter, const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    statement.bind(parameter, *integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    statement.bind(parameter, *real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    statement.bind(parameter, *text);
  } else {
    statement.bind_null(parameter);
  }
}

// Whether the column holds a value of that type, or none.
bool read(const SqliteStatement& row, int column, SqlColumn::Type type, SqlRow& values) {
  if (row.is_null(column)) {
    values.emplace_back();
    return true;
  }
  switch (type) {
    case SqlColumn::Type::integer:
      if (!row.is_integer(column)) return false;
      values.emplace_back(row.integer(column));
      return true;
    case SqlColumn::Type::real:
      if (!row.is_number(column)) return false;
      values.emplace_back(row.real(column));
      return true;
    case SqlColumn::Type::text:
      if (!row.is_text(column)) return false;
      values.emplace_back(row.text(column));
      return true;
  }
  return false;
}

std::string text_of(const SqlValue& key) {
  if (const auto* integer = std::get_if<std::int64_t>(&key)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&key)) return *text;
  return "?";
}

}  // namespace

std::string SqliteTable::definition() const {
  std::string sql = "CREATE TABLE " + name_ + "(";
  bool first = true;
  for (const SqlColumn& column : columns_) {
    sql += std::string(first ? "" : ", ") + column.name + " " + type_name(column.type) +
           (first ? " PRIMARY KEY" : "");
    first = false;
  }
  return sql + ", checksum INTEGER)";
}

Status SqliteTable::attach(SqliteDatabase& database) {
  file_ = database.path().string();
  std::string names;
  std::string marks;
  for (const SqlColumn& column : columns_) {
    names += std::string(column.name) + ", ";
    marks += "?, ";
  }
  const std::string key = columns_.front().name;
  const auto prepare = [&](std::optional<SqliteStatement>& statement, const std::string& sql) {
    Result<SqliteStatement> prepared = database.prepare(sql);
    if (!prepared) return Status(prepared.error());
    statement.emplace(std::move(*prepared));
    return Status();
  };
  if (Status status = prepare(insert_, "INSERT OR REPLACE INTO " + name_ + "(" + names +
                                           "checksum) VALUES(" + marks + "?)");
      !status) {
    return status;
  }
  if (Status status =
          prepare(select_, "SELECT " + names + "checksum FROM " + name_ + " WHERE " + key + " = ?");
      !status) {
    return status;
  }
  return prepare(count_, "SELECT count(*) FROM " + name_);
}

Status SqliteTable::put(const SqlRow& row) {
  if (row.size() != columns_.size()) {
    return fail(ErrorCode::internal, "a row of table " + name_ + " has a wrong number of values");
  }
  SqlRow stored = row;
  for (SqlValue& value : stored) {
    // SQLite stores what is not a number as NULL.
    const double* real = std::get_if<double>(&value);
    if (real != nullptr && std::isnan(*real)) value = std::monostate{};
  }
  int parameter = 0;
  for (const SqlValue& value : stored)
    bind(*insert_, ++parameter, value);
  insert_->bind(++parameter, checksum(stored));
  return insert_->run();
}

Error SqliteTable::damaged(const SqlValue& key) const {
  return fail(ErrorCode::parse,
              "'" + file_ + "': row " + text_of(key) + " of table " + name_ + " is damaged");
}

Result<std::optional<SqlRow>> SqliteTable::find(const SqlValue& key) {
  select_->reset();
  bind(*select_, 1, key);
  const Result<bool> found = select_->step();
  if (!found) return found.error();
  if (!*found) return std::optional<SqlRow>();
  SqlRow row;
  int column = 0;
  for (const SqlColumn& described : columns_) {
    if (!read(*select_, column++, described.type, row)) break;
  }
  const bool whole = row.size() == columns_.size() && select_->is_integer(column) &&
                     select_->integer(column) == checksum(row);
  select_->reset();
  if (!whole) return damaged(key);
  return std::optional<SqlRow>(std::move(row));
}

Result<std::int64_t> SqliteTable::count() {
  count_->reset();
  const Result<bool> row = count_->step();
  if (!row) return row.error();
  const std::int64_t result = *row ? count_->integer(0) : 0;
  count_->reset();
  return result;
}

Result<std::optional<std::string>> find_changed_row(SqliteDatabase& database,
                                                    const std::string& table) {
  auto about = database.prepare("SELECT name, type FROM pragma_table_info('" + table + "')");
  if (!about) return about.error();
  std::vector<SqlColumn::Type> types;
  std::string key;
  std::string last;
  for (;;) {
    const Result<bool> more = about->step();
    if (!more) return more.error();
    if (!*more) break;
    last = about->text(0);
    if (types.empty()) key = last;
    const std::string type = about->text(1);
    types.push_back(type == "INTEGER" ? SqlColumn::Type::integer
                    : type == "REAL"  ? SqlColumn::Type::real
                                      : SqlColumn::Type::text);
  }
  if (types.size() < 2 || last != "checksum") return std::optional<std::string>();
  auto rows = database.prepare("SELECT * FROM " + table + " ORDER BY " + key);
  if (!rows) return rows.error();
  for (;;) {
    const Result<bool> more = rows->step();
    if (!more) return more.error();
    if (!*more) return std::optional<std::string>();
    SqlRow values;
    bool fits = true;
    for (std::size_t i = 0; i < types.size() && fits; ++i)
      fits = read(*rows, static_cast<int>(i), types[i], values);
    if (fits) {
      const SqlValue said = values.back();
      values.pop_back();
      fits = said == SqlValue(checksum(values));
    }
    if (!fits) return std::optional<std::string>(values.empty() ? "?" : text_of(values.front()));
  }
}

}  // namespace regraph
