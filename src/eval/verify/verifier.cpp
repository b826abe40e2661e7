#include "eval/verify/verifier.h"

#include "eval/verify/admission.h"
#include "eval/verify/comparison.h"
#include "eval/verify/fault_verdict.h"
#include "eval/verify/kernel_run.h"
#include "eval/verify/loaded_plan.h"
#include "eval/verify/reference.h"
#include "ptx/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <list>
#include <mutex>
#include <utility>

namespace regraph {

namespace {

using namespace verify;

// A candidate may execute this many times the original's warp instructions before it counts as
// endless, plus a floor for originals that do next to nothing.
constexpr std::uint64_t kBudgetFactor = 50;
constexpr std::uint64_t kBudgetFloor = std::uint64_t{1} << 20;
// Seeds whose reference results are kept: screening uses one, confirmations a few more.
constexpr std::size_t kKeptSeeds = 4;
// Grids beyond this are not run in reverse: the list of blocks alone would be large.
constexpr std::uint64_t kLargestReversedGrid = std::uint64_t{1} << 20;

std::string describe(const ptx::Fault& fault) {
  std::string text = fault.message.empty() ? std::string(ptx::name(fault.kind)) : fault.message;
  if (fault.kind == ptx::FaultKind::write_to_read_only) text += "; inputs must not be written";
  if (fault.kind == ptx::FaultKind::instruction_budget) {
    text += fmt::format("; a candidate may run {} times as long as the original", kBudgetFactor);
  }
  const bool in_a_thread = fault.block.count() != 0 || fault.ptx_line > 0;
  if (fault.source_line > 0) text += fmt::format(" (line {})", fault.source_line);
  if (in_a_thread && fault.kind != ptx::FaultKind::instruction_budget) {
    text += fmt::format(", block ({}, {}, {}) thread ({}, {}, {})", fault.block.x, fault.block.y,
                        fault.block.z, fault.thread.x, fault.thread.y, fault.thread.z);
  }
  return text;
}

// What stands in the way of a launch, as a verdict.
Verdict launch_verdict(ErrorCode code) {
  switch (code) {
    case ErrorCode::unsupported:
    case ErrorCode::parse:
    case ErrorCode::resource:
    case ErrorCode::internal:
      return Verdict::unsupported;
    default:
      return Verdict::launch_error;
  }
}

// Where buffers start in every second run: no better aligned than the user promised.
std::size_t loose_alignment(const Problem& problem) {
  constexpr int kAllocationAlignment = 256;
  if (problem.assume.align >= kAllocationAlignment) return 0;
  auto offset = static_cast<std::size_t>(std::max(problem.assume.align, 1));
  for (const Argument& argument : problem.arguments) {
    if (!argument.is_pointer) continue;
    // Vector types are aligned to their size, up to 16 bytes.
    constexpr std::size_t kLargestAlignment = 16;
    const std::size_t element =
        size_in_bytes(argument.type) * static_cast<std::size_t>(argument.components);
    offset = std::max(offset, std::bit_floor(std::min(element, kLargestAlignment)));
  }
  return offset;
}

}  // namespace

struct Verifier::State {
  State(Problem given, const CompiledPlan& compiled, VerifierConfiguration chosen)
      : problem(std::move(given)),
        configuration(std::move(chosen)),
        original(load_plan(compiled, problem.launch)) {
    for (const auto& kernel : compiled.launches) {
      // One text for all, as a rule.
      if (original_ptx.find(kernel->ptx) == std::string::npos) original_ptx += kernel->ptx;
    }
    admission.emplace(original_ptx, problem.assume);
  }

  const Problem problem;
  const VerifierConfiguration configuration;
  const Result<LoadedPlan> original;
  // Constant once constructed.
  std::string original_ptx;
  std::optional<Admission> admission;

  std::mutex shadow_mutex;
  bool shadow_tried = false;
  std::shared_ptr<const DoubleShadow> double_shadow;  // null: there is none

  std::shared_ptr<const DoubleShadow> shadow(const Cancellation& cancellation) {
    const std::lock_guard lock(shadow_mutex);
    if (shadow_tried || !configuration.make_double_shadow) return double_shadow;
    Result<DoubleShadow> made = configuration.make_double_shadow(cancellation);
    if (cancellation.requested()) return nullptr;
    shadow_tried = true;
    if (made.ok()) double_shadow = std::make_shared<const DoubleShadow>(std::move(*made));
    return double_shadow;
  }

  std::mutex mutex;
  std::list<std::pair<std::uint64_t, std::shared_ptr<Reference>>> references;  // latest first

  // Error: why there can be no reference at all.
  Result<std::shared_ptr<Reference>> reference(std::uint64_t seed) {
    if (!original.ok()) {
      return Error{original.error().code,
                   "the original kernel cannot be interpreted: " + original.error().message};
    }
    if (problem.tests.empty()) {
      return fail(ErrorCode::unsupported,
                  "verification needs a problem with at least one test size");
    }
    const std::lock_guard lock(mutex);
    const auto found = std::find_if(references.begin(), references.end(),
                                    [&](const auto& entry) { return entry.first == seed; });
    if (found != references.end()) {
      references.splice(references.begin(), references, found);
    } else {
      const ReferenceSettings settings = {
          configuration.reduction_length, divides_floats(original_ptx), configuration.threads,
          [this](const Cancellation& stop) { return shadow(stop); }};
      references.emplace_front(seed,
                               std::make_shared<Reference>(problem, *original, settings, seed));
      if (references.size() > kKeptSeeds) references.pop_back();
    }
    return references.front().second;
  }
};

namespace {

// The verification of one candidate.
class Examination {
 public:
  // `plan` is null when the candidate is run elsewhere than on the interpreter.
  Examination(const Problem& problem, Reference& reference, const LoadedPlan* plan,
              KernelRunner runner, int threads, const Cancellation& cancellation)
      : problem_(problem),
        reference_(reference),
        plan_(plan),
        runner_(std::move(runner)),
        threads_(threads),
        cancellation_(cancellation) {}

  VerificationResult run() {
    for (std::size_t i = 0; i < reference_.case_count(); ++i) {
      const Result<const Case*> one = reference_.at(i, cancellation_);
      if (!one.ok()) {
        result_.cancelled = one.error().code == ErrorCode::cancelled;
        return failed(result_.cancelled ? Verdict::timeout : Verdict::unsupported,
                      one.error().message);
      }
      keeps_memory_ = i + 1 < reference_.case_count() && comes_before_a_second_launch(i);
      const std::optional<KernelRun> earlier = std::exchange(earlier_, std::nullopt);
      if (!passes(**one, false)) return std::move(result_);
      if (earlier && !survives(**one, *earlier)) return std::move(result_);
      const bool reverse =
          (*one)->distribution == Distribution::small_integers && !(*one)->order_matters;
      if (reverse && worth_reversing(**one) && !passes(**one, true)) return std::move(result_);
    }
    result_.verdict = Verdict::correct;
    return std::move(result_);
  }

 private:
  // One case of each size runs twice, the second time after the case before it.
  bool comes_before_a_second_launch(std::size_t index) const {
    return reference_.distribution(index + 1) == Distribution::uniform;
  }

  bool worth_reversing(const Case& one) const {
    if (plan_ == nullptr) return false;
    bool differs = false;
    for (const LoadedLaunch& one_launch : *plan_) {
      const Result<ConcreteLaunch> concrete = concretise(one_launch.launch, *one.symbols);
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
    const Result<KernelRun> second = runner_(*one.symbols, *reference_.inputs(one), settings);
    if (!second.ok()) return true;  // it could be launched just before
    ++result_.runs;
    result_.thread_instructions += second->profile.thread_instructions;
    if (second->fault.kind == ptx::FaultKind::cancelled) {
      result_.cancelled = true;
      return reject(Verdict::timeout, with(one) + ": " + describe(second->fault));
    }
    const std::string explanation =
        " after an earlier launch in the same memory with other inputs, and right without it: ";
    if (second->fault.kind != ptx::FaultKind::none) {
      return reject(verdict_of(second->fault.kind),
                    with(one) + "," + explanation + describe(second->fault));
    }
    if (agrees(one, *second, false)) return true;
    result_.message = "wrong" + explanation + result_.message;
    return false;
  }

  RunSettings settings_for(const Case& one, bool reversed) const {
    RunSettings settings;
    settings.poison_seed = reference_.poison_seed(one, reversed ? 2 : 1);
    settings.pointer_offset = one.index % 2 == 1 ? loose_alignment(problem_) : 0;
    settings.instruction_budget = kBudgetFactor * one.warp_instructions + kBudgetFloor;
    settings.reverse_order = reversed;
    settings.threads = threads_;
    settings.detect_races = one.checks_races && !reversed;
    settings.keep_memory = keeps_memory_ && !reversed;
    return settings;
  }

  bool passes(const Case& one, bool reversed) {
    const RunSettings settings = settings_for(one, reversed);
    const Result<KernelRun> run = runner_(*one.symbols, *reference_.inputs(one), settings);
    if (!run.ok()) {
      return reject(launch_verdict(run.error().code), with(one) + ": " + run.error().message);
    }
    ++result_.runs;
    result_.thread_instructions += run->profile.thread_instructions;
    if (run->fault.kind != ptx::FaultKind::none) {
      result_.cancelled = run->fault.kind == ptx::FaultKind::cancelled;
      return reject(verdict_of(run->fault.kind), with(one) + ": " + describe(run->fault));
    }
    if (run->uninitialised_read && one.checks_uninitialised_reads && plan_ != nullptr) {
      const Result<bool> depends = depends_on_shared_fill(
          problem_, *plan_, *one.symbols, *reference_.inputs(one), settings, *run, cancellation_);
      if (!depends.ok()) {
        result_.cancelled = depends.error().code == ErrorCode::cancelled;
        return reject(Verdict::timeout, with(one) + ": " + depends.error().message);
      }
      if (*depends) {
        return reject(Verdict::suspicious, with(one) + ": " + describe(*run->uninitialised_read) +
                                               "; the result depends on it");
      }
    }
    if (!run->damaged.empty()) return reject(Verdict::suspicious, with(one) + ": " + run->damaged);
    if (!agrees(one, *run, reversed)) return false;
    if (settings.keep_memory) earlier_ = *run;
    return true;
  }

  bool agrees(const Case& one, const KernelRun& run, bool reversed) {
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
      const Argument& argument = problem_.arguments[i];
      if (!argument.is_output()) continue;
      std::vector<std::int64_t> extents;
      for (const IntegerExpression& extent : argument.shape) {
        const Result<std::int64_t> value = extent.evaluate(*one.symbols);
        extents.push_back(value.ok() ? *value : 1);
      }
      if (argument.components > 1) extents.push_back(argument.components);
      const Yardstick yardstick = yardstick_for(one, i, run.after[i]);
      const BufferComparison comparison = compare(
          {argument, extents, *yardstick.expected, run.after[i], run.before[i], one.untouched[i]},
          yardstick.tau, one.exact[i]);
      result_.relative_error = std::max(result_.relative_error, comparison.relative_error);
      if (comparison.equal) continue;
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

  struct Yardstick {
    const std::vector<std::byte>* expected = nullptr;
    double tau = 0.0;
  };

  // Where rounding decides, what the original is in double precision; else the original.
  Yardstick yardstick_for(const Case& one, std::size_t i, const std::vector<std::byte>& after) {
    const Argument& argument = problem_.arguments[i];
    Yardstick yardstick{&one.expected[i],
                        tolerance(argument.type, one.arithmetic, problem_.check, problem_.assume)};
    if (argument.type != ScalarType::f32 || one.exact[i] || problem_.check.relative_tolerance ||
        after == one.expected[i]) {
      return yardstick;
    }
    const ExactOutput* exact = reference_.exact_output(one, i, cancellation_);
    if (exact == nullptr) return yardstick;
    yardstick.expected = &exact->values;
    // Special functions differ between the interpreter and hardware, and a licence is a licence.
    const bool at_least = one.arithmetic.special_functions || problem_.assume.fast_math ||
                          !problem_.assume.keep_precision;
    yardstick.tau = at_least ? std::max(yardstick.tau, exact->tau) : exact->tau;
    return yardstick;
  }

  static std::string with(const Case& one) { return "with " + one.text(); }

  const Problem& problem_;
  Reference& reference_;
  const LoadedPlan* plan_;
  KernelRunner runner_;
  int threads_;
  const Cancellation& cancellation_;
  VerificationResult result_;
  bool keeps_memory_ = false;         // of the present case, for the next
  std::optional<KernelRun> earlier_;  // what the next case's second launch comes after
};

}  // namespace

Verifier::Verifier(Problem problem, CompiledKernel original, VerifierConfiguration configuration)
    : Verifier(problem, CompiledPlan::of(std::move(original), problem.launch),
               std::move(configuration)) {}
Verifier::Verifier(Problem problem, const CompiledPlan& original,
                   VerifierConfiguration configuration)
    : state_(std::make_unique<State>(std::move(problem), original, std::move(configuration))) {}
Verifier::~Verifier() = default;

Result<std::vector<std::string>> Verifier::check_original(std::uint64_t seed,
                                                          const Cancellation& cancellation) {
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  if (!reference.ok()) return reference.error();
  std::vector<const Case*> cases;
  for (std::size_t i = 0; i < (*reference)->case_count(); ++i) {
    const Result<const Case*> one = (*reference)->at(i, cancellation);
    if (!one.ok()) return one.error();
    cases.push_back(*one);
  }
  std::vector<std::string> warnings;
  const Problem& problem = state_->problem;
  bool any_output = false;
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!argument.is_output()) continue;
    any_output = true;
    const bool written = std::any_of(cases.begin(), cases.end(), [&](const Case* one) {
      const std::vector<std::uint8_t>& untouched = one->untouched[i];
      return std::find(untouched.begin(), untouched.end(), 0) != untouched.end() ||
             untouched.empty();
    });
    if (!written) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("the original kernel writes nothing to '{}'; set its dir to in, or correct "
                      "the launch",
                      argument.name));
    }
    // The sizes' cases stand together; an output that is the same for all inputs tells nothing.
    bool varies = false;
    for (std::size_t c = 1; c < cases.size(); ++c) {
      varies |= cases[c]->symbols == cases[c - 1]->symbols &&
                cases[c]->expected[i] != cases[c - 1]->expected[i];
    }
    if (!varies) {
      warnings.push_back(
          fmt::format("'{}' is the same for all test inputs: a kernel that writes "
                      "constants would pass",
                      argument.name));
    }
  }
  if (!any_output) {
    return fail(ErrorCode::invalid_argument,
                "the kernel has no output: no argument has dir out or inout");
  }
  if (std::any_of(cases.begin(), cases.end(), [](const Case* one) { return one->order_matters; })) {
    warnings.emplace_back(
        "the original's result depends on the order in which its blocks or warps run");
  }
  for (const Case* one : cases) {
    if (one->race.empty()) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("the original kernel, with {}: {}; what it computes is not defined, so "
                            "nothing can be compared with it",
                            one->text(), one->race));
  }
  for (const Case* one : cases) {
    if (!one->uninitialised_read.empty()) {
      warnings.push_back(
          fmt::format("the original kernel, with {}: {}", one->text(), one->uninitialised_read));
      break;
    }
  }
  return warnings;
}

VerificationResult Verifier::verify(const CompiledKernel& candidate, const LaunchPlan& plan,
                                    std::uint64_t seed, const Cancellation& cancellation) {
  return verify(CompiledPlan::of(candidate, plan), plan, seed, cancellation);
}

VerificationResult Verifier::verify(const CompiledPlan& candidate, const LaunchPlan& plan,
                                    std::uint64_t seed, const Cancellation& cancellation) {
  VerificationResult result;
  const auto refuse = [&](Verdict verdict, std::string message) {
    result.verdict = verdict;
    result.message = std::move(message);
    return result;
  };
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  if (!reference.ok()) return refuse(Verdict::unsupported, reference.error().message);
  // Before anything else: what the interpreter does not know may be forbidden too.
  for (std::size_t i = 0; i < candidate.launches.size(); ++i) {
    const std::string& text = candidate.launches[i]->ptx;
    if (i > 0 && text == candidate.launches.front()->ptx) continue;  // one module, as a rule
    if (const auto objection = state_->admission->objection(text)) {
      return refuse(Verdict::suspicious, *objection);
    }
  }
  const Result<LoadedPlan> loaded = load_plan(candidate, plan);
  if (!loaded.ok()) return refuse(launch_verdict(loaded.error().code), loaded.error().message);
  const KernelRunner interpreter = [&](const Symbols& symbols, const Buffers& inputs,
                                       const RunSettings& settings) {
    return run_kernel(state_->problem, *loaded, symbols, inputs, settings, cancellation);
  };
  return Examination(state_->problem, **reference, &*loaded, interpreter,
                     state_->configuration.threads, cancellation)
      .run();
}

Result<Verifier::Scale> Verifier::largest_test(std::uint64_t seed,
                                               const Cancellation& cancellation) {
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  if (!reference.ok()) return reference.error();
  // Small sizes come first.
  const Result<const Case*> last = (*reference)->at((*reference)->case_count() - 1, cancellation);
  if (!last.ok()) return last.error();
  return Scale{(*last)->arithmetic, *(*last)->symbols};
}

const LoadedPlan* Verifier::original() const {
  return state_->original.ok() ? &*state_->original : nullptr;
}

VerificationResult Verifier::verify_on(const KernelRunner& runner, std::uint64_t seed,
                                       const Cancellation& cancellation) {
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  if (!reference.ok()) {
    VerificationResult result;
    result.message = reference.error().message;
    return result;
  }
  return Examination(state_->problem, **reference, nullptr, runner, 1, cancellation).run();
}

}  // namespace regraph
