#include "learn/evaluation_memory.h"

#include "base/files.h"
#include "base/hash.h"
#include "search/journal_rows.h"

#include <bit>

namespace regraph::learn {

namespace {

constexpr std::size_t kLargestProgram = std::size_t{1} << 30;

Result<SqliteDatabase> fresh(const std::filesystem::path& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::remove(file.string() + suffix, ignored);
  return SqliteDatabase::open(file, SqliteDatabase::Mode::create);
}

}  // namespace

EvaluationMemory::EvaluationMemory(Evaluator& inner, SqliteDatabase database, std::string scope)
    : inner_(inner),
      scope_(std::move(scope)),
      database_(std::move(database)),
      table_("remembered", journal::with_evaluation({{"key", SqlColumn::Type::text}})) {}

Result<std::unique_ptr<EvaluationMemory>> EvaluationMemory::open(Evaluator& inner,
                                                                 const std::filesystem::path& file,
                                                                 const std::string& scope) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  for (const bool anew : {false, true}) {
    auto database = anew ? fresh(file) : SqliteDatabase::open(file, SqliteDatabase::Mode::create);
    if (!database) {
      if (anew) return database.error();
      continue;
    }
    std::unique_ptr<EvaluationMemory> memory(
        new EvaluationMemory(inner, std::move(*database), scope));
    // What is lost in a crash is worked out again.
    std::string table = memory->table_.definition();
    table.insert(std::string("CREATE TABLE ").size(), "IF NOT EXISTS ");
    Status ready =
        memory->database_.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;" + table);
    if (ready) ready = memory->table_.attach(memory->database_);
    if (ready) return memory;
    if (anew) return ready.error();
  }
  return fail(ErrorCode::internal, "no memory of evaluations");
}

std::string EvaluationMemory::key_of(const Candidate& candidate,
                                     const EvaluationBudget& budget) const {
  Hasher hasher;
  hasher.add(scope_).add(candidate.source).add(candidate.plan.text());
  for (const std::string& assumption : candidate.assumptions)
    hasher.add(assumption);
  hasher.add(static_cast<std::uint64_t>(budget.effort)).add(budget.seed);
  hasher.add(static_cast<std::uint64_t>(budget.repetitions));
  hasher.add(std::bit_cast<std::uint64_t>(budget.measured_over_predicted));
  return hasher.finish().hex();
}

Evaluation EvaluationMemory::evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                      const Cancellation& cancellation) {
  const std::string key = key_of(candidate, budget);
  {
    const std::lock_guard lock(mutex_);
    const auto row = table_.find(key);
    auto known = row && *row ? journal::read_evaluation(**row, 1) : std::nullopt;
    if (known) {
      ++recalled_;
      return std::move(*known);
    }
  }
  Evaluation evaluation = inner_.evaluate(candidate, budget, cancellation);
  // How long it took depends on the moment, and so may what killed a checker.
  const bool chance =
      evaluation.verdict == Verdict::timeout || evaluation.verdict == Verdict::crash;
  if (chance || cancellation.requested()) return evaluation;
  SqlRow row = {key};
  journal::append(evaluation, row);
  const std::lock_guard lock(mutex_);
  ++evaluated_;
  // A full disk costs time later on and nothing else.
  static_cast<void>(table_.put(row));
  return evaluation;
}

std::string program_identity() {
  static const std::string kIdentity = [] {
    const auto bytes = read_file(std::filesystem::read_symlink("/proc/self/exe"), kLargestProgram);
    return bytes ? hash_text(*bytes).hex() : std::string("unknown");
  }();
  return kIdentity;
}

}  // namespace regraph::learn
