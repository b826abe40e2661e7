// The mutable state of running warps: what handlers read and write. Plain data only, because
// handlers are compiled several times for different processors and must not share inline library
// code.
#pragma once

#include "ptx/decode/bytecode.h"
#include "ptx/parse/module.h"

#include <cstddef>
#include <cstdint>

namespace regraph::ptx {

// Address windows. Shared, local, constant and parameter addresses are small offsets in their own
// space; as generic addresses they carry a distinctive high byte.
inline constexpr std::uint64_t kWindowMask = 0xff00'0000'0000'0000ULL;
inline constexpr std::uint64_t kSharedWindow = 0x0100'0000'0000'0000ULL;
inline constexpr std::uint64_t kLocalWindow = 0x0200'0000'0000'0000ULL;
inline constexpr std::uint64_t kConstantWindow = 0x0300'0000'0000'0000ULL;
inline constexpr std::uint64_t kParameterWindow = 0x0400'0000'0000'0000ULL;

inline constexpr std::uint64_t kFunctionWindow = 0x0500'0000'0000'0000ULL;

// What a pointer to a function holds; `function` is its index in the module.
[[nodiscard]] constexpr std::uint64_t function_address(std::uint32_t function) {
  return kFunctionWindow | (static_cast<std::uint64_t>(function) << 4);
}

// A range of valid addresses of one space and the host memory behind it.
struct MemoryRegion {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::byte* host = nullptr;
  bool writable = true;
  const char* name = "";
  std::uint64_t slack = 0;  // bytes behind the end that may be accessed, which is noted
  bool races_allowed = false;
};

// What one request of a warp costs, and the least it could cost.
struct RequestCost {
  std::uint32_t sectors = 0;     // of 32 bytes
  std::uint32_t lines = 0;       // of 128 bytes
  std::uint32_t wavefronts = 0;  // passes over the banks
  // What the bytes that the lanes want, each counted once, would need side by side.
  std::uint32_t ideal_sectors = 0;
  std::uint32_t ideal_wavefronts = 0;  // what the hardware takes without any conflict
  std::uint32_t uniform = 0;           // 1: several lanes want one address
};

// Sums over requests.
struct RequestTotals {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  std::uint64_t lines = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal_sectors = 0;
  std::uint64_t ideal_wavefronts = 0;
  std::uint64_t uniform = 0;
};

// The pattern of lane addresses of one access, relative to the first active lane: remembered so
// that checking and counting the next access of the same shape is one comparison.
struct alignas(64) AccessPlan {
  enum Kind : std::uint32_t { none, consecutive, uniform, general };
  std::int32_t delta[kWarpLanes];
  std::uint32_t mask;  // active lanes
  Kind kind;
  std::uint64_t alignment_mask;  // bits of the first address that the costs depend on
  std::uint64_t alignment;       // the first address in those bits
  std::int64_t low;              // bytes touched: [first + low, first + high)
  std::int64_t high;
  RequestCost cost;
  std::uint64_t hits;        // accesses that followed this plan
  std::uint32_t pattern[4];  // the sink's names for it by sector of the first address, 0: none yet
};

// Per-thread state of one memory instruction.
struct AccessSite {
  static constexpr int kPlans = 4;
  AccessPlan plans[kPlans];
  std::uint32_t current;
  std::uint32_t next;          // plan to replace
  std::uint64_t region_begin;  // last region hit
  std::uint64_t region_end;
  std::byte* region_host;
  StateSpace space;
  bool store;
  std::uint8_t element_bytes;
  std::uint8_t elements;
  std::uint32_t bytes;  // element_bytes * elements
  bool count;
  std::uint64_t address_bits;  // low address bits that were ever set
  std::uint64_t bulk_bytes;    // that bulk copies accessed
  // Counters of accesses that no plan covers, and of plans that were replaced.
  RequestTotals totals;
};

enum class WarpStatus : std::uint8_t { ready, at_barrier, finished, faulted };

struct StackEntry {
  std::uint32_t resume;         // record index
  std::uint32_t reconvergence;  // basic block at which the entry below continues
  std::uint32_t mask;
  std::uint32_t depth;  // of calls
};

inline constexpr std::uint32_t kNoBlock = 0xffffffffU;
// Every push splits a non-empty set of lanes, so nesting is at most 31 deep with two entries a
// level; an indexed branch may push one entry a lane.
// A call adds one more.
inline constexpr std::uint32_t kStackEntries = 128;
inline constexpr std::uint32_t kMostCallDepth = 1024;

struct BlockContext;
struct CallStack;
struct PendingCopies;

struct Warp {
  std::byte* registers = nullptr;
  std::uint32_t exec = 0;     // lanes of the current instruction
  std::uint32_t active = 0;   // lanes of the current path
  std::uint32_t live = 0;     // lanes that have not exited
  std::uint32_t initial = 0;  // lanes that exist
  std::uint32_t reconvergence = kNoBlock;
  const Record* records = nullptr;
  AccessSite* sites = nullptr;
  std::uint64_t* block_warps = nullptr;  // executions per basic block
  std::uint64_t* block_threads = nullptr;
  std::uint64_t* guard_warps = nullptr;  // executions per guarded instruction
  std::uint64_t* guard_threads = nullptr;
  std::uint8_t* conditions = nullptr;  // which ways each instruction's went; see watched_handler
  std::int64_t quantum = 0;            // instructions until the scheduler looks again
  std::int64_t time = 0;               // instructions executed
  BlockContext* block = nullptr;
  const Record* resume = nullptr;
  const Record* last = nullptr;  // the record that stopped the warp
  std::byte* local = nullptr;    // lane-major local memory
  WarpStatus status = WarpStatus::finished;
  std::uint32_t stack_size = 0;
  std::uint32_t index = 0;            // in the block
  std::uint32_t barrier = 0;          // id it waits at
  std::uint32_t barrier_threads = 0;  // expected arrivals, 0: the whole block
  std::uint32_t barrier_lanes = 0;    // its own arrivals
  StackEntry* stack = nullptr;
  bool yields = false;         // it waits for others: its turn ended before its time
  bool rotated = false;        // paths were rotated (path_rotation.h)
  bool gives_up = false;       // the exchange to come does not wait (lane_meeting.h)
  std::uint32_t waits = 0;     // of wait_for_paths, without progress
  std::int64_t waited_at = 0;  // the time of the last one
  std::uint64_t frame = 0;     // where the running function's frame begins in local memory
  std::uint32_t depth = 0;     // of calls
  CallStack* calls = nullptr;
  PendingCopies* copies = nullptr;
};

// Where a slow access found its lanes.
struct ScatteredLanes {
  std::byte* host[kWarpLanes];
};

enum class AccessOutcome : std::uint8_t { planned, scattered, faulted };

// Checks and counts an access that no remembered plan matches: remembers a plan when it can, else
// fills `scattered`. On a fault the block's fault is set. (access.cpp; ordinary code, shared by all
// sets.)
AccessOutcome resolve_access(const Record* record, Warp& warp, AccessSite& site,
                             const std::uint64_t* addresses, ScatteredLanes& scattered);

template <typename T>
[[nodiscard]] inline T* lanes(Warp& warp, std::uint32_t offset) {
  return reinterpret_cast<T*>(warp.registers + offset);
}
[[nodiscard]] inline std::uint32_t& predicate(Warp& warp, std::uint32_t offset) {
  return *reinterpret_cast<std::uint32_t*>(warp.registers + offset);
}

// Hands an access that was just checked to the block's AccessSink.
void report_access(const Record* record, Warp& warp, AccessSite& site);

// The f64 operation `operation` in a rounding mode other than to nearest.
double rounded_double(Operation operation, double a, double b, double c, RoundingMode mode);

// Fills their entries of a table of kHandlers. The sets differ in the instructions they were
// compiled to, never in results.
void fill_baseline_handlers(Handler* table);
void fill_x86_64_v3_handlers(Handler* table);
void fill_x86_64_v4_handlers(Handler* table);
// Control flow, lane exchange and atomics: the same for all sets.
void fill_control_handlers(Handler* table);
void fill_lane_exchange_handlers(Handler* table);
void fill_atomic_handlers(Handler* table);
void fill_call_handlers(Handler* table);
void fill_rare_handlers(Handler* table);
void fill_matrix_handlers(Handler* table);
void fill_mbarrier_handlers(Handler* table);
void fill_bulk_copy_handlers(Handler* table);
void fill_warpgroup_handlers(Handler* table);
void fill_wmma_handlers(Handler* table);
void fill_async_copy_handlers(Handler* table);

}  // namespace regraph::ptx
