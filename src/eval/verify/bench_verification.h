// The stage after the tests: whether a candidate that is right at every test size is right at the
// sizes at which it is timed. Rules: docs/evaluation.md.
//
//     paths at the bench size - paths of the tests  --> sizes are added that take them
//     blocks at the bench size, or all of them      --> compared with the original's
//     what is left of the paths                     --> Verdict::unverified
#pragma once

#include "base/cancellation.h"
#include "base/thread_budget.h"
#include "eval/evaluator.h"
#include "eval/verify/bench_reference.h"
#include "eval/verify/branch_search.h"
#include "eval/verify/reference.h"
#include "eval/verify/verifier.h"
#include "kernel/problem.h"

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace regraph::verify {

class BenchCheck;

// Thread-safe; what is known of the original is shared by all candidates.
class BenchVerification {
 public:
  // References must outlive this. `settings` as for the tests' references.
  BenchVerification(const Problem& problem, const LoadedPlan& original, ReferenceSettings settings,
                    ThreadBudget& threads);

  // Whether candidates can be compared with the original at every bench size, for problems without
  // another size. Errors: invalid_argument, cancelled.
  [[nodiscard]] Status check_original(std::uint64_t seed, const Cancellation& cancellation);

  // How the original computes at the first bench size. Errors: as check_original.
  [[nodiscard]] Result<Arithmetic> arithmetic(std::uint64_t seed, const Cancellation& cancellation);

  // `tested`: what verification at the test sizes said of `candidate`. Deterministic in its
  // arguments.
  [[nodiscard]] VerificationResult verify(const LoadedPlan& candidate,
                                          const VerificationResult& tested, std::uint64_t seed,
                                          EvaluationBudget::Effort effort,
                                          const Cancellation& cancellation);

  // Looks for sizes, scalars and inputs that take branches of `candidate` that no test took,
  // compares there, and says in the result which are left (VerificationResult::untaken). verify
  // does so itself.
  [[nodiscard]] VerificationResult look_behind_branches(const LoadedPlan& candidate,
                                                        const VerificationResult& tested,
                                                        std::uint64_t seed,
                                                        const Cancellation& cancellation);

 private:
  // A size that the manifest does not have, as a problem with that test alone.
  struct AddedSize {
    AddedSize(const Problem& problem, const Symbols& symbols) : single(problem) {
      single.tests = {symbols};
    }
    Problem single;
    std::unique_ptr<Reference> reference;
  };

  // What verify was asked.
  struct Request {
    const LoadedPlan& candidate;
    std::vector<std::int64_t> compared_with;  // compared_values of it
    std::uint64_t seed = 0;
    const Cancellation& cancellation;
  };
  // What a candidate does at a size that may be added, with the first inputs.
  struct Probe {
    std::shared_ptr<AddedSize> size;
    bool ran = false;      // not where the original has no result
    bool faulted = false;  // the candidate did
    PathSet taken;         // empty after a fault
  };

  std::shared_ptr<BenchReference> bench_reference(std::size_t bench, BenchData data,
                                                  std::uint64_t seed);
  [[nodiscard]] static Error no_result(BenchReference& reference);
  std::shared_ptr<AddedSize> added_size(const Symbols& symbols, std::uint64_t seed);
  // Looks for what `check`, which found nothing wrong, left open; what was found is `covered` then.
  VerificationResult settle(const Request& request, const Symbols& bench, BenchCheck& check,
                            PathSet& covered);
  // `knows_bench`: `covered` has what ran at the bench sizes.
  void look_behind_branches(const Request& request, PathSet& covered, bool knows_bench,
                            VerificationResult& result);
  const KernelNumbers& original_numbers();
  VerificationResult examine_at(const Request& request, Reference& reference, CaseChoice choice);
  // Verifies at sizes that take some of `paths`; removes what was covered.
  VerificationResult add_sizes(const Request& request, const Symbols& bench, PathSet& paths);
  Probe probe(const Request& request, const Symbols& symbols);
  // Verifies at the size if it takes some of `paths`. False: no other is needed.
  bool add_size(const Request& request, const Probe& probe, PathSet& paths,
                VerificationResult& result);

  const Problem& problem_;
  const LoadedPlan& original_;
  ReferenceSettings settings_;
  ThreadBudget& threads_;
  std::mutex mutex_;
  std::optional<KernelNumbers> original_numbers_;  // worked out when first asked for
  // Latest first; the oldest go.
  std::list<
      std::pair<std::tuple<std::size_t, BenchData, std::uint64_t>, std::shared_ptr<BenchReference>>>
      bench_references_;
  std::list<std::pair<std::pair<Symbols, std::uint64_t>, std::shared_ptr<AddedSize>>> added_;
};

}  // namespace regraph::verify
