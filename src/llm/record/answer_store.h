// Answers that were paid for once are never paid for again: a store on disk, shared by all runs.
#pragma once

#include "base/sqlite.h"
#include "base/sqlite_table.h"
#include "llm/chat/chat.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

namespace regraph::llm {

// A SQLite file: request key -> answer; failures are not kept. Several processes may use it at
// once. Thread-safe.
class AnswerStore {
 public:
  // Opens or creates the file. Errors as SqliteDatabase::open; parse when it is something else.
  [[nodiscard]] static Result<std::unique_ptr<AnswerStore>> open(const std::filesystem::path& path);

  // The answer to a request of that key (request_key), nothing when there is none or it is damaged.
  // It says attempts = 0 and seconds = 0: nothing was sent for it now.
  [[nodiscard]] std::optional<ChatAnswer> find(const std::string& key);
  [[nodiscard]] Status put(const std::string& key, const ChatAnswer& answer);

 private:
  explicit AnswerStore(SqliteDatabase database);

  std::mutex mutex_;
  SqliteDatabase database_;
  SqliteTable answers_;
};

}  // namespace regraph::llm
