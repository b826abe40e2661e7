// One machine instruction (SASS) of sm_75 to sm_120, as far as timing needs it.
//
// NVIDIA documents neither opcodes nor encodings. Every instruction has 128 bits; the lowest nine
// are the operation, the next three the form of its operands, the next four the guard. What the
// compiler scheduled is in bits 105 to 125: stall clocks, the barriers the instruction sets and
// those it waits for. This was found out by comparing with NVIDIA's disassembler on sm_80, sm_90
// and sm_100, where it is the same but for the place of branch offsets.
#pragma once

#include <cstdint>

namespace regraph::sass {

// Which unit executes it.
enum class OperationClass : std::uint8_t {
  fp32,     // FFMA, FADD, FMUL
  fp16,     // HFMA2, HADD2, HMUL2
  fp64,     // DFMA, DADD, DMUL, DSETP
  integer,  // the ALU: additions, logic, shifts, comparisons also of fp32, selections, moves
  integer_multiply,  // IMAD in all uses: runs on the FP32 pipe
  special_function,  // MUFU, and what shares its unit: POPC, FLO, BREV, conversions, FCHK
  tensor,            // HMMA, IMMA, DMMA
  uniform,           // on the unit that works once a warp
  control,           // branches, calls, reconvergence
  branch,            // BRA, BRX
  exit,
  barrier,  // of the block
  shuffle,
  vote,  // VOTE, MATCH, REDUX
  load_global,
  store_global,
  atomic_global,
  copy_to_shared,  // LDGSTS
  load_shared,
  store_shared,
  atomic_shared,
  load_local,
  store_local,
  load_generic,
  store_generic,
  load_constant,  // LDC
  special_register,
  fence,
  no_operation,
  unknown,
};

// 3 bits in the encoding: no barrier.
inline constexpr std::uint8_t kNoBarrier = 7;
// The predicate that is always true.
inline constexpr std::uint8_t kTrue = 7;

struct Instruction {
  std::uint16_t operation = 0;  // the nine bits
  OperationClass operation_class = OperationClass::unknown;
  std::uint8_t access_bytes = 0;  // per lane, memory instructions only
  std::uint8_t guard = kTrue;
  bool guard_negated = false;
  // The compiler's schedule.
  std::uint8_t stall = 0;                   // clocks until the next instruction of the warp
  std::uint8_t write_barrier = kNoBarrier;  // falls when the result is there
  std::uint8_t read_barrier = kNoBarrier;   // falls when the operands were read
  std::uint8_t wait_mask = 0;               // barriers, a bit each, that must have fallen
  // Branches and direct calls: may control go on with the next instruction, and where else.
  bool falls_through = true;
  bool has_target = false;
  std::int64_t target = 0;           // offset in the code section
  std::uint32_t pending_copies = 0;  // DEPBAR: groups of asynchronous copies not waited for
  // Accesses to local memory: a register and bytes on top of it; a load after which the value is
  // not needed in memory any more.
  std::uint8_t local_base = 0;
  std::int32_t local_offset = 0;
  bool last_use = false;

  [[nodiscard]] bool guarded() const { return guard != kTrue; }
};

inline constexpr std::uint64_t kInstructionBytes = 16;
// The register that points to a thread's stack.
inline constexpr std::uint8_t kStackPointer = 1;

// `architecture`: 80, 90, ...; `address`: offset of the instruction in its code section.
[[nodiscard]] Instruction decode(std::uint64_t low, std::uint64_t high, int architecture,
                                 std::uint64_t address);

// Operations that the rest of the room names.
inline constexpr std::uint16_t kDepbar = 0x11a;
inline constexpr std::uint16_t kLdgDepbar = 0x1af;
inline constexpr std::uint16_t kCallRelative = 0x144;
inline constexpr std::uint16_t kCallAbsolute = 0x143;
inline constexpr std::uint16_t kReturn = 0x150;
inline constexpr std::uint16_t kBranch = 0x147;
inline constexpr std::uint16_t kBranchIndexed = 0x149;

}  // namespace regraph::sass
