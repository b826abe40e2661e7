// One candidate at one bench size: runs it there, whole or some blocks of it, and compares what it
// writes with what the original writes.
#pragma once

#include "base/cancellation.h"
#include "base/thread_budget.h"
#include "eval/evaluator.h"
#include "eval/verify/bench_reference.h"
#include "eval/verify/bench_sample.h"
#include "eval/verify/path_set.h"
#include "kernel/evaluation.h"
#include "kernel/problem.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::verify {

// What a check may cost, in warp instructions (about 6 ns each).
struct BenchLimits {
  double whole = 0.0;            // of the candidate as a whole; beyond it blocks are compared
  std::uint64_t blocks = 0;      // of the candidate's sampled blocks, beyond the first few
  std::uint64_t references = 0;  // of the original's blocks that these ask for
  int drawn_blocks = 0;
};
[[nodiscard]] BenchLimits bench_limits(EvaluationBudget::Effort effort);

struct KnownElements;

class BenchCheck {
 public:
  // All references must outlive the check. `compared_with`: compared_values of the plan.
  // `tested_error`: the relative error at the test sizes. `threads` run a launch as a whole, those
  // that `budget` has to spare run blocks.
  BenchCheck(const Problem& problem, const LoadedPlan& candidate, BenchReference& reference,
             const std::vector<std::int64_t>& compared_with, BenchLimits limits,
             double tested_error, int threads, ThreadBudget& budget,
             const Cancellation& cancellation);

  // Correct: nothing speaks against it, as far as anything was compared.
  [[nodiscard]] Verdict run();
  // Warp instructions that the whole plan would take, from the blocks that ran.
  [[nodiscard]] double estimated_instructions() const { return sample_.estimated_instructions(); }
  // Compares all that blocks write that took one of the paths, while the limits allow.
  [[nodiscard]] Verdict insist(const PathSet& paths);

  [[nodiscard]] const std::string& message() const { return message_; }
  // Whether all that it writes was compared.
  [[nodiscard]] bool saw_all() const { return saw_all_; }
  // What ran at this size, and what of that was compared with the original.
  [[nodiscard]] const PathSet& ran() const { return ran_; }
  [[nodiscard]] const PathSet& compared() const { return compared_; }
  [[nodiscard]] double relative_error() const { return relative_error_; }
  [[nodiscard]] std::uint64_t thread_instructions() const { return thread_instructions_; }

 private:
  using OriginalBlocks = std::set<std::uint64_t>;
  using Element = std::pair<std::uint32_t, std::uint64_t>;  // argument and number

  Verdict reject(Verdict verdict, const std::string& what);
  [[nodiscard]] std::size_t pointer_offset() const;
  [[nodiscard]] double tolerance_of(const Argument& argument, const Arithmetic& arithmetic) const;
  Verdict run_whole(const BenchReference::Whole& whole);
  Verdict run_blocks();
  Verdict sample_blocks();
  Verdict find_missing();
  [[nodiscard]] bool is_written(std::uint32_t argument, std::uint64_t element) const;
  [[nodiscard]] std::vector<std::uint64_t> likely_writers(const std::vector<Element>& elements,
                                                          const BlockMap& map) const;
  [[nodiscard]] bool leaves_out_blocks() const;
  std::optional<Verdict> escalate();
  Verdict missing(std::uint32_t argument, std::uint64_t element, bool certainly);
  void ask_for(const std::vector<ElementRange>& written, std::size_t elements,
               OriginalBlocks& blocks);
  bool ask_for_all(const BlockRecord& record, OriginalBlocks& blocks, std::uint64_t& spent);
  Verdict compare_blocks(const OriginalBlocks& blocks);
  Verdict compare_elements(const std::vector<KnownElements>& known);
  void mark_compared(const std::vector<KnownElements>& known);

  const Problem& problem_;
  const LoadedPlan& candidate_;
  BenchReference& reference_;
  const std::vector<std::int64_t>& compared_with_;
  BenchLimits limits_;
  double tested_error_;
  int threads_;
  const Cancellation& cancellation_;
  BenchSample sample_;
  std::set<std::uint64_t> done_;  // blocks all of whose writes were compared
  bool by_blocks_ = false;
  bool escalated_ = false;
  bool saw_all_ = false;
  std::string message_;
  PathSet ran_;
  PathSet compared_;
  double relative_error_ = 0.0;
  std::uint64_t thread_instructions_ = 0;
};

}  // namespace regraph::verify
