// Predicted evaluations kept in a file, so that many searches of one kernel pay once for each
// candidate. Only for evaluators that always say the same of the same.
#pragma once

#include "base/result.h"
#include "base/sqlite_table.h"
#include "eval/evaluator.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

namespace regraph::learn {

// Thread-safe. A file is used by one process at a time.
class EvaluationMemory final : public Evaluator {
 public:
  // `inner` must outlive it. `scope` names all that a result depends on besides candidate and
  // budget: problem, device, program. A file that cannot be used is begun anew. Errors: resource,
  // io.
  [[nodiscard]] static Result<std::unique_ptr<EvaluationMemory>> open(
      Evaluator& inner, const std::filesystem::path& file, const std::string& scope);

  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation) override;
  [[nodiscard]] double longest_seconds(const EvaluationBudget& budget, int calls) const override {
    return inner_.longest_seconds(budget, calls);
  }
  void limit_threads(int threads) override { inner_.limit_threads(threads); }
  // Nothing is worth doing ahead where most is known.
  [[nodiscard]] Ahead may_work_ahead() const override { return Ahead::nothing; }

  [[nodiscard]] int recalled() const { return recalled_; }
  [[nodiscard]] int evaluated() const { return evaluated_; }

 private:
  EvaluationMemory(Evaluator& inner, SqliteDatabase database, std::string scope);
  [[nodiscard]] std::string key_of(const Candidate& candidate,
                                   const EvaluationBudget& budget) const;

  Evaluator& inner_;
  const std::string scope_;
  std::mutex mutex_;
  SqliteDatabase database_;
  SqliteTable table_;
  int recalled_ = 0;
  int evaluated_ = 0;
};

// Hash of the running program's own file: what another build found is not recalled.
[[nodiscard]] std::string program_identity();

}  // namespace regraph::learn
