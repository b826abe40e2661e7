// A launch plan run once on the simulated device: fresh memory, poisoned outputs, read-only inputs,
// guarded buffers.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/problem.h"
#include "ptx/interpreter.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph::verify {

// Host copies of buffers, one entry an argument; empty for scalars.
using Buffers = std::vector<std::vector<std::byte>>;

struct KernelRun;

struct RunSettings {
  std::uint64_t poison_seed = 0;
  bool invert_poison = false;            // every bit differs from the run without
  std::size_t pointer_offset = 0;        // bytes past the 256-byte boundary at which buffers start
  bool stagger = false;                  // every second buffer starts at the boundary all the same
  std::uint64_t instruction_budget = 0;  // warp instructions of all launches
  // Blocks run from the last to the first, in up to 64 groups, and warps in reverse where they can.
  bool reverse_order = false;
  bool detect_races = false;        // as ptx::RunOptions; not in reverse order
  std::uint8_t shared_fill = 0xff;  // as ptx::RunOptions
  bool record_paths = false;        // as ptx::RunOptions; not in reverse order
  bool keep_memory = false;         // fill KernelRun::scratch and left_behind too
  // A run with keep_memory that came before in the same memory: outputs and scratch buffers, and on
  // the interpreter shared and local memory, begin as it left them. Null: with poison.
  const KernelRun* earlier = nullptr;
  int threads = 1;  // of the host; 1 keeps the order of blocks, and of atomics, fixed
};

struct KernelRun {
  ptx::Fault fault;      // of the first launch that has one; those after it did not run
  ptx::Profile profile;  // instructions of one launch after the other
  Buffers before;  // outputs as they were before the first launch: poison, or the input for inout
  Buffers after;   // the same buffers after the last; empty for inputs, scratch and scalars
  std::optional<ptx::Fault> uninitialised_read;  // with detect_races
  Buffers scratch;                               // with keep_memory: scratch buffers after the last
  std::vector<ptx::LeftBehind> left_behind;  // with keep_memory: one a launch, empty where large
  std::string damaged;  // what was changed that must not be, in words; empty when nothing was

  [[nodiscard]] std::uint64_t warp_instructions() const;
};

// Where buffers may start, in bytes past a 256-byte boundary: no better aligned than the problem
// promises.
[[nodiscard]] std::size_t loose_alignment(const Problem& problem);

// Whether PTX text divides floating-point numbers.
[[nodiscard]] bool divides_floats(const std::string& ptx);

// Runs the launches of `plan` once, in order and in the same memory. A fault is a result; errors
// are what keeps a launch from happening: parameters that do not match the problem
// (invalid_argument), a grid that cannot be (invalid_argument, not_found), kernels of different
// modules (unsupported), no memory (resource).
[[nodiscard]] Result<KernelRun> run_kernel(const Problem& problem, const LoadedPlan& plan,
                                           const Symbols& symbols, const Buffers& inputs,
                                           const RunSettings& settings,
                                           const Cancellation& cancellation);

// Whether what a plan leaves in its outputs changes with what uninitialised shared memory holds.
// `run` is what run_kernel gave for the same arguments and settings.
[[nodiscard]] Result<bool> depends_on_shared_fill(const Problem& problem, const LoadedPlan& plan,
                                                  const Symbols& symbols, const Buffers& inputs,
                                                  RunSettings settings, const KernelRun& run,
                                                  const Cancellation& cancellation);

}  // namespace regraph::verify
