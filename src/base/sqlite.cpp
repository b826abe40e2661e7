#include "base/sqlite.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sqlite3.h>
#include <utility>

namespace regraph {

namespace {

// Another connection may hold a lock for a moment, e.g. somebody looking at the file.
constexpr int kBusyMilliseconds = 5000;

ErrorCode code_of(int extended) {
  switch (extended & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::parse;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return ErrorCode::resource;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return ErrorCode::io;
    default:
      return ErrorCode::internal;
  }
}

Error error_of(sqlite3* connection, const std::filesystem::path& path) {
  const int extended = sqlite3_extended_errcode(connection);
  const int system_error = sqlite3_system_errno(connection);
  const ErrorCode code = code_of(extended);
  std::string message = fmt::format("'{}': {}", path.string(), sqlite3_errmsg(connection));
  const bool has_cause = (extended & 0xFF) == SQLITE_IOERR || (extended & 0xFF) == SQLITE_CANTOPEN;
  if (has_cause && system_error != 0) {
    message += fmt::format(" ({})", std::strerror(system_error));
  }
  return fail(code, std::move(message));
}

// Nobody has the database open, and nobody who died left something to be recovered.
bool is_at_rest(const std::filesystem::path& path) {
  std::error_code ignored;
  return !std::filesystem::exists(path.string() + "-wal", ignored) &&
         !std::filesystem::exists(path.string() + "-journal", ignored);
}

// Read as it lies: SQLite would otherwise make files beside a database in WAL mode that a reader
// cannot take away again, and could not read one in a folder that is not writable.
std::string uri_of(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SqliteStatement& SqliteStatement::bind(int parameter, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), parameter, value);
  if (code != SQLITE_OK) bind_code_ = code;
  return *this;
}

SqliteStatement& SqliteStatement::bind(int parameter, double value) {
  const int code = sqlite3_bind_double(statement_.get(), parameter, value);
  if (code != SQLITE_OK) bind_code_ = code;
  return *this;
}

SqliteStatement& SqliteStatement::bind(int parameter, std::string_view text) {
  // A null pointer would bind NULL, and an empty view may hold one.
  const char* data = text.data() == nullptr ? "" : text.data();
  const int code = sqlite3_bind_text64(statement_.get(), parameter, data, text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) bind_code_ = code;
  return *this;
}

SqliteStatement& SqliteStatement::bind_null(int parameter) {
  const int code = sqlite3_bind_null(statement_.get(), parameter);
  if (code != SQLITE_OK) bind_code_ = code;
  return *this;
}

Result<bool> SqliteStatement::step() {
  if (bind_code_ != SQLITE_OK) {
    const std::string message = sqlite3_errstr(std::exchange(bind_code_, SQLITE_OK));
    reset();
    return fail(ErrorCode::internal, "a value cannot be bound: " + message);
  }
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  sqlite3* connection = sqlite3_db_handle(statement_.get());
  const char* file = sqlite3_db_filename(connection, "main");
  Error error = error_of(connection, file == nullptr ? "" : file);
  reset();
  return error;
}

Status SqliteStatement::run() {
  for (;;) {
    const Result<bool> row = step();
    if (!row) return row.error();
    if (!*row) return {};
  }
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double SqliteStatement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string SqliteStatement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(statement_.get(), column);
  if (bytes == nullptr) return {};
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

bool SqliteStatement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

bool SqliteStatement::is_integer(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

bool SqliteStatement::is_number(int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

bool SqliteStatement::is_text(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_TEXT;
}

void SqliteDatabase::Close::operator()(sqlite3* connection) const {
  sqlite3_close_v2(connection);
}

Result<SqliteDatabase> SqliteDatabase::open(const std::filesystem::path& path, Mode mode) {
  std::error_code ignored;
  if (mode != Mode::create && !std::filesystem::exists(path, ignored)) {
    return fail(ErrorCode::not_found, "there is no '" + path.string() + "'");
  }
  const int flags =
      SQLITE_OPEN_NOMUTEX | (mode == Mode::read_only ? SQLITE_OPEN_READONLY
                             : mode == Mode::create  ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                     : SQLITE_OPEN_READWRITE);
  SqliteDatabase database(path);
  sqlite3* connection = nullptr;
  const int code =
      mode == Mode::read_only && is_at_rest(path)
          ? sqlite3_open_v2(uri_of(path).c_str(), &connection, flags | SQLITE_OPEN_URI, nullptr)
          : sqlite3_open_v2(path.c_str(), &connection, flags, nullptr);
  database.connection_.reset(connection);
  if (code != SQLITE_OK) {
    if (connection == nullptr) return fail(ErrorCode::resource, "out of memory for SQLite");
    return database.error();
  }
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, kBusyMilliseconds);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (Status checked = database.execute("PRAGMA cell_size_check = ON"); !checked) {
    return checked.error();
  }
  return database;
}

Status SqliteDatabase::execute(const std::string& sql) {
  if (sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return error();
  }
  return {};
}

Result<SqliteStatement> SqliteDatabase::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) return error();
  return SqliteStatement(statement);
}

Error SqliteDatabase::error() const {
  return error_of(connection_.get(), path_);
}

Result<SqliteTransaction> SqliteTransaction::begin(SqliteDatabase& database) {
  if (Status begun = database.execute("BEGIN IMMEDIATE"); !begun) return begun.error();
  return SqliteTransaction(database);
}

SqliteTransaction::~SqliteTransaction() {
  // Fails when SQLite has rolled back by itself, which it does after some errors.
  if (database_ != nullptr) static_cast<void>(database_->execute("ROLLBACK"));
}

Status SqliteTransaction::commit() {
  Status committed = database_->execute("COMMIT");
  if (committed) database_ = nullptr;
  return committed;
}

}  // namespace regraph
