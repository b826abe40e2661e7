#include "eval/verify/examination.h"

#include "eval/verify/comparison.h"
#include "eval/verify/fault_verdict.h"
#include "eval/verify/kernel_run.h"
#include "eval/verify/nearest_between.h"
#include "ptx/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::verify {
namespace {

// Warp instructions beyond kBudgetFactor, for originals that do next to nothing.
constexpr std::uint64_t kBudgetFloor = std::uint64_t{1} << 20;
// At sizes that nobody gave a candidate may be as slow as it likes, within reason: a block a row of
// one element, say.
constexpr std::uint64_t kBudgetFloorBeyond = std::uint64_t{1} << 27;
// Grids beyond this are not run in reverse: the list of blocks alone would be large.
constexpr std::uint64_t kLargestReversedGrid = std::uint64_t{1} << 20;

// One case of each size runs twice, the second time after the case before it, in its memory.
bool comes_before_a_second_launch(const Reference& reference, std::size_t index) {
  if (index + 1 >= reference.case_count()) return false;
  if (reference.planned(index + 1).is_beyond) return false;
  const Distribution next = reference.distribution(index + 1);
  return next == Distribution::uniform ||
         ((reference.distribution(index) == Distribution::captured ||
           reference.distribution(index) == Distribution::manifest) &&
          (next == Distribution::perturbed || next == Distribution::exchanged));
}

// Cases that one thread has to run one after the other.
struct CaseRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<CaseRange> independent_cases(const Reference& reference, CaseChoice choice) {
  std::vector<CaseRange> ranges;
  for (std::size_t i = 0; i < reference.case_count(); ++i) {
    const TestCase& planned = reference.planned(i);
    if (choice == CaseChoice::as_given && planned.is_beyond) break;
    if (choice == CaseChoice::on_hardware && is_extreme(planned.distribution)) continue;
    const bool joined = i > 0 && comes_before_a_second_launch(reference, i - 1);
    if (!joined) ranges.push_back({i, i});
    ranges.back().end = i + 1;
  }
  return ranges;
}

// The verification of one candidate with some of the cases.
class Examination {
 public:
  // `plan` is null when the candidate is run elsewhere than on the interpreter.
  Examination(Reference& reference, const LoadedPlan* plan, const KernelRunner& runner, int threads,
              const Cancellation& cancellation)
      : reference_(reference),
        plan_(plan),
        runner_(runner),
        threads_(threads),
        cancellation_(cancellation) {}

  VerificationResult run(CaseRange cases) {
    for (std::size_t i = cases.begin; i < cases.end; ++i) {
      const Result<const Case*> one = reference_.at(i, cancellation_);
      if (!one.ok()) {
        result_.cancelled = one.error().code == ErrorCode::cancelled;
        return failed(result_.cancelled ? Verdict::timeout : Verdict::unsupported,
                      one.error().message);
      }
      if (!(*one)->left_out.empty()) {
        earlier_.reset();
        continue;
      }
      keeps_memory_ = comes_before_a_second_launch(reference_, i);
      const std::optional<KernelRun> earlier = std::exchange(earlier_, std::nullopt);
      if (!passes(**one, false)) return std::move(result_);
      if (earlier && !survives(**one, *earlier)) return std::move(result_);
      const bool reverse = (*one)->plan.is_first && !(*one)->order_matters;
      if (reverse && worth_reversing(**one) && !passes(**one, true)) return std::move(result_);
    }
    result_.verdict = Verdict::correct;
    return std::move(result_);
  }

 private:
  bool worth_reversing(const Case& one) const {
    if (plan_ == nullptr) return false;
    bool differs = false;
    for (const LoadedLaunch& one_launch : *plan_) {
      const Result<ConcreteLaunch> concrete = concretise(one_launch.launch, one.symbols());
      if (!concrete.ok() || concrete->grid.count() > kLargestReversedGrid) return false;
      differs |= concrete->grid.count() > 1 || one_launch.reversed_warps.has_value();
    }
    return differs;
  }

  VerificationResult failed(Verdict verdict, std::string message) {
    result_.verdict = verdict;
    result_.message = std::move(message);
    return std::move(result_);
  }

  bool reject(Verdict verdict, std::string message) {
    result_.verdict = verdict;
    result_.message = std::move(message);
    return false;
  }

  // Another launch in the same memory, in which the last case ran with other inputs: what that left
  // in outputs, scratch buffers and the memory of blocks must not matter.
  bool survives(const Case& one, const KernelRun& earlier) {
    RunSettings settings = settings_for(one, false);
    settings.detect_races = false;
    settings.earlier = &earlier;
    const Result<KernelRun> second =
        runner_(*one.problem, one.symbols(), *reference_.inputs(one), settings);
    if (!second.ok()) return true;  // it could be launched just before
    ++result_.runs;
    result_.thread_instructions += second->profile.thread_instructions;
    if (second->fault.kind == ptx::FaultKind::cancelled) {
      result_.cancelled = true;
      return reject(Verdict::timeout, with(one) + ": " + describe_fault(second->fault));
    }
    const std::string explanation =
        " after an earlier launch in the same memory with other inputs, and right without it: ";
    if (second->fault.kind != ptx::FaultKind::none) {
      return reject(verdict_of(second->fault.kind),
                    with(one) + "," + explanation + describe_fault(second->fault));
    }
    if (agrees(one, *second, false)) return true;
    result_.message = "wrong" + explanation + result_.message;
    return false;
  }

  RunSettings settings_for(const Case& one, bool reversed) const {
    RunSettings settings;
    settings.poison_seed = reference_.poison_seed(one, reversed ? 2 : 1);
    settings.pointer_offset = one.index % 2 == 1 ? loose_alignment(*one.problem) : 0;
    settings.stagger = one.index % 4 == 3;
    settings.instruction_budget = kBudgetFactor * one.warp_instructions +
                                  (one.plan.is_beyond ? kBudgetFloorBeyond : kBudgetFloor);
    settings.reverse_order = reversed;
    settings.threads = threads_;
    settings.detect_races = one.checks_races && !reversed;
    settings.record_paths = plan_ != nullptr && !reversed;
    settings.keep_memory = keeps_memory_ && !reversed;
    return settings;
  }

  bool passes(const Case& one, bool reversed) {
    const RunSettings settings = settings_for(one, reversed);
    const Result<KernelRun> run =
        runner_(*one.problem, one.symbols(), *reference_.inputs(one), settings);
    if (!run.ok()) {
      return reject(launch_verdict(run.error().code), with(one) + ": " + run.error().message);
    }
    ++result_.runs;
    result_.thread_instructions += run->profile.thread_instructions;
    if (run->fault.kind != ptx::FaultKind::none) {
      result_.cancelled = run->fault.kind == ptx::FaultKind::cancelled;
      return reject(verdict_of(run->fault.kind), with(one) + ": " + describe_fault(run->fault));
    }
    if (run->uninitialised_read && one.checks_uninitialised_reads && plan_ != nullptr) {
      const Result<bool> depends =
          depends_on_shared_fill(*one.problem, *plan_, one.symbols(), *reference_.inputs(one),
                                 settings, *run, cancellation_);
      if (!depends.ok()) {
        result_.cancelled = depends.error().code == ErrorCode::cancelled;
        return reject(Verdict::timeout, with(one) + ": " + depends.error().message);
      }
      if (*depends) {
        return reject(Verdict::suspicious, with(one) + ": " +
                                               describe_fault(*run->uninitialised_read) +
                                               "; the result depends on it");
      }
    }
    if (!run->damaged.empty()) return reject(Verdict::suspicious, with(one) + ": " + run->damaged);
    if (!agrees(one, *run, reversed)) return false;
    // Where all numbers are one, another way often comes to the same.
    const bool tells = one.plan.sprinkling != Sprinkling::everywhere;
    if (settings.record_paths && one.first_ill_conditioned() == nullptr && tells)
      result_.paths.add(run->profile);
    if (settings.keep_memory) earlier_ = *run;
    return true;
  }

  bool agrees(const Case& one, const KernelRun& run, bool reversed) {
    for (std::size_t i = 0; i < one.problem->arguments.size(); ++i) {
      const Argument& argument = one.problem->arguments[i];
      if (!argument.is_output() || !one.ill_conditioned[i].empty()) continue;
      std::vector<std::int64_t> extents;
      for (const IntegerExpression& extent : argument.shape) {
        const Result<std::int64_t> value = extent.evaluate(one.symbols());
        extents.push_back(value.ok() ? *value : 1);
      }
      if (argument.components > 1) extents.push_back(argument.components);
      const Reference::Yardstick yardstick =
          reference_.yardstick(one, i, run.after[i], cancellation_);
      const bool raced_on = !one.other_order[i].empty();
      const std::vector<std::byte> between =
          raced_on
              ? nearest_between(argument.type, one.expected[i], one.other_order[i], run.after[i])
              : std::vector<std::byte>();
      const auto compared = [&](const std::vector<std::byte>& expected, double tau) {
        return compare({argument,
                        extents,
                        expected,
                        run.after[i],
                        run.before[i],
                        one.untouched[i],
                        {},
                        one.problem->has_given_data(one.symbols()),
                        one.by_element,
                        one.zero_signs,
                        one.slack},
                       tau, one.exact[i]);
      };
      BufferComparison comparison =
          compared(raced_on ? between : *yardstick.expected, yardstick.tau);
      if (!comparison.equal && !raced_on && yardstick.or_expected != nullptr)
        comparison = compared(*yardstick.or_expected, yardstick.or_tau);
      result_.relative_error = std::max(result_.relative_error, comparison.relative_error);
      if (comparison.equal) {
        const std::string imprecise = reference_.imprecision(one, i, run.after[i], cancellation_);
        if (imprecise.empty()) continue;
        return reject(Verdict::wrong_result, with(one) + ": " + imprecise);
      }
      if (reversed) {
        return reject(Verdict::data_race,
                      with(one) +
                          ": the result depends on the order in which blocks and warps run; a "
                          "barrier is missing or blocks depend on each other: " +
                          comparison.message);
      }
      return reject(Verdict::wrong_result, with(one) + ": " + comparison.message);
    }
    return true;
  }

  static std::string with(const Case& one) { return "with " + one.text(); }

  Reference& reference_;
  const LoadedPlan* plan_;
  const KernelRunner& runner_;
  int threads_;
  const Cancellation& cancellation_;
  VerificationResult result_;
  bool keeps_memory_ = false;         // of the present case, for the next
  std::optional<KernelRun> earlier_;  // what the next case's second launch comes after
};

}  // namespace

Verdict launch_verdict(ErrorCode code) {
  switch (code) {
    case ErrorCode::unsupported:
    case ErrorCode::parse:
    case ErrorCode::resource:
    case ErrorCode::internal:
      return Verdict::unsupported;
    case ErrorCode::refused:  // by admission
      return Verdict::suspicious;
    default:
      return Verdict::launch_error;
  }
}

VerificationResult examine(Reference& reference, const LoadedPlan* plan, const KernelRunner& runner,
                           ThreadBudget& budget, int launch_threads,
                           const Cancellation& cancellation, CaseChoice choice) {
  const std::vector<CaseRange> ranges = independent_cases(reference, choice);
  std::vector<VerificationResult> results(ranges.size());
  std::atomic<std::size_t> first_failure{ranges.size()};
  budget.for_each_index(ranges.size(), [&](std::size_t i) {
    if (i > first_failure) return;
    results[i] = Examination(reference, plan, runner, launch_threads, cancellation).run(ranges[i]);
    std::size_t first = first_failure;
    while (!results[i].correct() && i < first) {
      if (first_failure.compare_exchange_weak(first, i)) break;
    }
  });
  // As if they had run one after the other, to the first failure.
  VerificationResult total;
  total.verdict = Verdict::correct;
  for (VerificationResult& one : results) {
    total.runs += one.runs;
    total.thread_instructions += one.thread_instructions;
    total.relative_error = std::max(total.relative_error, one.relative_error);
    total.paths.add(one.paths);
    if (one.correct()) continue;
    total.verdict = one.verdict;
    total.message = std::move(one.message);
    total.cancelled = one.cancelled;
    break;
  }
  return total;
}

}  // namespace regraph::verify
