// The decoded form of a kernel: fixed-size records, each naming its handler by number.
//
// A register is 32 consecutive lanes of 4 or 8 bytes in the warp's register file; registers of 8
// and 16 bits take 4-byte lanes. A predicate is one 32-bit mask. Immediates are registers filled
// once.
#pragma once

#include <cstdint>

namespace regraph::ptx {

inline constexpr int kWarpLanes = 32;
inline constexpr std::uint32_t kFullMask = 0xffffffffU;

// How a handler reads and writes lanes. The *_flush type flushes denormals (.ftz).
enum class LaneType : std::uint8_t {
  u16,
  s16,
  u32,
  s32,
  u64,
  s64,
  f16,
  bf16,
  f16x2,
  bf16x2,
  f32,
  f32_flush,
  f64,
  count,
};

// What a handler computes. d, a, b, c, e are the record's operands.
enum class Operation : std::uint16_t {
  // Two sources.
  add,
  sub,
  mul,
  mul_high,
  mul_wide,
  div,
  div_approximate,
  rem,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  copysign,
  saturate_min_max,
  bit_field_mask,
  sad,
  min_nan,
  max_nan,
  // One source.
  move,
  neg,
  abs,
  bit_not,
  logical_not,
  popcount,
  leading_zeros,
  bit_reverse,
  find_leading,
  square_root,
  reciprocal_square_root,
  reciprocal,
  sine,
  cosine,
  exp2,
  log2,
  tanh,
  saturate,
  flush,
  sign_extend_8,
  zero_extend_8,
  sign_extend_16,
  zero_extend_16,
  round_nearest,
  round_zero,
  round_down,
  round_up,
  relu,
  // Three sources.
  multiply_add,
  multiply_add_high,
  multiply_add_wide,
  fused_multiply_add,
  bit_field_extract,
  permute,
  funnel_left_wrap,
  funnel_left_clamp,
  funnel_right_wrap,
  funnel_right_clamp,
  dot_product_4_uu,
  dot_product_4_ss,
  dot_product_4_us,
  dot_product_4_su,
  find_leading_shift,
  // Four sources.
  bit_field_insert,
  // Rounding other than to nearest even: e says which (RoundingMode).
  add_rounded,
  mul_rounded,
  fused_multiply_add_rounded,
  div_rounded,
  square_root_rounded,
  // Comparisons: d is a predicate.
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  equal_unordered,
  not_equal_unordered,
  less_unordered,
  less_equal_unordered,
  greater_unordered,
  greater_equal_unordered,
  ordered,
  unordered,
  test_finite,
  test_infinite,
  test_number,
  test_nan,
  test_normal,
  test_subnormal,
  // Extended-precision addition; c is the carry flag, a predicate; flags as in CarryMode.
  carry,
  // Functions too rare for lanes at once; e is a RareFunction, immediate its constant.
  rare,
  // d = predicate c ? a : b.
  select,
  // Conversions to the record's lane type; e is the RoundingMode.
  from_u32,
  from_s32,
  from_u64,
  from_s64,
  from_f32,
  from_f64,
  from_f16,
  from_bf16,
  from_u32_saturate,
  from_s32_saturate,
  from_u64_saturate,
  from_s64_saturate,
  // Lane type is ignored from here on (LaneType::u32).
  pack_2x32,
  unpack_2x32,
  pack_2x16,
  unpack_2x16,
  predicate_move,
  predicate_not,
  predicate_and,
  predicate_or,
  predicate_xor,
  // Control.
  block_head,
  branch,
  branch_if,
  branch_indexed,
  exit_lanes,
  guard_begin,
  guard_end,
  narrow_lanes,  // exec goes to predicate d and keeps the lanes of predicate a
  restore_lanes,
  trap,
  nothing,
  sync_warp,  // both for what is checked alone: lanes run in lockstep, memory is coherent
  fence,
  barrier,
  barrier_reduce,
  barrier_arrive,
  call,
  call_indirect,
  return_lanes,
  frame_address,
  // Between lanes.
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  shuffle_index,
  vote_all,
  vote_any,
  vote_uniform,
  vote_ballot,
  active_mask,
  match_any,
  match_all,
  reduce_add_u,
  reduce_min_u,
  reduce_min_s,
  reduce_max_u,
  reduce_max_s,
  reduce_and,
  reduce_or,
  reduce_xor,
  elect,
  // Products of small matrices that a warp holds (matrix_product.h).
  matrix_multiply_add,     // e: index into Code::matrix_products
  matrix_distribute,       // rows to fragments; e: index into Code::matrix_rearrangements
  matrix_collect,          // fragments to rows; e: as above
  warpgroup_multiply_add,  // e: index into Code::warpgroup_products
  wmma_addresses,          // of register c of a matrix; e: index into Code::wmma_accesses
  wmma_multiply_add,       // e: index into Code::wmma_products
  // What was asked of an asynchronous unit is a group; all but the newest `immediate` are done.
  asynchronous_committed,
  asynchronous_awaited,
  // Memory that needs no fast path.
  atomic,
  copy_to_shared,    // the second half of an asynchronous copy (async_copy_handlers.cpp)
  copies_committed,  // a group of them ends
  copies_awaited,    // all but the newest `immediate` groups arrive
  mbarrier,          // mbarrier.h
  bulk_copy,         // e: index into Code::bulk_copies
  trace_access,
  check_access,  // of a vector whose elements are accessed one by one
  count,
};

enum class RoundingMode : std::uint8_t { nearest, zero, down, up };

enum class MemoryType : std::uint8_t { u8, s8, u16, s16, b32, b64, count };

inline constexpr std::uint32_t kLaneTypes = static_cast<std::uint32_t>(LaneType::count);
inline constexpr std::uint32_t kMemoryTypes = static_cast<std::uint32_t>(MemoryType::count);
inline constexpr std::uint32_t kArithmeticHandlers =
    static_cast<std::uint32_t>(Operation::count) * kLaneTypes;
// {load, store} x {64, 32 bit addresses} x types x {1, 2, 4} elements.
inline constexpr std::uint32_t kMemoryHandlers = 2 * 2 * kMemoryTypes * 3;
inline constexpr std::uint32_t kHandlers = kArithmeticHandlers + kMemoryHandlers;

[[nodiscard]] constexpr std::uint32_t handler_id(Operation operation, LaneType type) {
  return static_cast<std::uint32_t>(operation) * kLaneTypes + static_cast<std::uint32_t>(type);
}
// log2_elements: 0, 1, 2 for a plain access, .v2 and .v4.
[[nodiscard]] constexpr std::uint32_t memory_handler_id(bool store, bool narrow_address,
                                                        MemoryType type, int log2_elements) {
  return kArithmeticHandlers +
         (((store ? 2U : 0U) + (narrow_address ? 1U : 0U)) * kMemoryTypes +
          static_cast<std::uint32_t>(type)) *
             3U +
         static_cast<std::uint32_t>(log2_elements);
}

struct Record;
struct Warp;
// Executes one record for a warp and returns the next one; null when the warp stops (see
// Warp::status).
using Handler = const Record* (*)(const Record* record, Warp& warp);

// Enters the handler of an operation that has one for all types.
inline void put(Handler* table, Operation operation, Handler handler) {
  table[handler_id(operation, LaneType::u32)] = handler;
}

struct alignas(64) Record {
  Handler handler = nullptr;  // bound per run from handler_id
  std::uint32_t d = 0;        // byte offsets into the register file
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t e = 0;            // fourth operand or a mode
  std::uint32_t target = 0;       // branches: record index; block_head: basic block
  std::int64_t immediate = 0;     // address offset; block_head: instructions of the block;
                                  // exchanges between lanes: the member mask, a register
  std::uint32_t instruction = 0;  // index into Code::instructions
  std::uint32_t site = 0;         // memory: access site; guards: guard counter
  std::uint32_t handler_id = 0;
  std::uint32_t flags = 0;  // operation specific
};
static_assert(sizeof(Record) == 64);

// Record::flags of carry: take the flag in, set it, subtract.
inline constexpr std::uint32_t kCarryIn = 1;
inline constexpr std::uint32_t kCarryOut = 2;
inline constexpr std::uint32_t kBorrow = 4;

// Record::flags of copy_to_shared: its address has 32 bits.
inline constexpr std::uint32_t kCopyNarrowAddress = 1;
// Record::immediate of copies_awaited: also what no group was committed for.
inline constexpr std::int64_t kAllCopies = -1;

// Record::flags of asynchronous_committed and asynchronous_awaited: whose groups.
inline constexpr std::uint32_t kTensorAgent = 1;
inline constexpr std::uint32_t kStoreAgent = 2;

// Record::flags of a trap: the instruction, a failed assertion, one whose text lies in the frame at
// a (message), b (file), c (line) and e (function).
inline constexpr std::uint32_t kPlainTrap = 1;
inline constexpr std::uint32_t kAssertion = 2;

// Record::flags of exchanges between lanes: the values of a match have 64 bits; the member mask
// names all lanes; there is none, as before .sync, and nobody waits.
inline constexpr std::uint32_t kWideMatch = 1;
inline constexpr std::uint32_t kAllMembers = 2;
inline constexpr std::uint32_t kNoMembers = 4;

// Record::flags of branch_if and guard_begin: the condition is the predicate's complement.
inline constexpr std::uint32_t kNegated = 1;
// Record::flags of a barrier that is the cluster's.
inline constexpr std::uint32_t kOfCluster = 4;

}  // namespace regraph::ptx
