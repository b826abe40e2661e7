// What the original computes at a bench size, on the GPU: the yardstick for the outputs of timed
// launches. It stays in this process; no candidate's process ever holds it.
#pragma once

#include "eval/gpu/timing/bench_memory.h"
#include "eval/verify/comparison.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace regraph::gpu {

// The words that the worker's poison kernel writes, from the same seed.
void fill_as_device(std::span<std::byte> buffer, std::uint64_t seed);

// Which elements of `size` bytes nothing wrote: those that hold the poison of `seed` after one
// launch and that of `other_seed` after another (1). Of bytes one in 256 has the same poison both
// times, and may hold it because it was written: it is left open (2). Empty where there are none.
[[nodiscard]] std::vector<std::uint8_t> untouched_elements(std::span<const std::byte> once,
                                                           std::uint64_t seed,
                                                           std::span<const std::byte> again,
                                                           std::uint64_t other_seed,
                                                           std::size_t size);

// Decides what is open in `marks` by one more launch, after which the buffer holds `later`, with
// the poison of `later_seed`. Returns whether anything still is.
bool decide_untouched(std::vector<std::uint8_t>& marks, std::uint64_t seed,
                      std::span<const std::byte> later, std::uint64_t later_seed, std::size_t size);

// The terms that are summed into one output element at `symbols`, for tolerances: from the
// manifest's flops where given, else from those of a test size, which grow as sizes do.
[[nodiscard]] double reduction_length_at(const Problem& problem, const Symbols& symbols,
                                         const Symbols& test, double test_reduction_length);

// The most that these may be: every size may be one that is summed over.
[[nodiscard]] double longest_reduction_at(const Problem& problem, const Symbols& symbols,
                                          const Symbols& test, double test_reduction_length);

// One launch as it is timed, and what it left behind. `poison_seed`: of the outputs before.
[[nodiscard]] Result<verify::Buffers, Failure> run_as_timed(
    GpuProcess& process, BenchMemory& memory, const TimedPlan& plan, int set, RaceSide side,
    std::uint64_t poison_seed, double timeout_seconds, const Cancellation& stop);

class BenchReference {
 public:
  // `original` by input set, on the incumbent's side.
  [[nodiscard]] static Result<BenchReference, Failure> create(
      GpuProcess& process, BenchMemory& memory, const Problem& problem,
      const std::vector<TimedPlan>& original, const verify::Arithmetic& arithmetic,
      std::uint64_t seed, double timeout_seconds, const Cancellation& stop);

  // Input sets of which the outputs are known: the first ones.
  [[nodiscard]] int sets() const { return static_cast<int>(expected_.size()); }

  enum class Exactness : std::uint8_t { to_rounding, bit_for_bit };

  // Whether no output of the original can have been rounded: all are exactly representable with
  // room for partial sums, or integers.
  [[nodiscard]] bool is_exact() const;

  [[nodiscard]] const Symbols& symbols() const { return symbols_; }
  // What the original computed on input set `set`, and per argument the elements (1) that it does
  // not write; empty where it writes all.
  [[nodiscard]] const verify::Buffers& expected(int set) const {
    return expected_[static_cast<std::size_t>(set)];
  }
  [[nodiscard]] const std::vector<std::vector<std::uint8_t>>& untouched() const {
    return untouched_;
  }
  // One set, with these outputs in place of the original's own.
  [[nodiscard]] BenchReference with(verify::Buffers expected) const;
  // How the original's own outputs on the first set differ from those of `other`; nothing when they
  // do not.
  [[nodiscard]] std::optional<std::string> difference_from(const BenchReference& other) const {
    return other.difference(expected_.front(), 0, first_poison_);
  }

  // What is wrong with the outputs of a launch on input set `set`, whose outputs held the poison of
  // `poison_seed` before; nothing when they are the original's. Thread-safe.
  [[nodiscard]] std::optional<std::string> difference(
      const verify::Buffers& outputs, int set, std::uint64_t poison_seed,
      Exactness exactness = Exactness::to_rounding) const;

 private:
  const Problem* problem_ = nullptr;
  Symbols symbols_;
  verify::Arithmetic arithmetic_;
  std::vector<verify::Buffers> expected_;
  std::uint64_t first_poison_ = 0;                    // what the first set's outputs held before
  std::vector<std::vector<std::uint8_t>> untouched_;  // per argument: not written by the original
};

}  // namespace regraph::gpu
