// Decides whether a candidate computes what the original kernel computes.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "base/thread_budget.h"
#include "eval/compile/compiled_plan.h"
#include "eval/compile/compiler.h"
#include "eval/evaluator.h"
#include "eval/verify/comparison.h"
#include "eval/verify/double_shadow.h"
#include "eval/verify/kernel_run.h"
#include "eval/verify/path_set.h"
#include "eval/verify/prepared_candidate.h"
#include "eval/verify/test_cases.h"
#include "kernel/evaluation.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

struct VerificationResult {
  Verdict verdict = Verdict::unsupported;
  std::string message;     // why not correct: sizes, inputs, first differing element or fault
  bool cancelled = false;  // the caller asked to stop; the verdict means nothing
  int runs = 0;            // of the candidate, all launches of its plan
  std::uint64_t thread_instructions = 0;  // over all runs
  double relative_error = 0.0;            // worst over all outputs of all runs that were compared
  // Of verify_bench and look_behind_branches: branches that no run took which was compared,
  // whatever was tried; the original has none like them.
  std::vector<std::string> untaken;
  // Of verify_bench: bench sizes at which a few blocks alone were compared.
  std::size_t sampled_sizes = 0;
  verify::PathSet paths;  // what ran in runs that were compared; interpreter only, for verify_bench
  [[nodiscard]] bool correct() const { return verdict == Verdict::correct; }
};

// Runs the candidate elsewhere than on the interpreter, as run_kernel does; races, other orders and
// budgets of `settings` need not be honoured. `problem` is the verifier's, or a variation of it
// (verify/test_cases.h). Errors as run_kernel.
using KernelRunner = std::function<Result<verify::KernelRun>(
    const Problem& problem, const Symbols& symbols, const verify::Buffers& inputs,
    const verify::RunSettings& settings)>;

struct VerifierConfiguration {
  // Terms summed into one output element, for tolerances. None: estimated from the original's
  // floating-point operations per written element.
  std::optional<double> reduction_length;
  int threads = 1;  // host threads a single launch may use
  // Makes the original in double precision, for example with verify::make_double_shadow; called
  // once, when a candidate's fp32 output first differs from the original's. Null, or an error:
  // tolerances decide alone.
  std::function<Result<verify::DoubleShadow>(const Cancellation&)> make_double_shadow;
  // Makes the original without contraction, for example with verify::make_uncontracted; called
  // once. Input distributions under which it differs from the original by more than the tolerance
  // are left out. Null, or an error: all are compared.
  std::function<Result<verify::LoadedPlan>(const Cancellation&)> make_uncontracted;
};

// Runs candidates on every test size of the problem with at least five input distributions on the
// PTX interpreter and compares with the original under the same conditions: poisoned outputs,
// read-only inputs, guarded buffers, an instruction budget, and the blocks also in reverse order.
// Rules and tolerances: docs/evaluation.md.
//
// Thread-safe. What the original computes is worked out once per seed, by whoever needs it first;
// the last few seeds are kept.
class Verifier {
 public:
  // `original` must be of the problem's launch plan.
  Verifier(Problem problem, const CompiledPlan& original, VerifierConfiguration configuration = {});
  // For plans that launch one kernel, here and below.
  Verifier(const Problem& problem, CompiledKernel original,
           VerifierConfiguration configuration = {});
  ~Verifier();
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

  // The threads that all calls share: cases are divided among those to spare. One, unless it is
  // told more. What calls return does not depend on it.
  [[nodiscard]] ThreadBudget& threads();

  // Checks that the original itself is sound at all test sizes: it loads, runs without a fault,
  // writes its outputs, does not depend on what they held before, and is well-conditioned for some
  // inputs of every size. Returns warnings (an output that never changes, block order that matters,
  // inputs that are left out). Error: what is wrong, with the access and the
  // line of the source, and what to correct.
  [[nodiscard]] Result<std::vector<std::string>> check_original(std::uint64_t seed,
                                                                const Cancellation& cancellation);

  // The first stages of a candidate: admission, which looks at its PTX, then loading, since what
  // the interpreter does not know may be forbidden too. Errors: refused (the objection), and as
  // verify::load_plan; verify::launch_verdict gives the verdict. Thread-safe.
  [[nodiscard]] Result<std::shared_ptr<const PreparedCandidate>> prepare(CompiledPlan compiled,
                                                                         LaunchPlan plan) const;

  // Verifies a candidate with inputs drawn from `seed`. Deterministic in its arguments. An original
  // that fails gives Verdict::unsupported and the error as message.
  [[nodiscard]] VerificationResult verify(const PreparedCandidate& candidate, std::uint64_t seed,
                                          const Cancellation& cancellation);

  // Whether a candidate that verify found correct (`tested` is what it said) also does at the bench
  // sizes what the original does: for candidates whose outputs at the bench sizes nobody compares
  // elsewhere. Rules and costs: docs/evaluation.md. Verdict::unverified: it takes a path there that
  // no comparison has seen. Deterministic in its arguments. Thread-safe; what is known of the
  // original is shared by all candidates.
  [[nodiscard]] VerificationResult verify_bench(const PreparedCandidate& candidate,
                                                const VerificationResult& tested,
                                                std::uint64_t seed, EvaluationBudget::Effort effort,
                                                const Cancellation& cancellation);

  // The last part of verify_bench alone, for candidates that are compared at the bench sizes
  // elsewhere: looks for sizes, scalars and inputs that take branches that no test took.
  [[nodiscard]] VerificationResult look_behind_branches(const PreparedCandidate& candidate,
                                                        const VerificationResult& tested,
                                                        std::uint64_t seed,
                                                        const Cancellation& cancellation);

  // Prepares and verifies `candidate` launched as `plan` says.
  [[nodiscard]] VerificationResult verify(const CompiledPlan& candidate, const LaunchPlan& plan,
                                          std::uint64_t seed, const Cancellation& cancellation);
  [[nodiscard]] VerificationResult verify(const CompiledKernel& candidate, const LaunchPlan& plan,
                                          std::uint64_t seed, const Cancellation& cancellation);

  // How the original computes at its largest test size; where it has no result at any of them (of a
  // captured problem, say) at the bench size. Errors as check_original.
  struct Scale {
    verify::Arithmetic arithmetic;
    Symbols symbols;
  };
  [[nodiscard]] Result<Scale> largest_test(std::uint64_t seed, const Cancellation& cancellation);

  // What no test varies, and why, after check_original: what the manifest holds fixed, and scalars
  // and integers for whose other values the original has no result.
  [[nodiscard]] std::vector<std::string> held_fixed(std::uint64_t seed,
                                                    const Cancellation& cancellation);

  // Sizes that nobody gave and that the original cannot take, after check_original: no case of them
  // is run.
  [[nodiscard]] std::vector<Symbols> sizes_left_out(std::uint64_t seed,
                                                    const Cancellation& cancellation);

  // The sizes of all cases that verify runs with this seed, each once.
  [[nodiscard]] std::vector<Symbols> case_sizes(std::uint64_t seed);

  // Why check_original fails, in terms of what may be given up where nobody asked for it: a test
  // size at which the original has no defined result, an input that it writes, else an output that
  // it never writes.
  struct Obstacle {
    std::optional<Symbols> test_size;
    std::optional<std::size_t> written_input;     // argument
    std::optional<std::size_t> unwritten_output;  // argument
  };
  [[nodiscard]] Obstacle obstacle(std::uint64_t seed, const Cancellation& cancellation);

  // The original as the interpreter has it; null when it cannot be loaded. Valid as long as the
  // verifier.
  [[nodiscard]] const verify::LoadedPlan* original() const;

  // What `runner` makes of every case, compared with what the original makes of it on the
  // interpreter, under the same rules; or of the cases that `runner` can do alone.
  [[nodiscard]] VerificationResult verify_on(const KernelRunner& runner, std::uint64_t seed,
                                             const Cancellation& cancellation,
                                             verify::CaseChoice choice = verify::CaseChoice::all);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraph
