#include "eval/verify/bench_reference.h"

#include "base/random.h"
#include "eval/verify/float_work.h"
#include "eval/verify/random_streams.h"
#include "eval/verify/reference.h"

#include <algorithm>
#include <utility>

namespace regraph::verify {

namespace {

// The original may take this many warp instructions as a whole: a second or two, once a run.
constexpr double kWholeInstructions = 256e6;
constexpr std::uint64_t kWholeBytes = std::uint64_t{64} << 20;
// Blocks that are always known may take this many; at least three are.
constexpr std::uint64_t kSampledInstructions = 48'000'000;
constexpr std::size_t kFewestSampled = 3;
constexpr int kDrawnBlocks = 8;

}  // namespace

BenchReference::BenchReference(const Problem& problem, const LoadedPlan& original,
                               const Symbols& symbols, BenchReferenceSettings settings,
                               std::uint64_t seed, ThreadBudget& budget, BenchData data)
    : problem_(problem),
      original_(original),
      symbols_(symbols),
      settings_(settings),
      seed_(seed),
      budget_(budget),
      inputs_(problem, symbols, seed, data) {}

bool BenchReference::start(const Cancellation& cancellation) {
  if (started_) return *started_;
  sample_ = std::make_unique<BenchSample>(problem_, original_, symbols_, inputs_,
                                          random_bits(seed_, kBenchPoison), 0, budget_);
  const Status status = sample_->start(kEarlierInstructions, cancellation);
  if (cancellation.requested()) return false;
  if (status.ok()) fault_text_ = sample_->fault().message;
  started_ = status.ok() && sample_->fault().kind == ptx::FaultKind::none;
  return *started_;
}

const BenchReference::Whole* BenchReference::whole(const Cancellation& cancellation) {
  const std::lock_guard lock(mutex_);
  if (!ran_whole_) {
    const bool ran = start(cancellation) &&
                     sample_->estimated_instructions() <= kWholeInstructions &&
                     sample_->run().writable_bytes() <= kWholeBytes && run_whole(cancellation);
    if (cancellation.requested()) return nullptr;
    ran_whole_ = ran;
  }
  return *ran_whole_ ? &whole_ : nullptr;
}

std::string BenchReference::fault_text() {
  const std::lock_guard lock(mutex_);
  return fault_text_;
}

bool BenchReference::run_whole(const Cancellation& cancellation) {
  auto made =
      BenchRun::create(problem_, original_, symbols_, inputs_, random_bits(seed_, kBenchPoison), 0);
  if (!made.ok()) return false;
  BenchRun& run = **made;
  std::vector<std::vector<std::uint8_t>> written(problem_.arguments.size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    // Of an inout buffer all elements count: what is left alone holds its input.
    if (argument.is_output() && argument.direction == Direction::out) {
      written[i].resize(run.content(i).size() / size_in_bytes(argument.type));
    }
  }
  ptx::Profile profile;
  for (std::size_t i = 0; i < run.launches(); ++i) {
    // Estimates may be off where blocks differ.
    const auto budget = static_cast<std::uint64_t>(2.0 * kWholeInstructions);
    ptx::RunResult result = run.run_launch(i, budget, settings_.threads, written, cancellation);
    if (!result.ok()) {
      if (result.fault.kind != ptx::FaultKind::instruction_budget &&
          result.fault.kind != ptx::FaultKind::cancelled)
        fault_text_ = result.fault.message;
      return false;
    }
    for (const ptx::InstructionProfile& one : result.profile.instructions) {
      whole_.warp_instructions += one.warp_executions;
      profile.instructions.push_back(one);
    }
  }
  if (inputs_.data() == BenchData::equal &&
      float_work(original_, profile).sums_halves_in_any_order) {
    return false;
  }
  whole_.expected.resize(written.size());
  whole_.untouched.resize(written.size());
  whole_.exact.resize(written.size());
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (!problem_.arguments[i].is_output()) continue;
    const auto content = run.content(i);
    whole_.expected[i].assign(content.begin(), content.end());
    elements += content.size() / size_in_bytes(problem_.arguments[i].type);
    for (std::uint8_t& one : written[i])
      one = one == 0 ? 1 : 0;
    const auto left_alone = std::count(written[i].begin(), written[i].end(), 1);
    elements -= static_cast<std::uint64_t>(left_alone);
    if (left_alone > 0) whole_.untouched[i] = std::move(written[i]);
  }
  whole_.arithmetic = arithmetic_of(profile, elements);
  if (settings_.reduction_length) whole_.arithmetic.reduction_length = *settings_.reduction_length;
  for (std::size_t i = 0; i < whole_.expected.size(); ++i) {
    whole_.exact[i] =
        problem_.arguments[i].is_output() && exact_inputs() &&
        !whole_.arithmetic.special_functions &&
        exactly_representable(problem_.arguments[i], whole_.expected[i], whole_.untouched[i]);
  }
  return true;
}

bool BenchReference::by_blocks(const Cancellation& cancellation) {
  const std::lock_guard lock(mutex_);
  if (!by_blocks_) {
    const bool can = start(cancellation) && sample_->blocks_stand_alone() && learn(cancellation);
    if (cancellation.requested()) return false;
    by_blocks_ = can;
  }
  return *by_blocks_;
}

bool BenchReference::learn(const Cancellation& cancellation) {
  const std::uint64_t before = sample_->spent();
  std::uint64_t blocks = 0;
  std::vector<std::uint64_t> wanted;
  if (inputs_.data() == BenchData::timed) wanted = representative_blocks(sample_->grid());
  for (const std::uint64_t one :
       telling_blocks(sample_->grid(), random_bits(seed_, kBenchBlocks), kDrawnBlocks))
    wanted.push_back(one);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::uint64_t one = wanted[i];
    const bool enough = sample_->blocks().size() >= kFewestSampled + 2;
    if (enough && sample_->spent() - before > kSampledInstructions) break;
    sample_->run_ahead(std::span(wanted).subspan(i), before + kSampledInstructions, cancellation);
    const BlockRecord& record = sample_->block(one, cancellation);
    if (record.fault.kind != ptx::FaultKind::none || !record.all_writes_known) return false;
    block_instructions_ += record.warp_instructions;
    ++blocks;
    sampled_.push_back(one);
  }
  block_instructions_ /= std::max<std::uint64_t>(blocks, 1);
  map_ = sample_->map();
  if (!map_) return false;
  const BlockRecord& middle =
      sample_->block(neighbourhood_of(sample_->grid()).middle, cancellation);
  block_arithmetic_ = arithmetic_of(middle.profile, element_count(middle.written));
  if (settings_.reduction_length) block_arithmetic_.reduction_length = *settings_.reduction_length;
  return true;
}

void BenchReference::run_ahead(std::span<const std::uint64_t> blocks,
                               const Cancellation& cancellation) {
  const std::lock_guard lock(mutex_);
  sample_->run_ahead(blocks, ~std::uint64_t{0}, cancellation);
}

const BenchReference::Block* BenchReference::block(std::uint64_t block,
                                                   const Cancellation& cancellation) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(block);
  if (found != blocks_.end()) return found->second ? &*found->second : nullptr;
  const BlockRecord& record = sample_->block(block, cancellation);
  if (record.fault.kind == ptx::FaultKind::cancelled) return nullptr;
  std::optional<Block>& kept = blocks_[block];
  if (record.fault.kind != ptx::FaultKind::none || !record.all_writes_known) return nullptr;
  kept.emplace();
  kept->written = record.written;
  kept->warp_instructions = record.warp_instructions;
  for (const ElementRange& range : record.written) {
    const std::size_t size = size_in_bytes(problem_.arguments[range.argument].type);
    const auto bytes = sample_->run()
                           .content(range.argument)
                           .subspan(static_cast<std::size_t>(range.begin) * size,
                                    static_cast<std::size_t>(range.end - range.begin) * size);
    kept->values.insert(kept->values.end(), bytes.begin(), bytes.end());
  }
  return &*kept;
}

}  // namespace regraph::verify
