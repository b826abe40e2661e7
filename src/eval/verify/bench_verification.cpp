#include "eval/verify/bench_verification.h"

#include "eval/verify/added_sizes.h"
#include "eval/verify/bench_check.h"
#include "eval/verify/compared_values.h"
#include "eval/verify/examination.h"
#include "ptx/decode/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace regraph::verify {

namespace {

// Kept for other candidates: bench sizes of a few seeds, and sizes that were added.
constexpr std::size_t kKeptBenchReferences = 4;
constexpr std::size_t kKeptSizes = 48;
// Warp instructions that a candidate may take at an added size.
constexpr std::uint64_t kProbeInstructions = 16'000'000;

// Finds or makes an entry of a list whose latest stand first.
template <typename List, typename Key, typename Make>
auto recall(List& list, const Key& key, std::size_t kept, const Make& make) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == key; });
  if (found != list.end()) {
    list.splice(list.begin(), list, found);
  } else {
    list.emplace_front(key, make());
    if (list.size() > kept) list.pop_back();
  }
  return list.front().second;
}

// "line 12 of the source (PTX line 88) runs".
std::string describe_path(const LoadedPlan& plan, const PathSet& paths) {
  std::size_t first = 0;
  for (const LoadedLaunch& launch : plan) {
    const auto& instructions = launch.program.code().instructions;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (first + i >= paths.instructions().size()) return "";
      const std::uint8_t bits = paths.instructions()[first + i];
      if (bits == 0) continue;
      const bool holds = (bits & (PathSet::kTrue | PathSet::kResultTrue)) != 0;
      const char* what = (bits & PathSet::kRan) != 0 ? "it runs"
                         : holds                     ? "its condition holds"
                                                     : "its condition does not hold";
      const ptx::InstructionInfo& one = instructions[i];
      const std::string where = one.source_line > 0
                                    ? fmt::format("line {} of the source", one.source_line)
                                    : fmt::format("PTX line {}", one.line);
      return fmt::format("{} ({}: {})", where, one.mnemonic, what);
    }
    first += instructions.size();
  }
  return "";
}

}  // namespace

BenchVerification::BenchVerification(const Problem& problem, const LoadedPlan& original,
                                     ReferenceSettings settings, ThreadBudget& threads)
    : problem_(problem), original_(original), settings_(std::move(settings)), threads_(threads) {}

std::shared_ptr<BenchReference> BenchVerification::bench_reference(std::size_t bench,
                                                                   std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  return recall(bench_references_, std::pair(bench, seed),
                std::max(kKeptBenchReferences, problem_.bench.size()), [&] {
                  const BenchReferenceSettings settings = {
                      settings_.reduction_length, settings_.divides_floats, settings_.threads};
                  return std::make_shared<BenchReference>(problem_, original_,
                                                          problem_.bench[bench], settings, seed);
                });
}

std::shared_ptr<BenchVerification::AddedSize> BenchVerification::added_size(const Symbols& symbols,
                                                                            std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  return recall(added_, std::pair(symbols, seed), kKeptSizes, [&] {
    auto added = std::make_shared<AddedSize>(problem_, symbols);
    added->reference = std::make_unique<Reference>(added->single, original_, settings_, seed);
    return added;
  });
}

VerificationResult BenchVerification::verify(const LoadedPlan& candidate,
                                             const VerificationResult& tested, std::uint64_t seed,
                                             EvaluationBudget::Effort effort,
                                             const Cancellation& cancellation) {
  VerificationResult result;
  result.verdict = Verdict::correct;
  PathSet covered = tested.paths;
  const std::vector<std::int64_t> compared_with = compared_values(candidate);
  const auto refuse = [&](Verdict verdict, std::string message) {
    result.verdict = verdict;
    result.message = std::move(message);
    result.cancelled = cancellation.requested();
    return result;
  };
  for (std::size_t b = 0; b < problem_.bench.size(); ++b) {
    const auto reference = bench_reference(b, seed);
    BenchCheck check(problem_, candidate, *reference, compared_with, bench_limits(effort),
                     settings_.threads, cancellation);
    if (const Verdict verdict = check.run(); verdict != Verdict::correct) {
      return refuse(verdict, check.message());
    }
    if (cancellation.requested()) return refuse(Verdict::timeout, "cancelled");
    PathSet missing = check.ran().without(covered);
    if (!missing.empty()) {
      // Comparing at the bench size shows less than a test does: no races, one distribution.
      const PathSet before = missing;
      VerificationResult added =
          add_sizes(candidate, problem_.bench[b], compared_with, missing, seed, cancellation);
      result.runs += added.runs;
      if (!added.correct()) return refuse(added.verdict, added.message);
      covered.add(before.without(missing));
      if (!missing.without(check.compared()).empty()) {
        if (const Verdict verdict = check.insist(missing); verdict != Verdict::correct) {
          return refuse(verdict, check.message());
        }
      }
      missing = missing.without(check.compared());
    }
    result.thread_instructions += check.thread_instructions();
    result.relative_error = std::max(result.relative_error, check.relative_error());
    if (!missing.empty()) {
      return refuse(
          Verdict::unverified,
          fmt::format("at the bench size {} it takes a path that no test size takes, and what it "
                      "computes there could not be compared: {}; add a test size that takes it to "
                      "the manifest's tests",
                      symbols_text(problem_.bench[b]), describe_path(candidate, missing)));
    }
  }
  return result;
}

VerificationResult BenchVerification::add_sizes(const LoadedPlan& candidate, const Symbols& bench,
                                                const std::vector<std::int64_t>& compared_with,
                                                PathSet& paths, std::uint64_t seed,
                                                const Cancellation& cancellation) {
  VerificationResult result;
  result.verdict = Verdict::correct;
  for (const Symbols& symbols : sizes_like(problem_, bench, compared_with)) {
    const auto added = added_size(symbols, seed);
    const Result<const Case*> first = added->reference->at(0, cancellation);
    if (cancellation.requested()) {
      result.verdict = Verdict::timeout;
      result.message = "cancelled";
      return result;
    }
    if (!first.ok()) continue;  // no size for the original
    RunSettings settings;
    settings.instruction_budget = kProbeInstructions;
    settings.record_paths = true;
    const Result<KernelRun> probe =
        run_kernel(added->single, candidate, symbols, *added->reference->inputs(**first), settings,
                   cancellation);
    ++result.runs;
    if (!probe.ok() || probe->fault.kind != ptx::FaultKind::none) continue;
    PathSet taken;
    taken.add(probe->profile);
    if (paths.without(taken) == paths) continue;
    const KernelRunner runner = [&](const Symbols& sizes, const Buffers& inputs,
                                    const RunSettings& how) {
      return run_kernel(added->single, candidate, sizes, inputs, how, cancellation);
    };
    VerificationResult verified = examine(added->single, *added->reference, &candidate, runner,
                                          threads_, settings_.threads, cancellation);
    result.runs += verified.runs;
    if (!verified.correct()) {
      result.verdict = verified.verdict;
      result.message = verified.message +
                       " (a size that was added because the bench size takes paths that no test "
                       "size takes)";
      return result;
    }
    paths = paths.without(verified.paths);
    if (paths.empty()) break;
  }
  return result;
}

}  // namespace regraph::verify
