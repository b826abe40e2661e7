#include "eval/verify/bench_sample.h"

#include "base/random.h"
#include "ptx/decode/code.h"

#include <algorithm>
#include <set>
#include <utility>

namespace regraph::verify {

namespace {

// One block may take this many warp instructions: far beyond any kernel worth timing.
constexpr std::uint64_t kBlockBudget = 400'000'000;

void add_once(std::vector<std::uint64_t>& blocks, std::uint64_t block) {
  if (std::find(blocks.begin(), blocks.end(), block) == blocks.end()) blocks.push_back(block);
}

}  // namespace

std::vector<std::uint64_t> telling_blocks(const Dim3& grid, std::uint64_t seed, int drawn) {
  std::vector<std::uint64_t> blocks;
  const std::uint64_t count = grid.count();
  const Neighbourhood near = neighbourhood_of(grid);
  add_once(blocks, near.middle);
  add_once(blocks, count - 1);
  add_once(blocks, 0);
  for (const std::optional<std::uint64_t>& next : near.next)
    if (next) add_once(blocks, *next);
  const auto at = [&](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return (z * grid.y + y) * grid.x + x;
  };
  add_once(blocks, at(grid.x / 2, grid.y / 2, grid.z / 2));
  for (int corner = 0; corner < 8; ++corner) {
    add_once(blocks, at((corner & 1) != 0 ? grid.x - 1 : 0, (corner & 2) != 0 ? grid.y - 1 : 0,
                        (corner & 4) != 0 ? grid.z - 1 : 0));
  }
  for (int i = 0; i < drawn; ++i)
    add_once(blocks, random_bits(seed, i) % count);
  return blocks;
}

std::vector<std::uint64_t> representative_blocks(const Dim3& grid) {
  const std::uint64_t count = grid.count();
  if (count <= 4) {
    std::vector<std::uint64_t> all(count);
    for (std::uint64_t block = 0; block < count; ++block)
      all[block] = block;
    return all;
  }
  std::set<std::uint64_t> blocks;
  for (const double at : {0.37, 0.61}) {
    const auto x = static_cast<std::uint64_t>(at * grid.x);
    const auto y = static_cast<std::uint64_t>(at * grid.y);
    const auto z = static_cast<std::uint64_t>(at * grid.z);
    blocks.insert((z * grid.y + y) * grid.x + x);
  }
  return {blocks.begin(), blocks.end()};
}

BenchSample::BenchSample(const Problem& problem, const LoadedPlan& plan, const Symbols& symbols,
                         const BenchInputs& inputs, std::uint64_t poison_seed,
                         std::size_t pointer_offset, ThreadBudget& threads)
    : problem_(problem),
      plan_(plan),
      symbols_(symbols),
      inputs_(inputs),
      poison_seed_(poison_seed),
      pointer_offset_(pointer_offset),
      threads_(threads) {}

Result<std::unique_ptr<BenchRun>> BenchSample::fresh() const {
  return BenchRun::create(problem_, plan_, symbols_, inputs_, poison_seed_, pointer_offset_);
}

Status BenchSample::start(std::uint64_t earlier, const Cancellation& cancellation) {
  auto made = fresh();
  if (!made.ok()) return made.error();
  run_ = *std::move(made);
  const std::size_t last = run_->launches() - 1;
  if (last == 0) prepare_last();
  double before_last = 0.0;
  for (std::size_t i = 0; i <= last; ++i) {
    before_last = estimated_;
    probe(i, cancellation);
    if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
    // What later launches read was not all written here.
    if (i == 0 && fault_.kind != ptx::FaultKind::none) return {};
    fault_ = {};
  }
  const bool atomics = plan_.back().program.code().has_global_atomics;
  if (last == 0) {
    stands_alone_ = !atomics;
    return {};
  }
  records_.clear();
  spent_ = 0;
  if (before_last > static_cast<double>(earlier)) return {};
  run_.reset();
  made = fresh();
  if (!made.ok()) return made.error();
  run_ = *std::move(made);
  const Status ran = run_earlier(cancellation);
  prepare_last();
  stands_alone_ = ran.ok() && fault_.kind == ptx::FaultKind::none && !atomics;
  return ran;
}

// Blocks that others have to wait for, with atomics, see what those before them did.
void BenchSample::prepare_last() {
  if (plan_.back().program.code().has_global_atomics) return;
  ahead_ = std::make_unique<BlocksAhead>(*run_, run_->launches() - 1, kBlockBudget, threads_);
}

BlockRecord BenchSample::run_one(std::size_t launch, std::uint64_t block,
                                 const Cancellation& cancellation) {
  if (ahead_) return ahead_->take(block, cancellation);
  return run_->run_block(launch, block, kBlockBudget, cancellation);
}

void BenchSample::run_ahead(std::span<const std::uint64_t> blocks, std::uint64_t until,
                            const Cancellation& cancellation) {
  if (!ahead_) return;
  std::vector<std::uint64_t> left;
  for (const std::uint64_t one : blocks)
    if (records_.count(one) == 0) left.push_back(one);
  ahead_->run(left, until > spent_ ? until - spent_ : 1, cancellation);
}

void BenchSample::probe(std::size_t launch, const Cancellation& cancellation) {
  const Dim3& grid = run_->launch(launch).grid;
  std::vector<std::uint64_t> blocks = {neighbourhood_of(grid).middle};
  add_once(blocks, grid.count() - 1);
  add_once(blocks, 0);
  run_ahead(blocks, kBlockBudget, cancellation);
  double instructions = 0.0;
  int ran = 0;
  for (const std::uint64_t one : blocks) {
    BlockRecord record = run_one(launch, one, cancellation);
    if (record.fault.kind != ptx::FaultKind::none) {
      fault_ = std::move(record.fault);
      break;
    }
    instructions += static_cast<double>(record.warp_instructions);
    ++ran;
    // Later launches may have gone other ways than with what earlier blocks would have written.
    if (launch == 0) probed_paths_.add(record.paths);
    if (launch + 1 == run_->launches()) {
      spent_ += record.warp_instructions;
      records_.emplace(one, std::move(record));
    }
  }
  if (ran > 0) estimated_ += instructions / ran * static_cast<double>(grid.count());
}

Status BenchSample::run_earlier(const Cancellation& cancellation) {
  for (std::size_t i = 0; i + 1 < run_->launches(); ++i) {
    ptx::RunResult result = run_->run_logged(
        i, 2 * static_cast<std::uint64_t>(estimated_) + kBlockBudget, cancellation);
    if (result.fault.kind == ptx::FaultKind::cancelled) {
      return fail(ErrorCode::cancelled, "cancelled");
    }
    if (result.fault.kind != ptx::FaultKind::none) {
      fault_ = std::move(result.fault);
      return {};
    }
    earlier_paths_.add(result.profile, run_->first_instruction(i));
  }
  return {};
}

const BlockRecord& BenchSample::block(std::uint64_t block, const Cancellation& cancellation) {
  const auto found = records_.find(block);
  if (found != records_.end()) return found->second;
  BlockRecord record = run_one(run_->launches() - 1, block, cancellation);
  if (record.fault.kind == ptx::FaultKind::cancelled) return unfinished_ = std::move(record);
  spent_ += record.warp_instructions;
  return records_.emplace(block, std::move(record)).first->second;
}

std::optional<BlockMap> BenchSample::map() const {
  std::vector<const BlockRecord*> records;
  for (const auto& [number, record] : records_)
    records.push_back(&record);
  BlockMap map(grid(), problem_.arguments.size(), records);
  if (!explained_by(map)) return std::nullopt;
  return map;
}

bool BenchSample::explained_by(const BlockMap& map) const {
  return std::all_of(records_.begin(), records_.end(),
                     [&](const auto& entry) { return map.explains(entry.second); });
}

PathSet BenchSample::paths() const {
  PathSet all = probed_paths_;
  all.add(earlier_paths_);
  for (const auto& [number, record] : records_)
    all.add(record.paths);
  return all;
}

}  // namespace regraph::verify
