// What the warps of one block share while they run.
#pragma once

#include "ptx/decode/code.h"
#include "ptx/decode/execution.h"
#include "ptx/decode/tensor_map.h"
#include "ptx/interpreter.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regraph::ptx {

// Receives traced accesses (cache_simulation.h).
class AccessSink {
 public:
  virtual ~AccessSink() = default;
  // The lanes in warp.exec address what the record says; each lies in valid memory.
  virtual void access(const Record& record, Warp& warp, AccessSite& site) = 0;
};

// A call that has not returned yet.
struct CallFrame {
  std::uint64_t frame = 0;       // of the caller
  std::uint32_t stack_base = 0;  // the callee's paths are from here on
  const CallSite* site = nullptr;
  std::vector<std::byte> saved;  // the warp's registers as they were; empty: not needed
};
struct CallStack {
  std::vector<CallFrame> frames;
};

// Asynchronous copies of a warp's threads to shared memory that have not arrived.
struct PendingCopies {
  // One instruction's, of several lanes.
  struct Copy {
    const Record* record = nullptr;
    std::uint32_t lanes = 0;  // those it has not arrived for
    std::uint32_t bytes = 0;  // of a lane
    std::array<std::uint64_t, kWarpLanes> addresses;
    std::array<std::byte*, kWarpLanes> host;
    std::array<std::uint32_t, kWarpLanes> group;  // its number among the thread's
    std::array<std::array<std::uint32_t, 4>, kWarpLanes> values;
  };
  std::vector<Copy> copies;                           // oldest first
  std::array<std::uint32_t, kWarpLanes> committed{};  // groups of each thread

  void clear() {
    copies.clear();
    committed.fill(0);
  }
};

class RaceDetector;

// A tensor map that the block made, and where it put it.
struct MadeTensorMap {
  std::uint64_t address = 0;
  TensorMap map;
};

struct BlockContext {
  const Program::Code* code = nullptr;
  // Valid memory of each space, sorted by address.
  std::vector<MemoryRegion> global;
  std::vector<MemoryRegion> shared;
  std::vector<MemoryRegion> constant;
  std::vector<MemoryRegion> parameter;
  Dim3 grid;
  Dim3 block;
  Dim3 block_index{0, 0, 0};
  std::uint64_t local_bytes = 0;  // of one lane
  bool lanes_stay_apart = false;  // RunOptions
  // Blocks run side by side, and each of them may make its map at the same place: a multiprocessor
  // has a place of its own, of which all are one here.
  std::vector<MadeTensorMap> tensor_maps;
  Fault fault;
  SlackUse slack;  // of all blocks so far
  AccessSink* sink = nullptr;
  RaceDetector* races = nullptr;      // null: not looked for
  AddressLog* writes = nullptr;       // null: not asked for
  AddressLog* reads = nullptr;        // null: not asked for
  std::uint64_t progress = 0;         // counts what others may wait for at mbarriers
  const Handler* handlers = nullptr;  // the usual ones, by Record::handler_id

  [[nodiscard]] Dim3 thread_of(const Warp& warp, int lane) const;
  // With the place of `record` and the lane's thread.
  [[nodiscard]] Fault make_fault(FaultKind kind, std::string message, const Record* record,
                                 const Warp& warp, int lane) const;
  // Sets the fault unless an earlier one is set.
  void set_fault(FaultKind kind, std::string message, const Record* record, const Warp& warp,
                 int lane);
};

// Where one lane's access of any space lies.
struct LaneAddress {
  std::byte* host = nullptr;  // null: not valid
  const MemoryRegion* region = nullptr;
  bool in_slack = false;  // some of its bytes
};

// The space of an address, which loses the window it has as a generic one.
[[nodiscard]] StateSpace resolve_address(StateSpace space, std::uint64_t& address);

// Finds `bytes` bytes at `address` of `space`. Generic addresses are told apart by their window.
[[nodiscard]] LaneAddress find_lane(const BlockContext& block, const Warp& warp, StateSpace space,
                                    std::uint64_t address, std::uint64_t bytes, int lane);

// Sets the fault that describes what is wrong with an access that find_lane refused, or whose
// address is not a multiple of `alignment`, or that writes a read-only region.
void set_access_fault(const Record* record, Warp& warp, StateSpace space, bool store,
                      std::uint64_t address, std::uint64_t bytes, int lane);

// Of the lanes in `mask`, which want `bytes` bytes each from addresses that are multiples of it.
[[nodiscard]] RequestCost request_cost(const std::uint64_t* addresses, std::uint32_t mask,
                                       std::uint32_t bytes);
// Adds `times` requests of that cost.
void add_requests(RequestTotals& totals, const RequestCost& cost, std::uint64_t times);

// The most lanes of one request that want words of one bank, and that want one word.
struct LaneMeetings {
  std::uint32_t bank_lanes = 0;
  std::uint32_t word_lanes = 0;
};
[[nodiscard]] LaneMeetings lane_meetings(const std::uint64_t* addresses, std::uint32_t mask,
                                         std::uint32_t bytes);

}  // namespace regraph::ptx
