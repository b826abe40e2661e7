#include "eval/verify/verifier.h"

#include "eval/verify/admission.h"
#include "eval/verify/bench_verification.h"
#include "eval/verify/examination.h"
#include "eval/verify/kernel_run.h"
#include "eval/verify/loaded_plan.h"
#include "eval/verify/other_roundings.h"
#include "eval/verify/reference.h"
#include "ptx/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace regraph {

namespace {

using namespace verify;

// Seeds whose reference results are kept: screening uses one, confirmations a few more.
constexpr std::size_t kKeptSeeds = 4;

VerificationResult refused(Verdict verdict, std::string message) {
  VerificationResult result;
  result.verdict = verdict;
  result.message = std::move(message);
  return result;
}

// Whether some case writes to the output.
bool is_written(std::size_t argument, const std::vector<const Case*>& cases) {
  return std::ranges::any_of(cases, [&](const Case* one) {
    const std::vector<std::uint8_t>& untouched = one->untouched[argument];
    return untouched.empty() || std::ranges::find(untouched, 0) != untouched.end();
  });
}

// Whether it is written at the sizes of a program's launches alone: kernels that have sizes of
// their own, besides those that they are passed, do nothing at others.
bool has_untested_output(const Problem& problem, const std::vector<const Case*>& cases) {
  if (!problem.is_captured) return false;
  // At a captured size what is written is known; an output that stays as it was there is none.
  const bool any_captured = std::ranges::any_of(
      cases, [&](const Case* one) { return problem.captured_at(one->symbols()) != nullptr; });
  if (any_captured) return false;
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    if (problem.arguments[i].is_output() && !is_written(i, cases)) return true;
  }
  return false;
}

// Whether the original writes outputs, and warnings about those that tell little.
Result<std::vector<std::string>> check_outputs(const Problem& problem,
                                               const std::vector<const Case*>& cases) {
  std::vector<std::string> warnings;
  bool any_output = false;
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!argument.is_output()) continue;
    any_output = true;
    if (!is_written(i, cases)) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("the original kernel writes nothing to '{}'; set its dir to in, or correct "
                      "the launch",
                      argument.name));
    }
    // The sizes' cases stand together; an output that is the same for all inputs tells nothing.
    bool varies = false;
    for (std::size_t c = 1; c < cases.size(); ++c) {
      varies |= cases[c]->symbols() == cases[c - 1]->symbols() &&
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
  return warnings;
}

// Warnings about inputs that are left out. Error: nothing is left of a size.
Result<std::vector<std::string>> ill_conditioned_inputs(const std::vector<const Case*>& cases) {
  std::vector<std::string> warnings;
  std::map<Distribution, std::vector<const Case*>> left_out;
  std::map<Symbols, bool> compared;
  for (const Case* one : cases) {
    compared[one->symbols()] |= one->compares_some();
    if (one->first_ill_conditioned() != nullptr) left_out[one->distribution()].push_back(one);
  }
  for (const auto& [symbols, any] : compared) {
    if (any) continue;
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("with {}, whatever the inputs, the original kernel's result changes by "
                    "more than the tolerance when products are rounded before they are "
                    "added: nothing can be compared with it; give its arguments an init for "
                    "which it is well-conditioned, or a tolerance",
                    symbols_text(symbols)));
  }
  warnings.reserve(left_out.size());
  for (const auto& [distribution, ill] : left_out) {
    warnings.push_back(fmt::format(
        "{} inputs are left out at {} of {} test sizes: the original is ill-conditioned there, its "
        "result changes when products are rounded before they are added ({}: {})",
        name(distribution), ill.size(), compared.size(), symbols_text(ill.front()->symbols()),
        *ill.front()->first_ill_conditioned()));
  }
  return warnings;
}

}  // namespace

struct Verifier::State {
  State(Problem given, const CompiledPlan& compiled, VerifierConfiguration chosen)
      : problem(std::move(given)),
        configuration(std::move(chosen)),
        original_compiled(compiled),
        original(load_plan(compiled, problem.launch)) {
    for (const auto& kernel : compiled.launches) {
      // One text for all, as a rule.
      if (original_ptx.find(kernel->ptx) == std::string::npos) original_ptx += kernel->ptx;
    }
    admission.emplace(original_ptx, problem.assume);
    if (original.ok()) {
      bench =
          std::make_unique<BenchVerification>(problem, *original, reference_settings(), threads);
    }
  }

  ReferenceSettings reference_settings() {
    return {configuration.reduction_length,
            divides_floats(original_ptx),
            configuration.threads,
            [this](const Cancellation& stop) { return shadow(stop); },
            [this](const Cancellation&) { return toward_zero(); },
            [this](const Cancellation& stop) { return uncontracted(stop); }};
  }

  const Problem problem;
  const VerifierConfiguration configuration;
  const CompiledPlan original_compiled;
  const Result<LoadedPlan> original;
  // Constant once constructed.
  std::string original_ptx;
  std::optional<Admission> admission;
  std::unique_ptr<BenchVerification> bench;  // null: there is no original to compare with

  ThreadBudget threads;

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

  std::once_flag toward_zero_once;
  std::shared_ptr<const LoadedPlan> cut_original;  // null: there is none

  std::shared_ptr<const LoadedPlan> toward_zero() {
    std::call_once(toward_zero_once, [this] {
      Result<LoadedPlan> loaded = load_toward_zero(original_compiled, problem.launch);
      if (loaded.ok()) cut_original = std::make_shared<const LoadedPlan>(std::move(*loaded));
    });
    return cut_original;
  }

  std::mutex uncontracted_mutex;
  bool uncontracted_tried = false;
  std::shared_ptr<const LoadedPlan> uncontracted_original;  // null: there is none

  std::shared_ptr<const LoadedPlan> uncontracted(const Cancellation& cancellation) {
    const std::lock_guard lock(uncontracted_mutex);
    if (uncontracted_tried || !configuration.make_uncontracted) return uncontracted_original;
    Result<LoadedPlan> made = configuration.make_uncontracted(cancellation);
    if (cancellation.requested()) return nullptr;
    uncontracted_tried = true;
    if (made.ok()) uncontracted_original = std::make_shared<const LoadedPlan>(std::move(*made));
    return uncontracted_original;
  }

  std::mutex mutex;
  std::list<std::pair<std::uint64_t, std::shared_ptr<Reference>>> references;  // latest first

  // The argument that a fault says is read-only.
  [[nodiscard]] std::optional<std::size_t> input_written_in(const std::string& fault) const {
    for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
      const std::string words =
          fmt::format("in '{}', which is read-only", problem.arguments[i].name);
      if (fault.find(words) != std::string::npos) return i;
    }
    return std::nullopt;
  }

  // Error: why there can be no reference at all.
  Result<std::shared_ptr<Reference>> reference(std::uint64_t seed) {
    if (!original.ok()) {
      return Error{original.error().code,
                   "the original kernel cannot be interpreted: " + original.error().message};
    }
    if (problem.tests.empty() && !problem.is_captured) {
      return fail(ErrorCode::unsupported,
                  "verification needs a problem with at least one test size");
    }
    const std::lock_guard lock(mutex);
    const auto found = std::find_if(references.begin(), references.end(),
                                    [&](const auto& entry) { return entry.first == seed; });
    if (found != references.end()) {
      references.splice(references.begin(), references, found);
    } else {
      references.emplace_front(
          seed, std::make_shared<Reference>(problem, *original, reference_settings(), seed));
      if (references.size() > kKeptSeeds) references.pop_back();
    }
    return references.front().second;
  }
};

Verifier::Verifier(const Problem& problem, CompiledKernel original,
                   VerifierConfiguration configuration)
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
  (*reference)->work_out_all(state_->threads, cancellation);
  std::vector<const Case*> cases;
  std::size_t left_out_cases = 0;
  std::string first_left_out;
  for (std::size_t i = 0; i < (*reference)->case_count(); ++i) {
    const Result<const Case*> one = (*reference)->at(i, cancellation);
    if (!one.ok()) return one.error();
    if ((*one)->plan.is_beyond) continue;
    if ((*one)->left_out.empty()) {
      cases.push_back(*one);
    } else if (left_out_cases++ == 0) {
      first_left_out = (*one)->left_out;
    }
  }
  if (has_untested_output(state_->problem, cases)) cases.clear();
  if (cases.empty()) {
    const bool any_output = std::ranges::any_of(
        state_->problem.arguments, [](const Argument& one) { return one.is_output(); });
    if (!any_output) return check_outputs(state_->problem, cases);
    const bool is_captured = state_->problem.is_captured;
    if (Status status = state_->bench->check_original(seed, cancellation); !status.ok()) {
      // What happened at a small size tells more.
      if (is_captured || first_left_out.empty() || status.error().code == ErrorCode::cancelled)
        return status.error();
      return fail(ErrorCode::invalid_argument, first_left_out);
    }
    std::string warning = fmt::format(
        "no test size is left, so candidates are compared at the {} size alone, there in sampled "
        "blocks, and data races are not looked for; {}",
        is_captured ? "captured" : "bench",
        is_captured ? "a capture of a second run with smaller arguments gives tests"
                    : "'tests' in the manifest gives some that the original can take");
    if (!first_left_out.empty()) warning += " (" + first_left_out + ")";
    return std::vector<std::string>{std::move(warning)};
  }
  Result<std::vector<std::string>> warnings = check_outputs(state_->problem, cases);
  if (!warnings.ok()) return warnings;
  if (std::any_of(cases.begin(), cases.end(), [](const Case* one) { return one->order_matters; })) {
    warnings->emplace_back(
        "the original's result depends on the order in which its blocks or warps run");
  }
  for (const std::string& argument : state_->problem.check.benign_races) {
    warnings->push_back(
        fmt::format("data races on '{}' are allowed, and not looked for: what is left in it has to "
                    "lie between what two orders of the original's threads leave",
                    argument));
  }
  if (left_out_cases > 0) {
    warnings->push_back(
        fmt::format("{} of {} test cases are left out, the original has no result there ({})",
                    left_out_cases, left_out_cases + cases.size(), first_left_out));
  }
  for (const Case* one : cases) {
    if (one->race.empty()) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("the original kernel, with {}: {}; what it computes is not defined, so "
                            "nothing can be compared with it (a race on a buffer x that does no "
                            "harm is allowed by check: {{benign_races: [x]}} in the manifest)",
                            one->text(), one->race));
  }
  Result<std::vector<std::string>> left_out = ill_conditioned_inputs(cases);
  if (!left_out.ok()) return left_out.error();
  warnings->insert(warnings->end(), left_out->begin(), left_out->end());
  for (const Case* one : cases) {
    if (!one->uninitialised_read.empty()) {
      warnings->push_back(
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
  // Without a reference nothing else is worth saying.
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  if (!reference.ok()) return refused(Verdict::unsupported, reference.error().message);
  const Result<std::shared_ptr<const PreparedCandidate>> prepared = prepare(candidate, plan);
  if (!prepared.ok()) {
    return refused(launch_verdict(prepared.error().code), prepared.error().message);
  }
  return verify(**prepared, seed, cancellation);
}

Result<std::shared_ptr<const PreparedCandidate>> Verifier::prepare(CompiledPlan compiled,
                                                                   LaunchPlan plan) const {
  for (std::size_t i = 0; i < compiled.launches.size(); ++i) {
    const std::string& text = compiled.launches[i]->ptx;
    if (i > 0 && text == compiled.launches.front()->ptx) continue;  // one module, as a rule
    if (const auto objection = state_->admission->objection(text)) {
      return fail(ErrorCode::refused, *objection);
    }
  }
  return prepare_trusted(std::move(compiled), std::move(plan));
}

VerificationResult Verifier::verify(const PreparedCandidate& candidate, std::uint64_t seed,
                                    const Cancellation& cancellation) {
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  if (!reference.ok()) return refused(Verdict::unsupported, reference.error().message);
  const KernelRunner interpreter = [&](const Problem& problem, const Symbols& symbols,
                                       const Buffers& inputs, const RunSettings& settings) {
    return run_kernel(problem, candidate.loaded, symbols, inputs, settings, cancellation);
  };
  return examine(**reference, &candidate.loaded, interpreter, state_->threads,
                 state_->configuration.threads, cancellation);
}

VerificationResult Verifier::verify_bench(const PreparedCandidate& candidate,
                                          const VerificationResult& tested, std::uint64_t seed,
                                          EvaluationBudget::Effort effort,
                                          const Cancellation& cancellation) {
  if (!state_->bench) return tested;  // without an original there was nothing to compare with
  return state_->bench->verify(candidate.loaded, tested, seed, effort, cancellation);
}

VerificationResult Verifier::look_behind_branches(const PreparedCandidate& candidate,
                                                  const VerificationResult& tested,
                                                  std::uint64_t seed,
                                                  const Cancellation& cancellation) {
  if (!state_->bench) return tested;
  return state_->bench->look_behind_branches(candidate.loaded, tested, seed, cancellation);
}

std::vector<std::string> Verifier::held_fixed(std::uint64_t seed,
                                              const Cancellation& cancellation) {
  std::vector<std::string> fixed = fixed_by_manifest(state_->problem);
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  std::map<std::string, std::pair<bool, std::string>>
      varied;               // by argument: any case; else why not
  std::string only_finite;  // why
  std::string no_overflow;  // why
  for (std::size_t i = 0; reference.ok() && i < (*reference)->case_count(); ++i) {
    const TestCase& planned = (*reference)->planned(i);
    const bool special = planned.distribution == Distribution::not_finite;
    const bool largest = planned.distribution == Distribution::largest;
    if (planned.varies.empty() && !special && !largest) continue;
    const Result<const Case*> one = (*reference)->at(i, cancellation);
    if (!one.ok()) return fixed;
    if (special && !(*one)->left_out.empty()) only_finite = (*one)->left_out;
    if (largest && !(*one)->left_out.empty()) no_overflow = (*one)->left_out;
    if (planned.varies.empty()) continue;
    auto& [any, why] = varied[planned.varies];
    any = any || ((*one)->left_out.empty() && (*one)->compares_some());
    if (why.empty())
      why = (*one)->left_out.empty() ? "the original is ill-conditioned with others"
                                     : (*one)->left_out;
  }
  if (!only_finite.empty()) fixed.push_back("inputs are finite (" + only_finite + ")");
  if (!no_overflow.empty()) fixed.push_back("results are far from overflow (" + no_overflow + ")");
  for (const Argument& argument : state_->problem.arguments) {
    const auto found = varied.find(argument.name);
    if (found == varied.end() || found->second.first) continue;
    fixed.push_back(argument.is_pointer
                        ? fmt::format("'{}' holds {}, never others ({})", argument.name,
                                      argument.init.text(), found->second.second)
                        : fmt::format("{} = {}, never another value ({})", argument.name,
                                      argument.value->text(), found->second.second));
  }
  return fixed;
}

std::vector<Symbols> Verifier::sizes_left_out(std::uint64_t seed,
                                              const Cancellation& cancellation) {
  std::vector<Symbols> sizes;
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  for (std::size_t i = 0; reference.ok() && i < (*reference)->case_count(); ++i) {
    const Result<const Case*> one = (*reference)->at(i, cancellation);
    if (one.ok() && (*one)->plan.may_drop_size && (*one)->plan.is_first &&
        !(*one)->left_out.empty())
      sizes.push_back((*one)->symbols());
  }
  return sizes;
}

std::vector<Symbols> Verifier::case_sizes(std::uint64_t seed) {
  std::vector<Symbols> sizes;
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  for (std::size_t i = 0; reference.ok() && i < (*reference)->case_count(); ++i) {
    const Symbols& symbols = (*reference)->symbols(i);
    if (std::ranges::find(sizes, symbols) == sizes.end()) sizes.push_back(symbols);
  }
  return sizes;
}

Verifier::Obstacle Verifier::obstacle(std::uint64_t seed, const Cancellation& cancellation) {
  Obstacle result;
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  if (!reference.ok()) return result;
  std::vector<const Case*> cases;
  for (std::size_t i = 0; i < (*reference)->case_count(); ++i) {
    const Result<const Case*> one = (*reference)->at(i, cancellation);
    if (cancellation.requested()) return {};
    if (!one.ok() || !(*one)->race.empty()) {
      // What cannot be interpreted is so at all sizes.
      const bool is_unsupported = !one.ok() && one.error().code == ErrorCode::unsupported;
      if (is_unsupported) return result;
      result.test_size = (*reference)->symbols(i);
      if (!one.ok()) result.written_input = state_->input_written_in(one.error().message);
      return result;
    }
    if ((*one)->plan.is_beyond) continue;
    if ((*one)->left_out.empty()) {
      cases.push_back(*one);
    } else if (const auto input = state_->input_written_in((*one)->left_out)) {
      result.written_input = input;
      return result;
    }
  }
  for (std::size_t i = 0; i < state_->problem.arguments.size() && !cases.empty(); ++i) {
    if (!state_->problem.arguments[i].is_output() || is_written(i, cases)) continue;
    result.unwritten_output = i;
    return result;
  }
  return result;
}

Result<Verifier::Scale> Verifier::largest_test(std::uint64_t seed,
                                               const Cancellation& cancellation) {
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  if (!reference.ok()) return reference.error();
  // Small sizes come first.
  for (std::size_t i = (*reference)->case_count(); i-- > 0;) {
    const Result<const Case*> last = (*reference)->at(i, cancellation);
    if (!last.ok()) return last.error();
    if ((*last)->left_out.empty() && !(*last)->plan.is_beyond)
      return Scale{(*last)->arithmetic, (*last)->symbols()};
  }
  if (!state_->bench) {
    return fail(ErrorCode::invalid_argument, "the original fails at every test size");
  }
  const auto arithmetic = state_->bench->arithmetic(seed, cancellation);
  if (!arithmetic.ok()) return arithmetic.error();
  return Scale{*arithmetic, state_->problem.bench.front()};
}

ThreadBudget& Verifier::threads() {
  return state_->threads;
}

const LoadedPlan* Verifier::original() const {
  return state_->original.ok() ? &*state_->original : nullptr;
}

VerificationResult Verifier::verify_on(const KernelRunner& runner, std::uint64_t seed,
                                       const Cancellation& cancellation,
                                       verify::CaseChoice choice) {
  const Result<std::shared_ptr<Reference>> reference = state_->reference(seed);
  if (!reference.ok()) {
    VerificationResult result;
    result.message = reference.error().message;
    return result;
  }
  ThreadBudget none_to_spare;  // the runner is for one at a time
  return examine(**reference, nullptr, runner, none_to_spare, 1, cancellation, choice);
}

}  // namespace regraph
