// What the threads of a block have of each other's values after shuffles, shared memory and
// barriers: found by going through the statements with all threads at once.
//
//   for (d = 16; d > 0; d /= 2) s += __shfl_down_sync(all, s, d);
//   if (lane == 0) part[warp] = s;
//   __syncthreads();
//   s = threadIdx.x < 8 ? part[lane] : 0;
//   for (d = 4; d > 0; d /= 2) s += __shfl_xor_sync(all, s, d);
//                                  -> in threads 0 to 7, s is the sum of all threads' first s
//
// The block's extents are known, so conditions, indices and lanes are numbers, and a value is the
// set of the threads that it puts together. However the exchange is written, it is seen to be one.
// A statement is taken to be done by all threads before the next one is: the kernel is taken to be
// free of races, but what another warp has put into shared memory is known behind a barrier only.
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

inline constexpr std::size_t kMostLockstepThreads = 1024;
using ThreadSet = std::bitset<kMostLockstepThreads>;

// How values of threads are put together: by an operator or a function ("fmaxf"); by neither where
// it is one thread's value alone.
struct Combination {
  std::optional<AssignmentOperator> op;
  std::string function;
  bool operator==(const Combination&) const = default;
  [[nodiscard]] bool is_none() const { return !op && function.empty(); }
};

// What a thread holds: a number, what threads had in a variable when it all began, values that
// count twice or that nobody passed on (what lanes without a partner get), or nothing that is
// known.
struct LockstepValue {
  enum class Kind : std::uint8_t { unknown, number, threads, mixed };
  Kind kind = Kind::unknown;
  double number = 0.0;
  bool is_integer = false;  // the number
  std::string variable;     // that `threads` had
  Combination by;
  ThreadSet threads;
  // A number that was put to them by an extremum and may decide it: fmaxf(the values, 0.0f).
  std::optional<double> bound;
};

class Lockstep {
 public:
  // Of one axis, of at most kMostLockstepThreads. `analysis` must outlive it.
  Lockstep(const Analysis& analysis, std::uint32_t threads);

  // Goes through a statement; false, and nothing is done, where it holds anything else than
  // exchanges, numbers and what puts values together.
  [[nodiscard]] bool run(const StmtPtr& stmt);

  // What each thread has in a variable that was set; null for others.
  [[nodiscard]] const std::vector<LockstepValue>* variable(const std::string& name) const;
  // What is in an element of a shared array that was written, or in a shared variable, which counts
  // as an array of one; null for others.
  [[nodiscard]] const LockstepValue* element(const std::string& array, std::int64_t at) const;
  [[nodiscard]] const std::map<std::string, std::vector<LockstepValue>>& variables() const {
    return variables_;
  }
  [[nodiscard]] const std::map<std::string, std::map<std::int64_t, LockstepValue>>& arrays() const {
    return arrays_;
  }
  // The threads among `active` for which the condition holds; nothing where that is not a question
  // of the thread alone.
  [[nodiscard]] std::optional<ThreadSet> where(const ExprPtr& condition,
                                               const ThreadSet& active) const;
  [[nodiscard]] ThreadSet all() const;
  // How often values were passed on: by shuffles, and to and from shared memory.
  [[nodiscard]] int exchanges() const { return exchanges_; }

 private:
  [[nodiscard]] bool run(const Block& block, const ThreadSet& active);
  [[nodiscard]] bool run(const Stmt& stmt, const ThreadSet& active);
  [[nodiscard]] bool run_loop(const ForLoop& loop, const ThreadSet& active);
  [[nodiscard]] bool assign(const Expr& target, AssignmentOperator op, const ExprPtr& value,
                            const ThreadSet& active);
  [[nodiscard]] LockstepValue value(const ExprPtr& expr, std::size_t thread,
                                    const ThreadSet& active) const;
  [[nodiscard]] LockstepValue value_of_name(const std::string& name, std::size_t thread,
                                            const ThreadSet& active) const;
  [[nodiscard]] LockstepValue value_of_element(const Expr& element, std::size_t thread,
                                               const ThreadSet& active) const;
  [[nodiscard]] LockstepValue value_of_call(const Call& call, std::size_t thread,
                                            const ThreadSet& active) const;
  [[nodiscard]] LockstepValue value_of_choice(const Conditional& choice, std::size_t thread,
                                              const ThreadSet& active) const;
  // Puts a value into an element, and what is in one for the thread.
  void put(const std::string& array, std::int64_t at, std::size_t thread, LockstepValue value);
  [[nodiscard]] LockstepValue held(const std::string& array, std::int64_t at,
                                   std::size_t thread) const;
  [[nodiscard]] LockstepValue shuffled(const Call& call, std::size_t thread,
                                       const ThreadSet& active) const;

  const Analysis* analysis_;
  std::size_t threads_;
  std::map<std::string, std::vector<LockstepValue>> variables_;
  std::map<std::string, std::map<std::int64_t, LockstepValue>> arrays_;
  // Which warp wrote an element since the last barrier.
  std::map<std::string, std::map<std::int64_t, std::size_t>> written_by_;
  mutable int exchanges_ = 0;
  int steps_ = 0;  // taken in loops so far
};

}  // namespace regraph::rewrite
