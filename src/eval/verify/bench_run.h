// A launch plan at the size at which it is timed, run as far as is wanted: buffers are as large as
// they are then, but backed only where blocks touch them.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/verify/bench_inputs.h"
#include "eval/verify/element_ranges.h"
#include "eval/verify/kernel_run.h"
#include "eval/verify/loaded_plan.h"
#include "eval/verify/path_set.h"
#include "kernel/problem.h"
#include "ptx/address_log.h"
#include "ptx/interpreter.h"
#include "ptx/memory/module_memory.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace regraph::verify {

// What one block did.
struct BlockRecord {
  std::uint64_t block = 0;
  ptx::Fault fault;  // with one, the rest is empty
  std::uint64_t warp_instructions = 0;
  ptx::Profile profile;
  PathSet paths;                      // numbered as in the whole plan
  std::vector<ElementRange> written;  // of outputs; sorted, apart
  bool all_writes_known = true;       // false: there were too many to write down
};

// What one block did to global memory, too.
struct BlockTrace {
  BlockRecord record;
  ptx::AddressLog writes;
  ptx::AddressLog reads;  // of memory that may be written
};

class BenchRun {
 public:
  // `plan` and `problem` must outlive the run. Errors: as run_kernel.
  [[nodiscard]] static Result<std::unique_ptr<BenchRun>> create(
      const Problem& problem, const LoadedPlan& plan, const Symbols& symbols,
      const BenchInputs& inputs, std::uint64_t poison_seed, std::size_t pointer_offset);

  [[nodiscard]] std::size_t launches() const { return concrete_.size(); }
  [[nodiscard]] const ConcreteLaunch& launch(std::size_t index) const { return concrete_[index]; }

  // Runs one block of a launch, after all before it that have to be.
  [[nodiscard]] BlockRecord run_block(std::size_t launch, std::uint64_t block, std::uint64_t budget,
                                      const Cancellation& cancellation);

  // The same. Reads are logged where `log_reads` asks for it, until there are many.
  [[nodiscard]] BlockTrace trace_block(std::size_t launch, std::uint64_t block,
                                       std::uint64_t budget, bool log_reads,
                                       const Cancellation& cancellation);

  // Runs a whole launch.
  [[nodiscard]] ptx::RunResult run_launch(std::size_t launch, std::uint64_t budget, int threads,
                                          const Cancellation& cancellation);
  // The same, and marks the elements it writes: `written` has an entry an argument, empty for those
  // that nobody asks about.
  [[nodiscard]] ptx::RunResult run_launch(std::size_t launch, std::uint64_t budget, int threads,
                                          std::vector<std::vector<std::uint8_t>>& written,
                                          const Cancellation& cancellation);

  // Runs a whole launch on one thread, and keeps where it writes for beside().
  [[nodiscard]] ptx::RunResult run_logged(std::size_t launch, std::uint64_t budget,
                                          const Cancellation& cancellation);

  // Another memory for the same launches, in which run_logged left what it left here, and blocks
  // have not run. Inputs are shared, so this must outlive it; nothing may run here meanwhile.
  // Module variables are as they are now. Errors: resource.
  [[nodiscard]] Result<std::unique_ptr<BenchRun>> beside() const;
  // What the memory holds at the addresses, in order, and the way back. Addresses must be valid.
  [[nodiscard]] std::vector<std::byte> values(const ptx::AddressLog& log) const;
  void write(const ptx::AddressLog& log, std::span<const std::byte> values);

  // The number of the launch's first instruction in the plan.
  [[nodiscard]] std::size_t first_instruction(std::size_t launch) const;
  // The buffer of a pointer argument as it is now.
  [[nodiscard]] std::span<const std::byte> content(std::size_t argument) const;
  // The same buffer as it was before the first launch.
  [[nodiscard]] std::vector<std::byte> before(std::size_t argument) const;
  // Bytes of all outputs and scratch buffers.
  [[nodiscard]] std::uint64_t writable_bytes() const;

 private:
  BenchRun(const Problem& problem, const LoadedPlan& plan, ptx::ModuleMemory variables,
           std::uint64_t hardware)
      : problem_(problem),
        plan_(plan),
        variables_(std::move(variables)),
        hardware_(hardware),
        memory_(hardware) {}
  Status allocate(const Symbols& symbols, const BenchInputs& inputs, std::uint64_t poison_seed);
  // visit(ElementRange), of outputs, in the order of the log.
  template <typename Visit>
  void for_each_range(const ptx::AddressLog& log, const Visit& visit) const;
  [[nodiscard]] std::vector<ElementRange> elements(const ptx::AddressLog& log) const;
  [[nodiscard]] ptx::RunOptions options_for(std::uint64_t budget);
  [[nodiscard]] std::span<std::byte> host_from(std::uint64_t address) const;
  template <typename Visit>
  void for_each_stretch(const ptx::AddressLog& log, const Visit& visit) const;

  const Problem& problem_;
  const LoadedPlan& plan_;
  ptx::ModuleMemory variables_;
  std::uint64_t hardware_;  // draws what it leaves open; 0: as the timing model has it
  ptx::DeviceMemory memory_;
  std::vector<ConcreteLaunch> concrete_;
  std::vector<ptx::LaunchArguments> arguments_;
  std::size_t pointer_offset_ = 0;
  std::vector<std::uint64_t> addresses_;  // of the buffers' contents, per argument
  std::vector<std::uint64_t> bytes_;
  std::vector<std::vector<std::byte>> fills_;  // the patterns as allocated
  ptx::AddressLog logged_;                     // of run_logged
};

}  // namespace regraph::verify
