#include "eval/verify/bench_verification.h"

#include "base/ordered_loop.h"
#include "eval/verify/added_sizes.h"
#include "eval/verify/bench_check.h"
#include "eval/verify/branch_search.h"
#include "eval/verify/compared_values.h"
#include "eval/verify/examination.h"
#include "eval/verify/untaken_branches.h"
#include "ptx/decode/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::verify {

namespace {

// Kept for other candidates: bench sizes of a few seeds, and sizes that were added.
constexpr std::size_t kBenchData = 3;
constexpr std::size_t kKeptBenchReferences = 4 * kBenchData;
constexpr std::size_t kKeptSizes = 48;
// Warp instructions that a candidate may take at an added size.
constexpr std::uint64_t kProbeInstructions = 16'000'000;
// The original may take longer there, some tenths of a second.
constexpr std::uint64_t kAddedSizeInstructions = 64'000'000;
// Sizes that are looked at side by side; the first of them often is enough.
constexpr std::size_t kProbedAtOnce = 4;

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

// One check: a bench size and what its buffers hold.
struct Task {
  std::size_t bench = 0;
  BenchData data = BenchData::exact;
  std::shared_ptr<BenchReference> reference = {};
  std::unique_ptr<BenchCheck> check = {};
  Verdict verdict = Verdict::correct;
};

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
                                                                   BenchData data,
                                                                   std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  return recall(bench_references_, std::tuple(bench, data, seed),
                std::max(kKeptBenchReferences, kBenchData * problem_.bench.size()), [&] {
                  const BenchReferenceSettings settings = {
                      settings_.reduction_length, settings_.divides_floats, settings_.threads};
                  return std::make_shared<BenchReference>(
                      problem_, original_, problem_.bench[bench], settings, seed, threads_, data);
                });
}

std::shared_ptr<BenchVerification::AddedSize> BenchVerification::added_size(const Symbols& symbols,
                                                                            std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  return recall(added_, std::pair(symbols, seed), kKeptSizes, [&] {
    auto added = std::make_shared<AddedSize>(problem_, symbols);
    ReferenceSettings settings = settings_;
    settings.instruction_budget = kAddedSizeInstructions;
    added->reference =
        std::make_unique<Reference>(added->single, original_, std::move(settings), seed);
    return added;
  });
}

Error BenchVerification::no_result(BenchReference& reference) {
  const std::string at = symbols_text(reference.symbols());
  if (const std::string fault = reference.fault_text(); !fault.empty()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the original has no result at a test size, and at {} it fails: {}", at,
                            fault));
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("the original has no result at a test size, and at {} it is too large "
                          "to be compared; capture a second run with smaller arguments, too",
                          at));
}

Result<Arithmetic> BenchVerification::arithmetic(std::uint64_t seed,
                                                 const Cancellation& cancellation) {
  const auto reference = bench_reference(0, BenchData::exact, seed);
  if (reference->by_blocks(cancellation)) return reference->block_arithmetic();
  if (const BenchReference::Whole* whole = reference->whole(cancellation)) return whole->arithmetic;
  if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
  return no_result(*reference);
}

Status BenchVerification::check_original(std::uint64_t seed, const Cancellation& cancellation) {
  for (std::size_t b = 0; b < problem_.bench.size(); ++b) {
    const auto reference = bench_reference(b, BenchData::exact, seed);
    if (reference->by_blocks(cancellation) || reference->whole(cancellation) != nullptr) continue;
    if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
    return no_result(*reference);
  }
  return {};
}

VerificationResult BenchVerification::verify(const LoadedPlan& candidate,
                                             const VerificationResult& tested, std::uint64_t seed,
                                             EvaluationBudget::Effort effort,
                                             const Cancellation& cancellation) {
  VerificationResult result;
  result.verdict = Verdict::correct;
  PathSet covered = tested.paths;
  const Request request = {candidate, compared_values(candidate), seed, cancellation};
  std::vector<Task> tasks;
  for (std::size_t b = 0; b < problem_.bench.size(); ++b) {
    tasks.push_back({b, BenchData::exact});
    // Captured data is what is timed and compared.
    if (problem_.captured_at(problem_.bench[b]) == nullptr && !problem_.has_files())
      tasks.push_back({b, BenchData::timed});
    if (has_equal_data(problem_)) tasks.push_back({b, BenchData::equal});
  }
  std::vector<PathSet> compared(tasks.size());
  std::set<std::size_t> sampled;
  // Checks do not need each other's results; what they leave open is settled in order.
  const auto run = [&](std::size_t i) {
    Task& task = tasks[i];
    task.reference = bench_reference(task.bench, task.data, seed);
    task.check = std::make_unique<BenchCheck>(
        problem_, candidate, *task.reference, request.compared_with, bench_limits(effort),
        tested.relative_error, settings_.threads, threads_, cancellation);
    task.verdict = task.check->run();
  };
  for_each_in_order(threads_, tasks.size(), run, [&](std::size_t i) {
    const std::unique_ptr<BenchCheck> check = std::move(tasks[i].check);
    VerificationResult one;
    if (tasks[i].verdict != Verdict::correct) {
      one.verdict = tasks[i].verdict;
      one.message = check->message();
    } else {
      one = settle(request, problem_.bench[tasks[i].bench], *check, covered);
      compared[i] = check->compared();
      if (!check->saw_all()) sampled.insert(tasks[i].bench);
    }
    result.verdict = one.verdict;
    result.message = std::move(one.message);
    result.runs += one.runs;
    result.thread_instructions += one.thread_instructions;
    result.relative_error = std::max(result.relative_error, one.relative_error);
    covered.add(compared[i]);
    return result.correct();
  });
  result.sampled_sizes = sampled.size();
  if (result.correct()) look_behind_branches(request, covered, true, result);
  result.cancelled = !result.correct() && cancellation.requested();
  return result;
}

VerificationResult BenchVerification::look_behind_branches(const LoadedPlan& candidate,
                                                           const VerificationResult& tested,
                                                           std::uint64_t seed,
                                                           const Cancellation& cancellation) {
  VerificationResult result;
  result.verdict = Verdict::correct;
  PathSet covered = tested.paths;
  look_behind_branches({candidate, {}, seed, cancellation}, covered, false, result);
  result.cancelled = !result.correct() && cancellation.requested();
  return result;
}

void BenchVerification::look_behind_branches(const Request& request, PathSet& covered,
                                             bool knows_bench, VerificationResult& result) {
  std::vector<UntakenBranch> branches = untaken_branches(request.candidate, covered);
  const BranchSearch found =
      search_branches(problem_, request.candidate, branches, original_numbers());
  PathSet wanted = other_ways(request.candidate, branches);
  const auto take = [&](const VerificationResult& one, const char* why) {
    result.runs += one.runs;
    result.thread_instructions += one.thread_instructions;
    covered.add(one.paths);
    if (one.correct()) return true;
    result.verdict = one.verdict;
    result.message = one.message + why;
    return false;
  };
  std::vector<UntakenBranch> open = found.open;
  for (const BranchSize& size : found.sizes) {
    const Probe one = probe(request, size.symbols);
    if (!one.ran && size.is_telling) open.push_back(size.branch);
    const bool takes_some = one.faulted || wanted.without(one.taken) != wanted;
    if (!one.ran || !takes_some) continue;
    if (!take(examine_at(request, *one.size->reference, CaseChoice::as_given),
              " (a size that was added because a branch of the kernel was not taken at any other)"))
      return;
  }
  if (!found.cases.empty()) {
    Reference reference(problem_, original_, settings_, request.seed, found.cases);
    if (!take(examine_at(request, reference, CaseChoice::all),
              " (inputs that were added because the original does not know these numbers)"))
      return;
  }
  branches = untaken_branches(request.candidate, covered);
  for (const UntakenBranch& one : open) {
    if (one.needs_large_size && !knows_bench) continue;
    const bool still = std::ranges::any_of(branches, [&](const UntakenBranch& other) {
      return other.launch == one.launch && other.instruction == one.instruction;
    });
    if (still) result.untaken.push_back(one.text());
  }
}

const KernelNumbers& BenchVerification::original_numbers() {
  const std::lock_guard lock(mutex_);
  if (!original_numbers_) original_numbers_ = numbers_of(original_);
  return *original_numbers_;
}

VerificationResult BenchVerification::examine_at(const Request& request, Reference& reference,
                                                 CaseChoice choice) {
  const KernelRunner runner = [&](const Problem& problem, const Symbols& sizes,
                                  const Buffers& inputs, const RunSettings& how) {
    return run_kernel(problem, request.candidate, sizes, inputs, how, request.cancellation);
  };
  return examine(reference, &request.candidate, runner, threads_, settings_.threads,
                 request.cancellation, choice);
}

VerificationResult BenchVerification::settle(const Request& request, const Symbols& bench,
                                             BenchCheck& check, PathSet& covered) {
  VerificationResult result;
  const auto refuse = [&](Verdict verdict, std::string message) {
    result.verdict = verdict;
    result.message = std::move(message);
    return result;
  };
  if (request.cancellation.requested()) return refuse(Verdict::timeout, "cancelled");
  PathSet missing = check.ran().without(covered);
  if (!missing.empty()) {
    // Comparing at the bench size shows less than a test does: no races, one distribution.
    const PathSet before = missing;
    VerificationResult added = add_sizes(request, bench, missing);
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
  result.relative_error = check.relative_error();
  if (!missing.empty()) {
    return refuse(
        Verdict::unverified,
        fmt::format("at the bench size {} it takes a path that no test size takes, and what it "
                    "computes there could not be compared: {}; add a test size that takes it to "
                    "the manifest's tests",
                    symbols_text(bench), describe_path(request.candidate, missing)));
  }
  result.verdict = Verdict::correct;
  return result;
}

VerificationResult BenchVerification::add_sizes(const Request& request, const Symbols& bench,
                                                PathSet& paths) {
  VerificationResult result;
  result.verdict = Verdict::correct;
  const std::vector<Symbols> sizes = sizes_like(problem_, bench, request.compared_with);
  bool ended = false;
  for (std::size_t begin = 0; begin < sizes.size() && !ended; begin += kProbedAtOnce) {
    std::vector<Probe> probes(std::min(kProbedAtOnce, sizes.size() - begin));
    for_each_in_order(
        threads_, probes.size(),
        [&](std::size_t i) { probes[i] = probe(request, sizes[begin + i]); },
        [&](std::size_t i) {
          ended = !add_size(request, probes[i], paths, result);
          return !ended;
        });
  }
  return result;
}

BenchVerification::Probe BenchVerification::probe(const Request& request, const Symbols& symbols) {
  Probe probe;
  probe.size = added_size(symbols, request.seed);
  const Result<const Case*> first = probe.size->reference->at(0, request.cancellation);
  if (!first.ok()) return probe;
  RunSettings settings;
  settings.instruction_budget = kProbeInstructions;
  settings.record_paths = true;
  const Result<KernelRun> run =
      run_kernel(probe.size->single, request.candidate, symbols,
                 *probe.size->reference->inputs(**first), settings, request.cancellation);
  probe.ran = true;
  probe.faulted = run.ok() && run->fault.kind != ptx::FaultKind::none;
  if (run.ok() && !probe.faulted) probe.taken.add(run->profile);
  return probe;
}

bool BenchVerification::add_size(const Request& request, const Probe& probe, PathSet& paths,
                                 VerificationResult& result) {
  if (request.cancellation.requested()) {
    result.verdict = Verdict::timeout;
    result.message = "cancelled";
    return false;
  }
  if (!probe.ran) return true;  // no size for the original
  ++result.runs;
  if (paths.without(probe.taken) == paths) return true;
  const VerificationResult verified =
      examine_at(request, *probe.size->reference, CaseChoice::as_given);
  result.runs += verified.runs;
  if (!verified.correct()) {
    result.verdict = verified.verdict;
    result.message = verified.message +
                     " (a size that was added because the bench size takes paths that no test "
                     "size takes)";
    return false;
  }
  paths = paths.without(verified.paths);
  return !paths.empty();
}

}  // namespace regraph::verify
