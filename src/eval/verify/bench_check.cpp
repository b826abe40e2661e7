#include "eval/verify/bench_check.h"

#include "base/random.h"
#include "eval/verify/compared_values.h"
#include "eval/verify/comparison.h"
#include "eval/verify/element.h"
#include "eval/verify/examination.h"
#include "eval/verify/fault_verdict.h"
#include "eval/verify/random_streams.h"
#include "eval/verify/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace regraph::verify {

namespace {

// Sampled whatever they cost: an inner block, the last and the first.
constexpr std::size_t kFewestBlocks = 3;
// Elements of each sampled block whose blocks of the original are asked for.
constexpr std::size_t kAskedElements = 3;
// A rounding analysis of the bench size would allow more than that of a test size: what is looked
// for is another path, not a lower precision, which the tests see.
constexpr double kToleranceFactor = 4.0;

// Relative errors of sums that round one way, at most: what is looked for is missing work.
constexpr double kMostOfSums = 1e-2;
// How much larger errors may be than at the test sizes.
constexpr double kTestedFactor = 8.0;

// Faults that say nothing when a block ran alone, or took too long for this check.
bool says_nothing(ptx::FaultKind kind) {
  return kind == ptx::FaultKind::instruction_budget || kind == ptx::FaultKind::deadlock ||
         kind == ptx::FaultKind::unsupported;
}

Verdict verdict_of_start(ErrorCode code) {
  if (code == ErrorCode::cancelled) return Verdict::timeout;
  // No memory on this machine says nothing about the candidate.
  return code == ErrorCode::resource ? Verdict::unverified : launch_verdict(code);
}

std::vector<std::int64_t> extents_of(const Argument& argument, const Symbols& symbols) {
  std::vector<std::int64_t> extents;
  for (const IntegerExpression& extent : argument.shape) {
    const Result<std::int64_t> value = extent.evaluate(symbols);
    extents.push_back(value.ok() ? *value : 1);
  }
  if (argument.components > 1) extents.push_back(argument.components);
  return extents;
}

}  // namespace

// A stretch of an output that both wrote, and what the original wrote there.
struct KnownElements {
  ElementRange range;
  const std::byte* expected = nullptr;
};

BenchLimits bench_limits(EvaluationBudget::Effort effort) {
  if (effort == EvaluationBudget::Effort::confirmation) return {256e6, 64'000'000, 256'000'000, 16};
  return {4e6, 5'000'000, 32'000'000, 6};
}

BenchCheck::BenchCheck(const Problem& problem, const LoadedPlan& candidate,
                       BenchReference& reference, const std::vector<std::int64_t>& compared_with,
                       BenchLimits limits, double tested_error, int threads, ThreadBudget& budget,
                       const Cancellation& cancellation)
    : problem_(problem),
      candidate_(candidate),
      reference_(reference),
      compared_with_(compared_with),
      limits_(limits),
      tested_error_(tested_error),
      threads_(threads),
      cancellation_(cancellation),
      sample_(problem, candidate, reference.symbols(), reference.inputs(),
              random_bits(reference.seed(), kCandidatePoison), pointer_offset(), budget) {}

// Timed launches have their buffers where the timing model has them.
std::size_t BenchCheck::pointer_offset() const {
  return reference_.inputs().data() == BenchData::timed ? 0 : loose_alignment(problem_);
}

double BenchCheck::tolerance_of(const Argument& argument, const Arithmetic& arithmetic) const {
  const ScalarType type = judged_type(argument);
  const double usual =
      kToleranceFactor * tolerance(type, arithmetic, problem_.check, problem_.assume);
  if (reference_.inputs().data() != BenchData::timed || usual == 0.0) return usual;
  // Long sums of any numbers: the original itself is off by as much.
  const double longest = std::min(arithmetic.reduction_length * unit_roundoff(type), kMostOfSums);
  return std::max({usual, longest, kTestedFactor * tested_error_});
}

Verdict BenchCheck::reject(Verdict verdict, const std::string& what) {
  const BenchData data = reference_.inputs().data();
  message_ = fmt::format("at the bench size {}{}: {}", symbols_text(reference_.symbols()),
                         data == BenchData::timed   ? ", on the data that is timed"
                         : data == BenchData::equal ? ", with equal integers"
                                                    : "",
                         what);
  return verdict;
}

Verdict BenchCheck::run() {
  if (const Status started = sample_.start(kEarlierInstructions, cancellation_); !started.ok()) {
    return reject(verdict_of_start(started.error().code), started.error().message);
  }
  const ptx::Fault& fault = sample_.fault();
  if (fault.kind != ptx::FaultKind::none) {
    if (says_nothing(fault.kind)) return Verdict::correct;
    return reject(verdict_of(fault.kind), describe_fault(fault));
  }
  const bool affordable = sample_.estimated_instructions() <= limits_.whole;
  if (const auto* whole = affordable ? reference_.whole(cancellation_) : nullptr) {
    return run_whole(*whole);
  }
  return run_blocks();
}

Verdict BenchCheck::run_whole(const BenchReference::Whole& whole) {
  auto made = BenchRun::create(problem_, candidate_, reference_.symbols(), reference_.inputs(),
                               random_bits(reference_.seed(), kCandidatePoison), pointer_offset());
  if (!made.ok()) return reject(verdict_of_start(made.error().code), made.error().message);
  BenchRun& run = **made;
  for (std::size_t i = 0; i < run.launches(); ++i) {
    const auto budget = static_cast<std::uint64_t>(8.0 * limits_.whole);
    const ptx::RunResult result = run.run_launch(i, budget, threads_, cancellation_);
    if (!result.ok()) {
      // Too long for this check: as if it had not been tried.
      if (result.fault.kind == ptx::FaultKind::instruction_budget && !escalated_) {
        ran_ = {};
        return run_blocks();
      }
      return reject(verdict_of(result.fault.kind), describe_fault(result.fault));
    }
    ran_.add(result.profile, run.first_instruction(i));
    thread_instructions_ += result.profile.thread_instructions;
  }
  for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (!argument.is_output()) continue;
    const std::vector<std::byte> before = run.before(i);
    const double tau = tolerance_of(argument, whole.arithmetic);
    const BufferComparison comparison =
        compare({argument, extents_of(argument, reference_.symbols()), whole.expected[i],
                 run.content(i), before, whole.untouched[i]},
                tau, whole.exact[i]);
    relative_error_ = std::max(relative_error_, comparison.relative_error);
    if (!comparison.equal) return reject(Verdict::wrong_result, comparison.message);
  }
  compared_ = ran_;
  saw_all_ = true;
  return Verdict::correct;
}

Verdict BenchCheck::run_blocks() {
  by_blocks_ = sample_.blocks_stand_alone() && reference_.by_blocks(cancellation_);
  if (const Verdict verdict = sample_blocks(); verdict != Verdict::correct) return verdict;
  if (by_blocks_) {
    if (const Verdict verdict = find_missing(); verdict != Verdict::correct) return verdict;
    OriginalBlocks blocks(reference_.sampled().begin(), reference_.sampled().end());
    for (const auto& [number, record] : sample_.blocks())
      ask_for(record.written, kAskedElements, blocks);
    const Verdict verdict = compare_blocks(blocks);
    if (verdict != Verdict::correct) return verdict;
  }
  ran_ = sample_.paths();
  return Verdict::correct;
}

Verdict BenchCheck::sample_blocks() {
  const Dim3& grid = sample_.grid();
  const std::uint64_t seed = random_bits(reference_.seed(), kCandidateBlocks);
  std::vector<std::uint64_t> wanted;
  if (reference_.inputs().data() == BenchData::timed) wanted = representative_blocks(grid);
  for (const std::uint64_t one : telling_blocks(grid, seed, 0))
    wanted.push_back(one);
  for (const std::uint64_t one : blocks_near(compared_with_, grid, sample_.block_extent()))
    wanted.push_back(one);
  for (const std::uint64_t one : telling_blocks(grid, seed, limits_.drawn_blocks))
    wanted.push_back(one);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::uint64_t one = wanted[i];
    if (sample_.blocks().size() >= kFewestBlocks && sample_.spent() > limits_.blocks) break;
    sample_.run_ahead(std::span(wanted).subspan(i), limits_.blocks, cancellation_);
    const ptx::Fault& fault = sample_.block(one, cancellation_).fault;
    if (fault.kind == ptx::FaultKind::cancelled) return reject(Verdict::timeout, "cancelled");
    const bool ignored = !sample_.blocks_stand_alone() || says_nothing(fault.kind);
    if (fault.kind != ptx::FaultKind::none && !ignored) {
      return reject(verdict_of(fault.kind), describe_fault(fault));
    }
  }
  return Verdict::correct;
}

// Whether the candidate writes what the original's sampled blocks write.
Verdict BenchCheck::find_missing() {
  std::optional<BlockMap> map = sample_.map();
  if (!map && sample_.grid() == reference_.grid() && sample_.explained_by(reference_.map())) {
    map = reference_.map();
  }
  if (!map) return leaves_out_blocks() ? escalate().value_or(Verdict::correct) : Verdict::correct;
  std::vector<Element> elements;
  for (const std::uint64_t one : reference_.sampled()) {
    const BenchReference::Block* expected = reference_.block(one, cancellation_);
    if (expected == nullptr) continue;
    spread(expected->written, kAskedElements, [&](std::uint32_t argument, std::uint64_t element) {
      elements.emplace_back(argument, element);
    });
  }
  const std::uint64_t most = limits_.blocks + limits_.blocks / 2;
  sample_.run_ahead(likely_writers(elements, *map), most, cancellation_);
  for (const auto& [argument, element] : elements) {
    if (is_written(argument, element)) continue;
    bool certain = false;
    const std::vector<std::uint64_t> owners = map->blocks_of(argument, element, &certain);
    bool found = false;
    for (const std::uint64_t owner : owners) {
      if (sample_.spent() > most) return Verdict::correct;
      found = found || holds(sample_.block(owner, cancellation_).written, argument, element);
      if (cancellation_.requested()) return reject(Verdict::timeout, "cancelled");
    }
    if (!found) return missing(argument, element, certain);
  }
  return Verdict::correct;
}

bool BenchCheck::is_written(std::uint32_t argument, std::uint64_t element) const {
  return std::any_of(sample_.blocks().begin(), sample_.blocks().end(), [&](const auto& entry) {
    return holds(entry.second.written, argument, element);
  });
}

// The first block, by `map`, for each of the elements that no block wrote yet.
std::vector<std::uint64_t> BenchCheck::likely_writers(const std::vector<Element>& elements,
                                                      const BlockMap& map) const {
  std::vector<std::uint64_t> blocks;
  for (const auto& [argument, element] : elements) {
    if (is_written(argument, element)) continue;
    const std::vector<std::uint64_t> owners = map.blocks_of(argument, element);
    if (!owners.empty()) blocks.push_back(owners.front());
  }
  return blocks;
}

// Whether an inner block wrote nothing at all, while others did.
bool BenchCheck::leaves_out_blocks() const {
  const std::uint64_t last = sample_.grid().count() - 1;
  bool some = false;
  bool none = false;
  for (const auto& [number, record] : sample_.blocks()) {
    if (number == last || record.fault.kind != ptx::FaultKind::none) continue;
    (record.written.empty() ? none : some) = true;
  }
  return some && none;
}

// Something has to be known for sure: runs all, where that can be had at all. None: it cannot.
std::optional<Verdict> BenchCheck::escalate() {
  const double most = bench_limits(EvaluationBudget::Effort::confirmation).whole;
  if (escalated_ || sample_.estimated_instructions() > most) return std::nullopt;
  escalated_ = true;
  limits_.whole = most;
  const auto* whole = reference_.whole(cancellation_);
  if (whole == nullptr) return std::nullopt;
  return run_whole(*whole);
}

// The element seems not to be written.
Verdict BenchCheck::missing(std::uint32_t argument, std::uint64_t element, bool certainly) {
  if (const std::optional<Verdict> verdict = escalate()) return *verdict;
  if (!certainly) return Verdict::correct;
  return reject(Verdict::wrong_result,
                fmt::format("'{}': element {} is written by the original, and by none of the "
                            "blocks that should write it",
                            problem_.arguments[argument].name, element));
}

// Adds the original's blocks that write some of the elements.
void BenchCheck::ask_for(const std::vector<ElementRange>& written, std::size_t elements,
                         OriginalBlocks& blocks) {
  spread(written, elements, [&](std::uint32_t argument, std::uint64_t element) {
    const std::vector<std::uint64_t> owners = reference_.blocks_of(argument, element);
    const std::uint64_t cost = (blocks.size() + 1) * reference_.instructions_a_block();
    if (!owners.empty() && cost <= limits_.references) blocks.insert(owners.front());
  });
}

// Adds the original's blocks that write all that the record's block writes; false when they cannot
// be found, or cost too much.
bool BenchCheck::ask_for_all(const BlockRecord& record, OriginalBlocks& blocks,
                             std::uint64_t& spent) {
  if (!record.all_writes_known) return false;
  std::vector<ElementRange> left = record.written;
  while (!left.empty()) {
    const ElementRange& next = left.front();
    const BenchReference::Block* found = nullptr;
    for (const std::uint64_t owner : reference_.blocks_of(next.argument, next.begin)) {
      if (spent > 4 * limits_.references) return false;
      const BenchReference::Block* block = reference_.block(owner, cancellation_);
      if (block == nullptr) return false;
      spent += block->warp_instructions;
      if (!holds(block->written, next.argument, next.begin)) continue;
      found = block;
      blocks.insert(owner);
      break;
    }
    if (found == nullptr) return false;
    left = without(left, found->written);
  }
  return true;
}

Verdict BenchCheck::compare_blocks(const OriginalBlocks& blocks) {
  std::vector<ElementRange> written;
  for (const auto& [number, record] : sample_.blocks())
    written.insert(written.end(), record.written.begin(), record.written.end());
  join(written);
  std::vector<KnownElements> known;
  reference_.run_ahead(std::vector(blocks.begin(), blocks.end()), cancellation_);
  for (const std::uint64_t one : blocks) {
    const BenchReference::Block* block = reference_.block(one, cancellation_);
    if (cancellation_.requested()) return reject(Verdict::timeout, "cancelled");
    if (block == nullptr) continue;
    const std::byte* values = block->values.data();
    auto range = block->written.begin();
    const auto size = [&] { return size_in_bytes(problem_.arguments[range->argument].type); };
    for (const ElementRange& both : common(block->written, written)) {
      for (; range->argument != both.argument || range->end < both.end; ++range)
        values += (range->end - range->begin) * size();
      known.push_back({both, values + (both.begin - range->begin) * size()});
    }
  }
  std::sort(known.begin(), known.end(),
            [](const KnownElements& a, const KnownElements& b) { return a.range < b.range; });
  if (const Verdict verdict = compare_elements(known); verdict != Verdict::correct) return verdict;
  mark_compared(known);
  return Verdict::correct;
}

Verdict BenchCheck::compare_elements(const std::vector<KnownElements>& known) {
  for (auto first = known.begin(); first != known.end();) {
    const std::uint32_t argument_index = first->range.argument;
    const Argument& argument = problem_.arguments[argument_index];
    const std::size_t size = size_in_bytes(argument.type);
    const auto last = std::find_if(first, known.end(), [&](const KnownElements& one) {
      return one.range.argument != argument_index;
    });
    const std::span<const std::byte> content = sample_.run().content(argument_index);
    std::vector<std::byte> expected;
    std::vector<std::byte> actual;
    std::vector<std::uint64_t> places;
    for (auto one = first; one != last; ++one) {
      const std::size_t bytes = (one->range.end - one->range.begin) * size;
      expected.insert(expected.end(), one->expected, one->expected + bytes);
      const auto from = content.subspan(one->range.begin * size, bytes);
      actual.insert(actual.end(), from.begin(), from.end());
      for (std::uint64_t e = one->range.begin; e < one->range.end; ++e)
        places.push_back(e);
    }
    const Arithmetic& arithmetic = reference_.block_arithmetic();
    const bool exact = reference_.exact_inputs() && !arithmetic.special_functions &&
                       exactly_representable(argument, expected, {});
    const double tau = tolerance_of(argument, arithmetic);
    const BufferComparison comparison = compare({argument,
                                                 extents_of(argument, reference_.symbols()),
                                                 expected,
                                                 actual,
                                                 {},
                                                 {},
                                                 places,
                                                 problem_.has_given_data(reference_.symbols())},
                                                tau, exact);
    relative_error_ = std::max(relative_error_, comparison.relative_error);
    if (!comparison.equal) return reject(Verdict::wrong_result, comparison.message);
    first = last;
  }
  return Verdict::correct;
}

void BenchCheck::mark_compared(const std::vector<KnownElements>& known) {
  std::vector<ElementRange> ranges;
  ranges.reserve(known.size());
  for (const KnownElements& one : known)
    ranges.push_back(one.range);
  join(ranges);
  for (const auto& [number, record] : sample_.blocks()) {
    const bool all = record.fault.kind == ptx::FaultKind::none && record.all_writes_known &&
                     without(record.written, ranges).empty();
    if (!all) continue;
    done_.insert(number);
    compared_.add(record.paths);
    compared_.add(sample_.earlier_paths());
  }
}

Verdict BenchCheck::insist(const PathSet& paths) {
  if (!by_blocks_) return escalate().value_or(Verdict::correct);
  OriginalBlocks blocks;
  std::uint64_t spent = 0;
  PathSet left = paths.without(compared_);
  // Blocks with little to compare first.
  std::vector<const BlockRecord*> records;
  for (const auto& [number, record] : sample_.blocks())
    if (done_.count(number) == 0) records.push_back(&record);
  std::stable_sort(records.begin(), records.end(), [](const auto* a, const auto* b) {
    return element_count(a->written) < element_count(b->written);
  });
  for (const BlockRecord* record : records) {
    const PathSet rest = left.without(record->paths);
    if (rest == left || !ask_for_all(*record, blocks, spent)) continue;
    left = rest;
  }
  const Verdict verdict = blocks.empty() ? Verdict::correct : compare_blocks(blocks);
  if (verdict != Verdict::correct || paths.without(compared_).empty()) return verdict;
  return escalate().value_or(Verdict::correct);
}

}  // namespace regraph::verify
