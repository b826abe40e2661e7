// What decoding makes of one kernel: immutable, shared by all runs.
#pragma once

#include "ptx/decode/atomic_traits.h"
#include "ptx/decode/bytecode.h"
#include "ptx/decode/control_flow.h"
#include "ptx/decode/function_linking.h"
#include "ptx/decode/matrix_product.h"
#include "ptx/decode/mbarrier.h"
#include "ptx/interpreter.h"
#include "ptx/parse/module.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace regraph::ptx {

// A register that holds the same bits in every lane from the start of a run.
struct ConstantSlot {
  std::uint32_t offset = 0;
  bool wide = false;
  std::uint64_t bits = 0;
};

// A register filled from the parameter block at the start of a run.
struct ParameterSlot {
  std::uint32_t offset = 0;
  std::uint32_t parameter_offset = 0;
  std::uint8_t bytes = 4;
  bool sign_extend = false;
  bool wide = false;
};

enum class SpecialRegister : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  laneid,
  warpid,
  nwarpid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  zero,
  one,
  warp_size,
  dynamic_shared_bytes,
  total_shared_bytes,
};

// Whether it changes from block to block of a run.
constexpr bool depends_on_block(SpecialRegister which) {
  using S = SpecialRegister;
  return (which >= S::ctaid_x && which <= S::ctaid_z) ||
         (which >= S::clusterid_x && which <= S::clusterid_z) ||
         (which >= S::cluster_ctaid_x && which <= S::cluster_ctaid_z) ||
         which == S::cluster_ctarank;
}

// Barriers of a block are 0 to 15; the next number is that of its cluster.
inline constexpr std::uint32_t kClusterBarrier = 16;

struct SpecialSlot {
  std::uint32_t offset = 0;
  SpecialRegister which = SpecialRegister::zero;
  bool wide = false;
};

// A variable with an address fixed at decoding.
struct PlacedVariable {
  std::uint32_t variable = 0;  // into Module::variables
  std::uint64_t address = 0;   // in its own space
  std::uint64_t bytes = 0;
};

// Static facts of one memory instruction.
struct SiteInfo {
  StateSpace space = StateSpace::global;
  bool store = false;
  bool atomic = false;
  bool strong = false;  // atomic, volatile, relaxed, acquire, release: never part of a race alone
  bool acquires = false;
  bool releases = false;
  bool read_only = false;  // ld.global.nc: nobody may have written there during the launch
  bool counted = true;     // in the instruction's profile
  std::uint8_t element_bytes = 4;
  std::uint8_t elements = 1;
  std::uint32_t instruction = 0;
};

// A call instruction: which frames it connects. Offsets are in local memory, relative to the
// frames.
struct CallSite {
  struct Copy {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint64_t bytes = 0;
  };
  struct Target {
    std::uint64_t address = 0;  // function_address, for indirect calls
    std::uint32_t segment = 0;
    std::uint32_t record = 0;  // its first
    std::uint64_t frame_bytes = 0;
    std::vector<Copy> arguments;  // caller to callee
    std::vector<Copy> results;    // callee to caller
  };
  std::uint64_t caller_frame_bytes = 0;
  bool saves_registers = false;  // the caller may be entered again before the call ends
  std::vector<Target> targets;   // one for a direct call
};

struct InstructionInfo {
  std::string_view mnemonic;
  InstructionClass instruction_class = InstructionClass::other;
  int line = 0;
  int source_line = 0;
  std::uint32_t block = 0;
  std::int32_t guard_counter = -1;  // counts executions of guarded instructions
  int access_bytes = 0;
  int multiply_adds = 0;                      // of a warp, matrix products only
  MatrixRate matrix_rate = MatrixRate::half;  // those
  bool of_warpgroup = false;
  bool reads_only_cache = false;
  bool bypasses_l1 = false;
  bool mergeable_with_previous = false;
  AtomicTraits atomic;
};

struct Program::Code {
  std::shared_ptr<const Module> module;
  const Function* function = nullptr;  // with all that it calls
  std::shared_ptr<const Function> owned_function;
  std::vector<Segment> segments;
  std::vector<std::uint32_t> addressed;  // segments that indirect calls may reach
  std::vector<CallSite> calls;
  std::vector<MatrixProduct> matrix_products;
  std::vector<MatrixRearrangement> matrix_rearrangements;
  std::vector<WmmaAccess> wmma_accesses;
  std::vector<WmmaProduct> wmma_products;
  std::vector<BulkCopy> bulk_copies;
  std::vector<WarpgroupProduct> warpgroup_products;
  std::vector<Record> records;  // handlers unbound
  std::vector<InstructionInfo> instructions;
  ControlFlow control_flow;
  std::vector<SiteInfo> sites;
  std::uint32_t guard_counters = 0;
  std::vector<ConstantSlot> constants;
  std::vector<ParameterSlot> parameter_slots;
  std::vector<SpecialSlot> specials;
  std::uint32_t register_bytes = 0;  // of one warp
  std::vector<ParameterLayout> parameters;
  std::size_t parameter_bytes = 0;
  std::vector<PlacedVariable> shared;   // static, in address order; gaps between
  std::vector<PlacedVariable> globals;  // module-scope .global
  std::vector<PlacedVariable> constant_variables;
  std::uint64_t static_shared_bytes = 0;  // what the hardware would allocate, without our gaps
  std::uint64_t dynamic_shared_address = 0;
  std::int32_t dynamic_shared = -1;  // the .extern .shared variable, -1: none
  std::uint64_t local_bytes = 0;     // of one thread
  bool has_global_atomics = false;   // or other strong accesses: blocks run in order, on one thread
  bool may_spin = false;  // a loop holds a strong access: threads may wait for others there
};

// Which instructions to decode, and whether to trace addresses instead of touching memory.
struct DecodeOptions {
  std::vector<bool> keep;     // by instruction; empty: all
  std::vector<bool> trace;    // global accesses that report their addresses
  std::vector<bool> execute;  // traced accesses that also happen
};

[[nodiscard]] Result<std::shared_ptr<const Program::Code>> decode(
    std::shared_ptr<const Module> module, std::string_view entry, const DecodeOptions& options);

// Shared addresses start here, as on the hardware, where the first KiB is the system's.
inline constexpr std::uint64_t kSharedBase = 1024;
// Between shared variables; a multiple of 128 keeps every variable's banks what they really are.
inline constexpr std::uint64_t kSharedGap = 4096;
inline constexpr std::uint64_t kModuleGlobalBase = 0x60'0000'0000ULL;
inline constexpr std::uint64_t kModuleRedZone = 2ULL << 20;
inline constexpr std::uint64_t kConstantBase = 4096;

}  // namespace regraph::ptx
