#include "llm/record/answer_store.h"

#include "llm/record/chat_text.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regraph::llm {

namespace {

// The version is part of the table's name: another form of answers would be another table.
constexpr const char* kTable = "answer_1";
// How long a writer waits for another process.
constexpr const char* kPragmas =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;";

}  // namespace

AnswerStore::AnswerStore(SqliteDatabase database)
    : database_(std::move(database)),
      answers_(kTable, {{"key", SqlColumn::Type::text}, {"answer", SqlColumn::Type::text}}) {}

Result<std::unique_ptr<AnswerStore>> AnswerStore::open(const std::filesystem::path& path) {
  std::error_code ignored;  // opening the file reports what is wrong
  std::filesystem::create_directories(path.parent_path(), ignored);
  auto database = SqliteDatabase::open(path, SqliteDatabase::Mode::create);
  if (!database) return database.error();
  std::unique_ptr<AnswerStore> store(new AnswerStore(std::move(*database)));
  if (Status ready = store->database_.execute(kPragmas); !ready) return ready.error();
  std::string definition = store->answers_.definition();
  constexpr std::string_view kCreate = "CREATE TABLE ";
  if (definition.starts_with(kCreate)) definition.insert(kCreate.size(), "IF NOT EXISTS ");
  if (Status made = store->database_.execute(definition); !made) return made.error();
  if (Status attached = store->answers_.attach(store->database_); !attached)
    return attached.error();
  return store;
}

std::optional<ChatAnswer> AnswerStore::find(const std::string& key) {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    auto row = answers_.find(key);
    if (!row || !*row || (*row)->size() < 2) return std::nullopt;
    const auto* value = std::get_if<std::string>(&(**row)[1]);
    if (value == nullptr) return std::nullopt;
    text = *value;
  }
  auto answer = read_answer(parse_compact(text));
  if (!answer) return std::nullopt;
  answer->attempts = 0;
  answer->seconds = 0.0;
  return answer;
}

Status AnswerStore::put(const std::string& key, const ChatAnswer& answer) {
  std::string text = compact_text(answer_json(answer));
  const std::lock_guard lock(mutex_);
  return answers_.put({key, std::move(text)});
}

}  // namespace regraph::llm
