// Runs one PTX kernel on the host, a warp at a time, with checks and counters.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "kernel/launch_plan.h"
#include "ptx/device_memory.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::ptx {

struct AddressLog;

// What kind of hardware work an instruction is, as far as timing and mix need to know.
enum class InstructionClass : std::uint8_t {
  move,  // mov, cvta, ld.param: mostly vanish in machine code
  fp32_fma,
  fp32_other,  // add, mul, min, max, compare on f32
  fp64,
  fp16,
  integer,           // add, sub, min, max, compare, select
  integer_multiply,  // mul, mad
  logic,             // and, or, xor, shifts, bit fields
  conversion,
  special_function,  // ex2, lg2, rcp, rsqrt, sqrt, sin, cos
  divide,            // div/rem sequences that machine code expands
  branch,
  barrier,
  shuffle,
  matrix,  // mma, wgmma
  load_global,
  store_global,
  load_shared,
  store_shared,
  load_local,
  store_local,
  load_constant,
  atomic_global,
  atomic_shared,
  other,
};
[[nodiscard]] std::string_view name(InstructionClass instruction_class);
[[nodiscard]] constexpr bool is_atomic(InstructionClass instruction_class) {
  return instruction_class == InstructionClass::atomic_global ||
         instruction_class == InstructionClass::atomic_shared;
}

// How fast tensor cores multiply, by the width of the factors.
enum class MatrixRate : std::uint8_t { tf32, half, byte, fp64 };

// Static facts and counters of one PTX instruction.
struct InstructionProfile {
  InstructionClass instruction_class = InstructionClass::other;
  int ptx_line = 0;  // 1-based
  int basic_block = 0;
  int loop_depth = 0;                         // natural loops around its basic block, 0 outside any
  int source_line = 0;                        // of the CUDA source by .loc, 0 when unknown
  int access_bytes = 0;                       // per lane, memory instructions only (16 for .v4.f32)
  int multiply_adds = 0;                      // of a warp, matrix products only
  MatrixRate matrix_rate = MatrixRate::half;  // those
  bool of_warpgroup = false;                  // wgmma
  bool reads_only_cache = false;              // ld.global.nc
  bool bypasses_l1 = false;                   // .cg, .cv, .volatile, .relaxed, ...
  // The previous memory instruction of the same basic block has the same kind, width and base
  // register and the adjoining offset: ptxas merges such accesses into wider ones (up to 16 bytes a
  // lane).
  bool mergeable_with_previous = false;
  // Power of two that divided every address seen, at most 16; memory instructions with counters
  // only.
  int address_alignment = 16;
  // Atomics: adds floating point; on f16 or bf16; the old value is read; adds the constant 1 to 32
  // bits.
  bool atomic_floating = false;
  bool atomic_halves = false;
  bool atomic_returns = false;
  bool atomic_increments = false;
  std::uint64_t warp_executions = 0;    // warp-level executions with at least one active lane
  std::uint64_t thread_executions = 0;  // active lanes summed
  std::uint64_t bulk_bytes = 0;         // cp.async.bulk: of global memory, by one thread each
  // Memory instructions: warp requests, 32-byte sectors (global), distinct 128-byte lines (global)
  // and data-bank wavefronts (shared: bank conflicts; global: the same function on the address).
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  std::uint64_t lines = 0;
  std::uint64_t wavefronts = 0;
  // The least that these requests could need: sectors for the bytes that the active lanes want,
  // each counted once and side by side; wavefronts of accesses of this width without conflicts.
  std::uint64_t ideal_sectors = 0;
  std::uint64_t ideal_wavefronts = 0;
  std::uint64_t uniform_requests = 0;  // in which several lanes want one address
  // Atomics on shared memory: of each request the most lanes that want one bank, and one word.
  std::uint64_t bank_lanes = 0;
  std::uint64_t word_lanes = 0;
  // With RunOptions::record_paths. Of branches, guarded instructions and selects: which way the
  // condition went, in any lane that asked. Of comparisons and logic on predicates: what came out.
  bool condition_was_false = false;
  bool condition_was_true = false;
  bool result_was_false = false;
  bool result_was_true = false;
};

struct Profile {
  std::vector<InstructionProfile> instructions;  // in program order
  std::uint64_t blocks = 0;                      // blocks that were run
  std::uint64_t warps = 0;
  std::uint64_t thread_instructions = 0;
};

enum class FaultKind : std::uint8_t {
  none,
  out_of_bounds,
  write_to_read_only,
  misaligned,
  barrier_divergence,
  deadlock,
  instruction_budget,  // RunOptions::instruction_budget used up: endless loop or too large a
                       // problem
  trap,
  cancelled,
  unsupported,         // names the opcode
  data_race,           // RunOptions::detect_races: two accesses that nothing orders; names both
  uninitialised_read,  // never RunResult::fault, only RunResult::uninitialised_read
  bad_launch,          // parameters or variables do not match, too much shared memory
};
[[nodiscard]] std::string_view name(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::none;
  std::string
      message;  // "ld.global.f32 reads 4 bytes at 0x.. , 8 bytes past the end of 'A' (65536 bytes)"
  int ptx_line = 0;     // 1-based, 0 when unknown
  int source_line = 0;  // of the CUDA source by .loc, 0 when the PTX has no line table
  Dim3 block{0, 0, 0};  // coordinates
  Dim3 thread{0, 0, 0};
};

class ModuleMemory;

// A parsed and decoded kernel. Immutable, shareable between threads.
class Program {
 public:
  // Parses PTX text and decodes the entry `entry`. Errors: parse (with line), not_found,
  // unsupported (an opcode or feature outside the implemented tier: the message names it and its
  // line).
  [[nodiscard]] static Result<Program> load(std::string_view ptx, std::string_view entry);

  struct ParameterLayout {
    std::size_t offset;  // bytes into the parameter block
    std::size_t bytes;
    bool is_pointer_sized;
  };
  [[nodiscard]] const std::vector<ParameterLayout>& parameters() const;

  // A module-scope variable: __device__, __constant__ or a table of the compiler's.
  struct Symbol {
    std::string name;  // as in the PTX: mangled unless declared at global scope and not static
    std::size_t bytes = 0;
    bool is_constant = false;     // __constant__
    bool is_initialised = false;  // the PTX gives it a value
  };
  // All variables of the module, whether this kernel uses them or not, in the order of
  // ModuleMemory. Values are set and kept with ptx/module_memory.h.
  [[nodiscard]] std::vector<Symbol> symbols() const;
  // Another entry of the same PTX, without parsing it again. Errors as load.
  [[nodiscard]] Result<Program> with_entry(std::string_view entry) const;
  [[nodiscard]] std::size_t static_shared_bytes() const;
  [[nodiscard]] std::size_t instruction_count() const;  // static

  struct Code;
  [[nodiscard]] const Code& code() const { return *code_; }

 private:
  explicit Program(std::shared_ptr<const Code> code) : code_(std::move(code)) {}
  std::shared_ptr<const Code> code_;
};

struct LaunchArguments {
  Dim3 grid;
  Dim3 block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;  // the packed parameter block, see Program::parameters
};

// Shared and local memory as blocks left them, by linear block: hardware does not clear it.
struct LeftBehind {
  std::vector<std::vector<std::byte>> shared;
  std::vector<std::vector<std::byte>> local;
};

// Accesses of single threads that touch the slack behind a buffer (DeviceMemory::adopt).
struct SlackUse {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;  // atomics are among them
  Fault first;               // of the lowest block that has one; kind none: there is none

  // Adds those of other blocks.
  void add(const SlackUse& other, const Dim3& grid);
};

enum class HandlerSet : std::uint8_t { automatic, baseline, x86_64_v3, x86_64_v4 };

struct RunOptions {
  bool count = true;                          // fill requests, sectors, wavefronts
  bool record_paths = false;                  // fill condition_was_... and result_was_...
  std::uint64_t instruction_budget = 0;       // warp instructions over all blocks, 0: no limit
  std::vector<std::uint64_t> blocks;          // linear block ids to run; empty: all
  std::uint32_t shared_limit_bytes = 232448;  // 227 KiB, sm_90's opt-in maximum
  // Threads that have exited count as arrived at barriers of the whole block: "will not succeed
  // until reached by all non-exited threads in the block" (CUDA programming guide, compute
  // capability 7.x). False: that is a barrier_divergence fault, as older hardware had it.
  bool exited_threads_arrive = true;
  int threads = 0;  // host threads for blocks; 0: oneTBB decides, 1: in order
  HandlerSet handlers = HandlerSet::automatic;
  // Look for data races in shared memory, and in global memory written by the launch
  // (race_detector.h says what counts), and for reads of shared memory that was never written.
  // Blocks then run in order on one host thread, several times slower: meant for small problems.
  bool detect_races = false;
  // Receives what is written to global memory, atomics included, before it is; blocks then run in
  // order on one host thread. Null: nobody asks.
  AddressLog* writes = nullptr;
  // Receives what is loaded from global memory that a kernel may write to, and costs time for that
  // alone; until it is full. Blocks then run in order on one host thread. Null: nobody asks.
  AddressLog* reads = nullptr;
  // What every byte of shared memory holds at first, and of local memory without a hardware_seed.
  // All ones is NaN as a float and -1 as an integer: large as an index, which faults rather than
  // works.
  std::uint8_t shared_fill = 0xff;
  // Draws what PTX leaves to the hardware: the slots that %warpid names, and what local memory
  // holds before it is written. 0: slots are the warps' numbers in their block.
  std::uint64_t hardware_seed = 0;
  // Lanes of a warp that went different ways once go on apart wherever PTX lets them: activemask
  // shows some of those that are there alone.
  bool lanes_stay_apart = false;
  // Where it holds a block's memory, of an earlier run of the same launch, the block begins with
  // that; every block leaves its own. Null: all begin with shared_fill.
  LeftBehind* left_behind = nullptr;
  // Module-scope variables that outlive the launch (ptx/module_memory.h); several launches may
  // share them, one after another. Null: every launch starts with the initial values of the PTX.
  ModuleMemory* variables = nullptr;
};

struct RunResult {
  Fault
      fault;  // kind none: every block finished. With several faults the lowest block id's is kept.
  Profile profile;  // counters are zero after a fault: they would depend on the number of threads
  // With detect_races: the first read of shared memory that no thread of its block had written. No
  // fault, since what was read may never be used.
  std::optional<Fault> uninitialised_read;
  SlackUse slack;  // no fault; after a fault it depends on the number of threads
  [[nodiscard]] bool ok() const { return fault.kind == FaultKind::none; }
};

// Runs the kernel. Counters and faults do not depend on the number of host threads (plain stores of
// racing blocks may). Thread-safe for distinct memories.
[[nodiscard]] RunResult run(const Program& program, const LaunchArguments& arguments,
                            DeviceMemory& memory, const RunOptions& options,
                            const Cancellation& cancellation);

// Returns which handler set `automatic` means on this machine.
[[nodiscard]] HandlerSet best_handlers();

}  // namespace regraph::ptx
