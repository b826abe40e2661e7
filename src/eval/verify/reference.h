// What the original kernel computes for one seed: the yardstick for candidates.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "base/thread_budget.h"
#include "eval/verify/comparison.h"
#include "eval/verify/double_shadow.h"
#include "eval/verify/float_work.h"
#include "eval/verify/inputs.h"
#include "eval/verify/kernel_run.h"
#include "eval/verify/loaded_plan.h"
#include "eval/verify/other_roundings.h"
#include "eval/verify/test_cases.h"
#include "kernel/problem.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace regraph::verify {

// One test: a size and a distribution of inputs, with the original's outputs.
struct Case {
  TestCase plan;
  const Problem* problem = nullptr;  // as given, or varied
  std::size_t index = 0;             // place in the list of all cases
  Buffers expected;                  // outputs, per argument
  // The same where blocks and warps run in reverse; of those that may be raced on, else empty.
  Buffers other_order;
  std::vector<std::vector<std::uint8_t>> untouched;  // per argument and element, see OutputView
  std::vector<bool> exact;                           // per argument: compare bit for bit
  Arithmetic arithmetic;
  std::uint64_t warp_instructions = 0;
  bool order_matters = false;  // of blocks or warps, to the original itself
  // Candidates are checked for data races, and for reads of shared memory that nobody wrote. False
  // where that would take too long or the original itself is not clean.
  bool checks_races = false;
  bool checks_uninitialised_reads = false;
  std::string race;                // of the original, in words; empty: none was found
  std::string uninitialised_read;  // likewise
  // Per argument: how far the original's result is off when products are rounded before they are
  // added, or inputs move by a bit, where that is more than a candidate may be: it is not
  // compared then. Empty: as it should be.
  std::vector<std::string> ill_conditioned;
  // Why there is no result of the original: nobody asked for one with these inputs. Candidates are
  // not run. Empty: there is.
  std::string left_out;
  bool by_element = false;  // judged by their own magnitude: the original adds nothing
  bool zero_signs = false;  // those of zeros count: it does not choose between values either
  double slack = 0.0;       // an error this small counts for nothing: rounding of denormal numbers
  // Per argument: results in half precision or bfloat16 that are rounded once (other_roundings.h),
  // of inputs that are drawn evenly enough for that to tell.
  std::vector<bool> rounds_once;
  bool only_converts = false;  // and the original computes nothing before that: bit for bit
  bool in_double = false;      // the original computes in double precision, candidates need not

  // The first of the above; null: none.
  [[nodiscard]] const std::string* first_ill_conditioned() const;
  // Whether an output is left that is compared.
  [[nodiscard]] bool compares_some() const;
  [[nodiscard]] const Symbols& symbols() const { return plan.symbols; }
  [[nodiscard]] Distribution distribution() const { return plan.distribution; }
  // "{K: 45, M: 70, N: 50}, N(0,1)".
  [[nodiscard]] std::string text() const;
};

// How a kernel computes, seen from what it executed to write so many elements.
[[nodiscard]] Arithmetic arithmetic_of(const ptx::Profile& profile, std::uint64_t written_elements);

// "{K: 45, M: 70}".
[[nodiscard]] std::string symbols_text(const Symbols& symbols);

// What is known about the original besides its program.
struct ReferenceSettings {
  std::optional<double> reduction_length;  // none: estimated
  bool divides_floats = false;             // quotients round even where inputs are integers
  int threads = 1;                         // of the host
  // The original in double precision, made when first asked for; null where there is none.
  std::function<std::shared_ptr<const DoubleShadow>(const Cancellation&)> double_shadow;
  // The original with its sums cut off (other_roundings.h), likewise.
  std::function<std::shared_ptr<const LoadedPlan>(const Cancellation&)> toward_zero;
  // The original without contraction, likewise.
  std::function<std::shared_ptr<const LoadedPlan>(const Cancellation&)> uncontracted;
  // The original's, in warp instructions, where it must have a result; beyond it it counts as
  // endless. Minutes of interpreting.
  std::uint64_t instruction_budget = std::uint64_t{1} << 34;
};

class Reference {
 public:
  // Problem and plan must outlive the reference.
  Reference(const Problem& problem, const LoadedPlan& original, ReferenceSettings settings,
            std::uint64_t seed);

  // The same with other cases than planned_cases.
  Reference(const Problem& problem, const LoadedPlan& original, ReferenceSettings settings,
            std::uint64_t seed, std::vector<TestCase> cases);

  // Cases in the order in which candidates should meet them: small sizes first.
  [[nodiscard]] std::size_t case_count() const { return slots_.size(); }

  // Of the case. Those that are beyond what the manifest says come last.
  [[nodiscard]] const TestCase& planned(std::size_t index) const {
    return slots_[index]->content.plan;
  }
  [[nodiscard]] Distribution distribution(std::size_t index) const {
    return slots_[index]->content.distribution();
  }
  [[nodiscard]] const Symbols& symbols(std::size_t index) const {
    return slots_[index]->content.symbols();
  }

  // Returns the case, running the original if nobody has yet. Errors: what is wrong with the
  // original; cancelled. Thread-safe.
  [[nodiscard]] Result<const Case*> at(std::size_t index, const Cancellation& cancellation);

  // Works out what at() would for every case, on the threads that `budget` has to spare; ends early
  // once one fails. Thread-safe.
  void work_out_all(ThreadBudget& budget, const Cancellation& cancellation);

  // The inputs of a case. Kept while small, else generated anew.
  [[nodiscard]] std::shared_ptr<const Buffers> inputs(const Case& one);

  // What an fp32 output of the case is in double precision, worked out when first asked for. Null:
  // nothing is known, or cancelled. Valid as long as the reference. Thread-safe.
  [[nodiscard]] const ExactOutput* exact_output(const Case& one, std::size_t argument,
                                                const Cancellation& cancellation);

  // What an output of the case is compared with, and how closely.
  struct Yardstick {
    const std::vector<std::byte>* expected = nullptr;
    double tau = 0.0;
    // Either will do; null: there is one alone.
    const std::vector<std::byte>* or_expected = nullptr;
    double or_tau = 0.0;
  };
  // Where rounding decides, what the original is in double precision, or the original, where that
  // is far from it; else the original. `after` is
  // the output that is judged. Thread-safe.
  [[nodiscard]] Yardstick yardstick(const Case& one, std::size_t argument,
                                    const std::vector<std::byte>& after,
                                    const Cancellation& cancellation);

  // In what an output that agrees shows that sums or intermediate results were less precise than
  // the original's. Empty: in nothing. Thread-safe.
  [[nodiscard]] std::string imprecision(const Case& one, std::size_t argument,
                                        const std::vector<std::byte>& after,
                                        const Cancellation& cancellation);

  // Base of the poison patterns for the run number `run` of a case.
  [[nodiscard]] std::uint64_t poison_seed(const Case& one, std::uint64_t run) const;

 private:
  struct Slot {
    std::mutex mutex;
    std::size_t first = 0;  // case of this size
    bool ready = false;
    bool faulted = false;  // the original did, or took too long for a size that nobody asked for
    Status status;
    Case content;
    std::shared_ptr<const Buffers> inputs;
    std::mutex exact_mutex;
    bool exact_ready = false;
    std::vector<ExactOutput> exact;  // per argument
    std::mutex toward_zero_mutex;
    std::optional<Buffers> toward_zero;  // what the original leaves so; empty: nothing is known
  };

  [[nodiscard]] Status first_has_a_result(const Slot& slot, const Cancellation& cancellation);
  [[nodiscard]] Status work_out(Case& one, const Cancellation& cancellation);
  [[nodiscard]] Status look_at_computation(const KernelRun& run, const FloatWork& work,
                                           std::uint64_t written, Case& one) const;
  void look_at_rounding(const KernelRun& run, const FloatWork& work, Case& one) const;
  [[nodiscard]] OtherRoundings other_roundings_of(const Case& one, std::size_t argument,
                                                  const std::vector<std::byte>& after) const;
  [[nodiscard]] const Buffers* toward_zero(const Case& one, const Cancellation& cancellation);
  std::uint64_t find_untouched(const KernelRun& first, const KernelRun& second, Case& one) const;
  [[nodiscard]] Status agree(const KernelRun& first, const KernelRun& second,
                             const KernelRun* reversed, Case& one) const;
  [[nodiscard]] Status look_for_races(Case& one, const Buffers& inputs,
                                      const Cancellation& cancellation) const;
  [[nodiscard]] Status look_at_conditioning(Case& one, const Cancellation& cancellation);
  [[nodiscard]] Buffers moved_inputs(const Case& one);
  // Says in `ill_conditioned` how the plan's result on these inputs is off, where it is. Where they
  // are `moved` a result of integers may be another, unless floating-point ones are off, too: then
  // rounding decides both.
  [[nodiscard]] Status compare_conditioning(Case& one, const LoadedPlan& plan,
                                            const Buffers& inputs, bool moved,
                                            const Cancellation& cancellation);
  // The same of one output; empty: as it should be.
  [[nodiscard]] std::string conditioning_of(const Case& one, const KernelRun& run,
                                            std::size_t output, const Cancellation& cancellation);
  [[nodiscard]] Buffers generate(const Case& one) const;

  const Problem& problem_;
  const LoadedPlan& original_;
  ReferenceSettings settings_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::mutex budget_mutex_;
  std::size_t kept_bytes_ = 0;  // guarded by budget_mutex_
};

}  // namespace regraph::verify
