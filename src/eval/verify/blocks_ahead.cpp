#include "eval/verify/blocks_ahead.h"

#include <algorithm>
#include <utility>

namespace regraph::verify {

namespace {

// What a block may have written to wait for being taken.
constexpr std::size_t kMostWritten = std::size_t{4} << 20;
// Scattered writes of all blocks that are remembered.
constexpr std::size_t kMostRanges = std::size_t{1} << 20;

std::uint64_t bytes_of(const ptx::AddressLog& log) {
  std::uint64_t bytes = 0;
  for (const ptx::AddressLog::Range& range : log.ranges)
    bytes += range.end - range.begin;
  return bytes;
}

// Whether all that was logged was also written: an access that faults is logged before.
bool wrote_what_it_logged(ptx::FaultKind kind) {
  return kind == ptx::FaultKind::none || kind == ptx::FaultKind::instruction_budget ||
         kind == ptx::FaultKind::deadlock;
}

}  // namespace

void WrittenAddresses::add(const ptx::AddressLog& writes) {
  ranges_.insert(ranges_.end(), writes.ranges.begin(), writes.ranges.end());
  joined_ = joined_ && writes.ranges.empty();
  if (ranges_.size() > kMostRanges) join();
}

void WrittenAddresses::join() {
  if (joined_) return;
  joined_ = true;
  std::sort(ranges_.begin(), ranges_.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const ptx::AddressLog::Range& one : ranges_) {
    if (kept > 0 && ranges_[kept - 1].end >= one.begin) {
      ranges_[kept - 1].end = std::max(ranges_[kept - 1].end, one.end);
    } else {
      ranges_[kept++] = one;
    }
  }
  ranges_.resize(kept);
}

bool WrittenAddresses::meet(const ptx::AddressLog& reads) {
  if (reads.ranges.empty()) return false;  // the usual case, which needs no order
  join();
  return std::any_of(reads.ranges.begin(), reads.ranges.end(), [&](const auto& read) {
    const auto next =
        std::upper_bound(ranges_.begin(), ranges_.end(), read.begin,
                         [](std::uint64_t at, const auto& one) { return at < one.end; });
    return next != ranges_.end() && next->begin < read.end;
  });
}

BlocksAhead::BlocksAhead(BenchRun& run, std::size_t launch, std::uint64_t budget,
                         ThreadBudget& threads)
    : run_(run), launch_(launch), budget_(budget), threads_(threads) {
  if (!threads.divides()) give_up();
}

void BlocksAhead::give_up() {
  given_up_ = true;
}

void BlocksAhead::run(std::span<const std::uint64_t> blocks, std::uint64_t most,
                      const Cancellation& cancellation) {
  if (given_up_ || !threads_.any_to_spare() || blocks.empty() || done_.count(blocks[0]) > 0) return;
  std::vector<std::uint64_t> left;
  for (const std::uint64_t one : blocks) {
    const bool known =
        done_.count(one) > 0 || std::find(left.begin(), left.end(), one) != left.end();
    if (!known) left.push_back(one);
  }
  if (left.size() < 2) return;
  std::vector<std::optional<Done>> done(left.size());
  std::atomic<std::uint64_t> spent{0};
  std::atomic<bool> stopped{false};
  threads_.for_each_index(left.size(), [&](std::size_t i) {
    if (stopped || spent >= most) return;
    done[i] = run_beside(left[i], cancellation);
    // Who asked for the blocks will hardly get past a fault.
    if (!done[i] || done[i]->trace.record.fault.kind != ptx::FaultKind::none) stopped = true;
    if (done[i]) spent += done[i]->trace.record.warp_instructions;
  });
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (done[i]) done_.emplace(left[i], *std::move(done[i]));
  }
}

std::unique_ptr<BlocksAhead::Memory> BlocksAhead::borrow_memory() {
  {
    const std::lock_guard lock(mutex_);
    if (!memories_.empty()) {
      std::unique_ptr<Memory> memory = std::move(memories_.back());
      memories_.pop_back();
      return memory;
    }
  }
  auto run = run_.beside();
  if (!run.ok()) return nullptr;
  auto memory = std::make_unique<Memory>();
  memory->run = *std::move(run);
  return memory;
}

std::optional<BlocksAhead::Done> BlocksAhead::run_beside(std::uint64_t block,
                                                         const Cancellation& cancellation) {
  std::unique_ptr<Memory> memory = borrow_memory();
  if (memory == nullptr) {
    give_up();
    return std::nullopt;
  }
  Done done;
  done.trace = memory->run->trace_block(launch_, block, budget_, true, cancellation);
  // It runs again when it is taken: for its fault, or to find that the caller gave up.
  if (!wrote_what_it_logged(done.trace.record.fault.kind)) return std::nullopt;
  const bool small = !done.trace.writes.full && bytes_of(done.trace.writes) <= kMostWritten;
  if (!small || done.trace.reads.full || memory->written.meet(done.trace.reads)) {
    give_up();
    return std::nullopt;
  }
  done.values = memory->run->values(done.trace.writes);
  memory->written.add(done.trace.writes);
  const std::lock_guard lock(mutex_);
  memories_.push_back(std::move(memory));
  return done;
}

void BlocksAhead::wrote(const ptx::AddressLog& writes) {
  if (given_up_) return;
  written_.add(writes);
  if (writes.full || written_.ranges() > kMostRanges) give_up();
}

BlockRecord BlocksAhead::take(std::uint64_t block, const Cancellation& cancellation) {
  if (auto found = done_.extract(block); !found.empty() && !given_up_) {
    Done& done = found.mapped();
    if (!written_.meet(done.trace.reads)) {
      run_.write(done.trace.writes, done.values);
      wrote(done.trace.writes);
      return std::move(done.trace.record);
    }
    give_up();
  }
  BlockTrace trace = run_.trace_block(launch_, block, budget_, false, cancellation);
  wrote(trace.writes);
  return std::move(trace.record);
}

}  // namespace regraph::verify
