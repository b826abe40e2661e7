// What the original does at one bench size, worked out as far as candidates ask.
#pragma once

#include "base/cancellation.h"
#include "base/thread_budget.h"
#include "eval/verify/bench_sample.h"
#include "eval/verify/comparison.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/problem.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace regraph::verify {

struct BenchReferenceSettings {
  std::optional<double> reduction_length;  // as in ReferenceSettings
  bool divides_floats = false;
  int threads = 1;
};

class BenchReference {
 public:
  // All references must outlive this.
  BenchReference(const Problem& problem, const LoadedPlan& original, const Symbols& symbols,
                 BenchReferenceSettings settings, std::uint64_t seed, ThreadBudget& budget,
                 BenchData data = BenchData::exact);

  [[nodiscard]] const Symbols& symbols() const { return symbols_; }
  [[nodiscard]] const BenchInputs& inputs() const { return inputs_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  // The whole launch plan's outputs.
  struct Whole {
    Buffers expected;                                  // per argument
    std::vector<std::vector<std::uint8_t>> untouched;  // as in Case
    std::vector<bool> exact;
    Arithmetic arithmetic;
    std::uint64_t warp_instructions = 0;
  };
  // Null: it would take too long or too much memory, fails, was cancelled, or tells nothing, as
  // long sums of halves that threads add up in any order.
  const Whole* whole(const Cancellation& cancellation);

  // What the original did wrong, after whole() came to nothing; empty: nothing that is known.
  [[nodiscard]] std::string fault_text();

  // Whether single blocks of the last launch can be compared, and are known by what they write.
  bool by_blocks(const Cancellation& cancellation);

  // What one block of the last launch writes.
  struct Block {
    std::vector<ElementRange> written;
    std::vector<std::byte> values;  // of those elements, in order
    std::uint64_t warp_instructions = 0;
  };
  // The rest, once by_blocks said yes. Blocks that are compared whatever a candidate does.
  [[nodiscard]] const std::vector<std::uint64_t>& sampled() const { return sampled_; }
  [[nodiscard]] std::vector<std::uint64_t> blocks_of(std::uint32_t argument,
                                                     std::uint64_t element) const {
    return map_->blocks_of(argument, element);
  }
  [[nodiscard]] const BlockMap& map() const { return *map_; }
  [[nodiscard]] const Dim3& grid() const { return sample_->grid(); }
  // Warp instructions of a block, without running it.
  [[nodiscard]] std::uint64_t instructions_a_block() const { return block_instructions_; }
  // Null: it fails, or was cancelled. Valid as long as the reference.
  const Block* block(std::uint64_t block, const Cancellation& cancellation);
  // Says that block() will be asked for these: threads to spare run them. No result depends on it.
  void run_ahead(std::span<const std::uint64_t> blocks, const Cancellation& cancellation);
  [[nodiscard]] const Arithmetic& block_arithmetic() const { return block_arithmetic_; }
  [[nodiscard]] bool exact_inputs() const {
    return inputs_.data() != BenchData::timed && !settings_.divides_floats &&
           !problem_.has_given_data(symbols_);
  }

 private:
  bool start(const Cancellation& cancellation);
  bool learn(const Cancellation& cancellation);
  bool run_whole(const Cancellation& cancellation);

  const Problem& problem_;
  const LoadedPlan& original_;
  const Symbols& symbols_;
  BenchReferenceSettings settings_;
  std::uint64_t seed_;
  ThreadBudget& budget_;
  BenchInputs inputs_;

  std::mutex mutex_;  // guards all below, until they are handed out
  std::unique_ptr<BenchSample> sample_;
  std::optional<bool> started_;
  std::optional<bool> by_blocks_;
  std::optional<bool> ran_whole_;
  Whole whole_;
  std::string fault_text_;
  std::vector<std::uint64_t> sampled_;
  std::optional<BlockMap> map_;
  std::uint64_t block_instructions_ = 0;
  Arithmetic block_arithmetic_;
  std::map<std::uint64_t, std::optional<Block>> blocks_;
};

}  // namespace regraph::verify
