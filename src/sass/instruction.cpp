#include "sass/instruction.h"

#include <array>
#include <initializer_list>

namespace regraph::sass {
namespace {

using Kind = OperationClass;

constexpr std::size_t kOperations = 512;

struct Row {
  Kind kind;
  std::initializer_list<std::uint16_t> operations;
};

// Operations met in machine code of sm_80, sm_90 and sm_100, in the order of their numbers, which
// mean the same on all three.
constexpr std::array<Kind, kOperations> make_table() {
  std::array<Kind, kOperations> table{};
  for (Kind& entry : table)
    entry = Kind::unknown;
  const std::initializer_list<Row> rows = {
      {Kind::integer,
       {
           0x002,  // MOV
           0x003,  // P2R
           0x004,  // R2P
           0x005,  // CS2R
           0x007,  // SEL
           0x008,  // FSEL
           0x009,  // FMNMX
           0x00a,  // FSET
           0x00b,  // FSETP
           0x00c,  // ISETP
           0x00f,  // VIMNMX3
           0x010,  // IADD3
           0x011,  // LEA
           0x012,  // LOP3
           0x013,  // IABS
           0x014,  // VABSDIFF
           0x015,  // VABSDIFF4
           0x016,  // PRMT
           0x017,  // IMNMX
           0x019,  // SHF
           0x01a,  // SGXT
           0x01b,  // BMSK
           0x01c,  // PLOP3
           0x036,  // VIADD
           0x03e,  // F2FP
           0x045,  // I2FP
           0x046,  // VIADDMNMX
           0x048,  // VIMNMX
           0x076,  // FMNMX3
           0x0ca,  // R2UR
       }},
      {Kind::vote,
       {
           0x006,  // VOTE
           0x02f,  // ELECT
           0x086,  // VOTEU
           0x0cc,  // CREDUX
           0x1a1,  // MATCH
           0x1c4,  // REDUX
       }},
      {Kind::fp32,
       {
           0x020,  // FMUL
           0x021,  // FADD
           0x022,  // FSWZADD
           0x023,  // FFMA
       }},
      {Kind::integer_multiply,
       {
           0x024,  // IMAD
           0x025,  // IMAD.WIDE
           0x026,  // IDP
           0x027,  // IMAD.HI
       }},
      {Kind::fp64,
       {
           0x028,  // DMUL
           0x029,  // DADD
           0x02a,  // DSETP
           0x02b,  // DFMA
       }},
      {Kind::fp16,
       {
           0x030,  // HADD2
           0x031,  // HFMA2
           0x032,  // HMUL2
           0x033,  // HSET2
           0x034,  // HSETP2
           0x035,  // HFMA2.MMA
           0x040,  // HMNMX2
       }},
      {Kind::tensor,
       {
           0x037,  // IMMA
           0x03c,  // HMMA
           0x03f,  // DMMA
           0x1f0,  // HGMMA: wgmma
           0x1f1,  // IGMMA
           0x1f3,  // QGMMA
       }},
      {Kind::uniform,
       {
           0x082,  // UMOV
           0x087,  // USEL
           0x08c,  // UISETP
           0x090,  // UIADD3
           0x091,  // ULEA
           0x092,  // ULOP3
           0x097,  // UIADD3.64
           0x099,  // USHF
           0x09a,  // USGXT
           0x09c,  // UPLOP3
           0x0a4,  // UIMAD
           0x0a5,  // UIMAD.WIDE
           0x0b9,  // ULDC
           0x0bd,  // UFLO
           0x1ac,  // LDCU
       }},
      {Kind::special_function,
       {
           0x100,  // FLO
           0x101,  // BREV
           0x102,  // FCHK
           0x105,  // F2I
           0x106,  // I2F
           0x107,  // FRND
           0x108,  // MUFU
           0x109,  // POPC
           0x110,  // F2F
           0x111,  // F2I of 64 bits
           0x112,  // I2F of 64 bits
           0x113,  // FRND.F64
       }},
      {Kind::no_operation, {0x118}},
      {Kind::special_register,
       {
           0x119,  // S2R
           0x11c,  // B2R
           0x1c3,  // S2UR
       }},
      {Kind::barrier, {0x11d}},
      {Kind::control,
       {
           0x001,  // PMTRIG
           0x11a,  // DEPBAR
           0x11b,  // ENDCOLLECTIVE
           0x141,  // BSYNC
           0x142,  // BREAK
           0x143,  // CALL.ABS
           0x144,  // CALL.REL
           0x145,  // BSSY
           0x146,  // YIELD
           0x148,  // WARPSYNC
           0x14e,  // LEPC
           0x150,  // RET
           0x155,  // BMOV: of sm_75
           0x15c,  // BPT
           0x15d,  // NANOSLEEP
           0x1a7,  // SYNCS: mbarriers, and the next two
           0x1af,  // LDGDEPBAR
           0x1b0,  // ARRIVES
           0x1b1, 0x1b2,
           0x1c5,  // WARPGROUP
           0x1c8,  // USETMAXREG
       }},
      {Kind::branch,
       {
           0x147,  // BRA
           0x149,  // BRX
       }},
      {Kind::exit, {0x14d}},
      {Kind::load_generic,
       {
           0x180,  // LD
           0x18a,  // ATOM
           0x18b,  // ATOM.CAS
           0x1a2,  // ATOM of floats
       }},
      {Kind::store_generic, {0x185}},
      {Kind::load_global, {0x181}},
      {Kind::store_global, {0x186}},
      {Kind::load_constant, {0x182}},
      {Kind::load_local, {0x183}},
      {Kind::store_local, {0x187}},
      {Kind::load_shared,
       {
           0x03b,  // LDSM
           0x184,  // LDS
       }},
      {Kind::store_shared,
       {
           0x044,  // STSM
           0x188,  // STS
       }},
      {Kind::shuffle, {0x189}},
      {Kind::atomic_shared,
       {
           0x18c,  // ATOMS
           0x18d,  // ATOMS.CAS
       }},
      {Kind::atomic_global,
       {
           0x18e,  // RED
           0x1a3,  // ATOMG of floats
           0x1a6,  // RED of floats
           0x1a8,  // ATOMG
           0x1a9,  // ATOMG.CAS
       }},
      {Kind::fence,
       {
           0x18f,  // CCTL
           0x192,  // MEMBAR
           0x1aa,  // QSPC
           0x1ab,  // ERRBAR
           0x1b9,  // UTMACCTL
           0x1c6,  // FENCE
       }},
      {Kind::copy_to_shared,
       {
           0x1ae,  // LDGSTS
           0x1b4,  // UTMALDG
           0x1ba,  // UBLKCP
       }},
  };
  for (const Row& row : rows) {
    for (const std::uint16_t operation : row.operations)
      table[operation] = row.kind;
  }
  return table;
}

constexpr std::array<Kind, kOperations> kTable = make_table();

constexpr std::uint64_t field(std::uint64_t word, unsigned first, unsigned count) {
  return (word >> first) & ((std::uint64_t{1} << count) - 1);
}

std::uint8_t access_bytes(Kind kind, std::uint64_t high) {
  constexpr std::array<std::uint8_t, 8> kBytes = {1, 1, 2, 2, 4, 8, 16, 16};
  switch (kind) {
    case Kind::load_global:
    case Kind::store_global:
    case Kind::load_shared:
    case Kind::store_shared:
    case Kind::load_local:
    case Kind::store_local:
    case Kind::load_generic:
    case Kind::store_generic:
    case Kind::copy_to_shared:
    case Kind::load_constant:
      return kBytes[field(high, 9, 3)];
    default:
      return 0;
  }
}

// From the end of the instruction. The offset counts units of 4 bytes from bit 34 on; sm_90 put
// its lowest eight bits elsewhere.
std::int64_t branch_distance(std::uint64_t low, std::uint64_t high, int architecture) {
  const std::uint64_t raw = (low >> 34) | (field(high, 0, 18) << 30);
  const auto units = static_cast<std::int64_t>(raw << 16) >> 16;
  if (architecture < 90) return units * 4;
  return (units * 256 + static_cast<std::int64_t>(field(low, 16, 8))) * 4;
}

void decode_branch(std::uint64_t low, std::uint64_t high, int architecture, std::uint64_t address,
                   Instruction& instruction) {
  enum Condition : std::uint8_t { plain, uniform_predicate, if_diverged, if_converged };
  const auto condition = static_cast<Condition>(field(low, 32, 2));
  const bool second_predicate = field(high, 23, 4) != kTrue;
  instruction.falls_through =
      instruction.guarded() || second_predicate || condition == uniform_predicate;
  // Warps are taken to be converged where the compiler asks.
  if (condition == if_diverged) {
    instruction.falls_through = true;
    return;
  }
  instruction.has_target = true;
  instruction.target = static_cast<std::int64_t>(address + kInstructionBytes) +
                       branch_distance(low, high, architecture);
}

void decode_local(std::uint64_t low, std::uint64_t high, Instruction& instruction) {
  constexpr std::uint64_t kLastUse = 3;
  instruction.local_base = static_cast<std::uint8_t>(field(low, 24, 8));
  instruction.local_offset = static_cast<std::int32_t>(field(low, 40, 24) << 8) >> 8;
  instruction.last_use =
      instruction.operation_class == Kind::load_local && field(high, 20, 3) == kLastUse;
}

}  // namespace

Instruction decode(std::uint64_t low, std::uint64_t high, int architecture, std::uint64_t address) {
  Instruction instruction;
  instruction.operation = static_cast<std::uint16_t>(field(low, 0, 9));
  instruction.operation_class = kTable[instruction.operation];
  instruction.guard = static_cast<std::uint8_t>(field(low, 12, 3));
  instruction.guard_negated = field(low, 15, 1) != 0;
  instruction.access_bytes = access_bytes(instruction.operation_class, high);
  instruction.stall = static_cast<std::uint8_t>(field(high, 41, 4));
  instruction.write_barrier = static_cast<std::uint8_t>(field(high, 46, 3));
  instruction.read_barrier = static_cast<std::uint8_t>(field(high, 49, 3));
  instruction.wait_mask = static_cast<std::uint8_t>(field(high, 52, 6));
  switch (instruction.operation) {
    case kBranch:
      decode_branch(low, high, architecture, address, instruction);
      break;
    case kCallRelative:
      instruction.has_target = true;
      instruction.target = static_cast<std::int64_t>(address + kInstructionBytes) +
                           branch_distance(low, high, architecture);
      break;
    case kDepbar:
      instruction.pending_copies = static_cast<std::uint32_t>(field(low, 38, 6));
      break;
    default:
      break;
  }
  if (instruction.operation_class == Kind::load_local ||
      instruction.operation_class == Kind::store_local) {
    decode_local(low, high, instruction);
  }
  const bool ends_path = instruction.operation_class == Kind::exit ||
                         instruction.operation == kReturn ||
                         instruction.operation == kBranchIndexed;
  if (ends_path) instruction.falls_through = instruction.guarded();
  return instruction;
}

}  // namespace regraph::sass
