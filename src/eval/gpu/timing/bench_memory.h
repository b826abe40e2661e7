// The problem at one bench size, in the memory of a GPU worker that times it.
//
// There are several input sets at different addresses, and samples rotate through them: a kernel
// that kept results from one launch for the next would be found out. Candidate and incumbent have
// outputs of their own, so that what a timed launch left behind can be looked at afterwards.
#pragma once

#include "eval/gpu/protocol/gpu_plan.h"
#include "eval/gpu/timing/race.h"
#include "eval/verify/inputs.h"

#include <array>
#include <cstdint>
#include <vector>

namespace regraph::gpu {

class BenchMemory {
 public:
  struct Contents {
    bool timed = true;  // several sets; else one
    verify::Distribution distribution = verify::Distribution::manifest;
    // The problem whose inputs these are, where they are fp32 and this problem's fp64.
    const Problem* in_single = nullptr;
  };

  // Draws inputs from `seed` and uploads them; as many sets as fit, from two to four, or one where
  // nothing is timed. Errors: resource (the size does not fit, or the worker failed), cancelled,
  // and those of the problem's shapes.
  [[nodiscard]] static Result<BenchMemory> create(GpuProcess& process, const Problem& problem,
                                                  const Symbols& symbols, std::uint64_t seed,
                                                  const Cancellation& stop, Contents contents);
  [[nodiscard]] static Result<BenchMemory> create(GpuProcess& process, const Problem& problem,
                                                  const Symbols& symbols, std::uint64_t seed,
                                                  const Cancellation& stop) {
    return create(process, problem, symbols, seed, stop, Contents());
  }

  [[nodiscard]] int sets() const { return static_cast<int>(sets_.size()); }
  [[nodiscard]] const Symbols& symbols() const { return symbols_; }

  // What a sample of a plan runs on input set `set`. Errors as launches_of.
  [[nodiscard]] Result<TimedPlan> plan_of(const GpuPlan& loaded, const verify::LoadedPlan& plan,
                                          int set, RaceSide side) const;

  // Fills the __constant__ variables of a plan's modules.
  [[nodiscard]] Result<void, Failure> set_symbols_of(const GpuPlan& loaded,
                                                     const Cancellation& stop);

  // The outputs of a side's last launch on a set, one entry an argument; empty for others.
  [[nodiscard]] Result<verify::Buffers, Failure> outputs(int set, RaceSide side,
                                                         const Cancellation& stop);

  // Gives all of it back to the GPU; nothing else may be asked of it afterwards.
  [[nodiscard]] Result<void, Failure> release(const Cancellation& stop);

  // Bytes that a launch must read and write at least once: all inputs, all outputs.
  [[nodiscard]] double input_bytes() const { return input_bytes_; }
  [[nodiscard]] double output_bytes() const { return output_bytes_; }

 private:
  struct Buffer {
    int name = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  struct InputSet {
    std::vector<Buffer> inputs;                   // per argument; of inout ones the pristine copy
    std::array<std::vector<Buffer>, 2> writable;  // per side and argument: outputs and scratch
  };

  BenchMemory(GpuProcess& process, const Problem& problem, Symbols symbols)
      : process_(&process), problem_(&problem), symbols_(std::move(symbols)) {}

  [[nodiscard]] Status measure();
  [[nodiscard]] Status add_set(const verify::Buffers& inputs, const Cancellation& stop);
  // The content from byte `first` on, then what is before it.
  [[nodiscard]] Result<Buffer> allocate(std::span<const std::byte> content, std::size_t first,
                                        std::uint64_t bytes, const Cancellation& stop);

  GpuProcess* process_;
  const Problem* problem_;
  Symbols symbols_;
  std::vector<std::uint64_t> bytes_;  // per argument; 0 for scalars and symbols
  std::vector<InputSet> sets_;
  verify::Buffers symbol_contents_;
  double input_bytes_ = 0.0;
  double output_bytes_ = 0.0;
};

}  // namespace regraph::gpu
