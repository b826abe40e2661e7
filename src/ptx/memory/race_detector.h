// Finds data races of one launch while its blocks run, one after another, on one host thread.
//
// Two accesses to the same bytes by different threads race when at least one writes a new value,
// not both are strong (atomic, volatile, relaxed, acquire, release: PTX ISA, "Memory consistency
// model") and nothing orders them. What orders:
//   - a barrier of the block that both warps passed (or arrived at);
//   - between lanes of one warp, __syncwarp(); and of a read and a later write, every other
//     exchange of the warp's (shuffle, vote): the lanes had what they read before they met there;
//   - a fence, a strong write, a strong read of the same address that comes later, a fence.
// Blocks of a launch are ordered by a release in one and an acquire of the same address in a later
// one, as locks do, whichever of their threads do that; kernels that may order them by fences and
// strong accesses are not checked across blocks. Writing the value that is there already is no
// conflict: many correct programs let several threads store the same flag. Of the lanes of a warp
// that store to one place by one instruction one does, and which is not said (CUDA C++ Programming
// Guide, "SIMT Architecture"): where their fp32 values differ by rounding alone that is no conflict
// either, as when lanes added the same terms in two orders.
//
// Loads that promise read-only memory (ld.global.nc) race with every write of the launch that came
// before, even one of their own thread: PTX ISA, "ld.global.nc".
//
// Asynchronous units (bulk copies, wgmma.mma_async) access memory from when they are asked to until
// something says that they are done: race_asynchronous.cpp. To vector clocks each is an agent of
// its own, which nobody is ordered with but those that learn that it is done.
//
// Each granule (the size of the smallest access) remembers its last plain and its last strong
// write, and two reads by different warps. Barriers are tracked by one vector clock a warp
// (Mattern, 1989; with two readers instead of all, as FastTrack's epochs, Flanagan and Freund,
// 2009).
#pragma once

#include "ptx/memory/block_context.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace regraph::ptx {

class RaceDetector {
 public:
  // `memory`: the launch's global regions. Global memory beyond `kMostGlobalBytes` is not checked.
  RaceDetector(const Program::Code& code, const LaunchArguments& arguments,
               const std::vector<MemoryRegion>& global);

  void begin_block(std::uint64_t linear_block, std::size_t warps);
  // The lanes in warp.exec are about to execute the memory record. Stores are carried out here,
  // lane by lane, to tell new values from old ones. Returns false after setting a fault. Lanes
  // whose address is not valid are left to the record's own handler.
  bool access(const Record& record, Warp& warp, const SiteInfo& site,
              const std::uint64_t* addresses);
  // Lanes of an asynchronous copy write: when it starts, for all accesses before have to be over,
  // and when it arrives. Nothing is written here. Returns false after setting a fault.
  bool copy(const PendingCopies::Copy& copy, std::uint32_t lanes, Warp& warp);
  // A lane of the warp asks agent `agent` to read or write (`values`, else null) `bytes` bytes.
  // Nothing is written here. Returns false after setting a fault.
  bool asynchronous(const Record& record, Warp& warp, int lane, std::uint32_t agent,
                    StateSpace space, std::uint64_t address, std::uint64_t bytes,
                    const std::byte* values);
  // What the warp asked its agent for until now is a group; all but the newest `kept` are done.
  void commit_group(const Warp& warp, std::uint32_t agent);
  void await_groups(const Warp& warp, std::uint32_t agent, std::uint64_t kept);
  // The agent that does copies which the mbarrier at `address` hears of.
  [[nodiscard]] std::uint32_t agent_of(std::uint64_t address);
  // A lane initialises the mbarrier or does something else with it. False after setting a fault.
  bool use_mbarrier(const Record& record, Warp& warp, int lane, std::uint64_t address,
                    bool initialises);
  // Others will know of what the warp did; of what was copied; a phase ends; the warp sees that.
  void arrive_at(std::uint64_t mbarrier, const Warp& warp);
  void copied_to(std::uint64_t mbarrier);
  void complete_phase(std::uint64_t mbarrier);
  void pass_mbarrier(std::uint64_t mbarrier, const Warp& warp);
  void sync_warp(const Warp& warp);
  void exchange_lanes(const Warp& warp);
  void fence(const Warp& warp);
  // Barrier `id`: a warp arrives without waiting; `warps` (a bit each) leave it together.
  void arrive(std::uint32_t id, std::uint32_t warp);
  void barrier(std::uint32_t id, std::uint32_t warps);

  // The first read of shared memory that no thread of its block had written, in words.
  [[nodiscard]] const std::optional<Fault>& uninitialised_read() const { return uninitialised_; }

  static constexpr std::uint64_t kMostGlobalBytes = 16ULL << 20;

 private:
  static constexpr std::uint32_t kMostWarps = 32;

 public:
  // Agents: the tensor cores and the bulk stores of each warp, bulk copies by mbarrier.
  static constexpr std::uint32_t kNoAgent = 0;
  [[nodiscard]] static std::uint32_t tensor_agent(const Warp& warp) { return 1 + warp.index; }
  [[nodiscard]] static std::uint32_t store_agent(const Warp& warp) {
    return 1 + kMostWarps + warp.index;
  }

 private:
  static constexpr std::uint32_t kCopyAgents = 16;
  static constexpr std::uint32_t kFirstCopyAgent = 1 + 2 * kMostWarps;
  static constexpr std::uint32_t kAgents = kFirstCopyAgent + kCopyAgents;  // with none
  using Clock = std::array<std::uint32_t, kMostWarps + kAgents>;
  static void join(Clock& into, const Clock& other);

  // One access, or several by lanes of one warp between two synchronisations.
  struct Access {
    std::uint32_t block = 0;     // linear + 1; 0: none
    std::uint32_t time = 0;      // of the warp's clock
    std::uint32_t epoch = 0;     // of the warp's own synchronisations
    std::uint32_t exchange = 0;  // likewise, exchanges between lanes counted too
    std::uint32_t lanes = 0;
    std::uint32_t instruction = 0;
    std::uint8_t warp = 0;   // that did it, or asked for it
    std::uint8_t agent = 0;  // that does it; then `time` is of its clock
    bool strong = false;
  };
  struct Cell {
    Access write;         // the last one that is not strong
    Access strong_write;  // the last strong one
    Access reads[2];
  };
  struct CellRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::unique_ptr<Cell[], void (*)(void*)> cells;
  };
  struct WarpState {
    Clock clock = {};     // what of each warp happened before
    Clock fenced = {};    // the clock at the last fence
    Clock acquired = {};  // what strong reads saw, in force from the next fence on
    std::uint32_t epoch = 0;
    std::uint32_t exchange = 0;
    std::array<std::vector<std::uint32_t>, 2> groups;  // of its agents: the last times in them
  };
  // What threads that see an mbarrier's phase end know.
  struct MbarrierClocks {
    Clock arrived = {};
    Clock completed = {};
  };
  // What is being checked.
  struct Current {
    const Record* record = nullptr;
    Warp* warp = nullptr;
    int lane = 0;
    Access access;
    bool is_shared = false;
  };

  // An access of the warp that happens now, with no lanes yet.
  [[nodiscard]] Current current(const Record& record, Warp& warp) const;
  // Whether both are of one execution of one instruction by a warp.
  [[nodiscard]] static bool is_same_store(const Access& earlier, const Current& now);
  [[nodiscard]] bool ordered(const Access& earlier, const Current& now, bool earlier_reads) const;
  bool check_read(Cell& cell, const Current& now, std::uint64_t address);
  bool check_read_only(const Cell& cell, const Current& now, std::uint64_t address);
  bool check_write(Cell& cell, const Current& now, bool new_value, std::uint64_t address);
  bool report(const Access& earlier, bool earlier_writes, bool writes, const Current& now,
              std::uint64_t address);
  void note_uninitialised(const Current& now, std::uint64_t address);
  void synchronise(const SiteInfo& site, std::uint32_t warp, std::uint64_t key);
  Cell* cells_of(StateSpace space, std::uint64_t address);

  const Program::Code& code_;
  std::uint64_t shared_granule_ = 16;
  std::uint64_t global_granule_ = 16;
  bool checks_global_ = true;
  CellRange shared_;
  std::vector<CellRange> global_;
  std::vector<WarpState> warps_;
  std::array<Clock, 17> arrived_ = {};                 // by barrier, the cluster's the last
  std::unordered_map<std::uint64_t, Clock> released_;  // by address
  // Blocks, a bit each: those before the releases of an address, and before this block's acquires.
  using Blocks = std::vector<std::uint64_t>;
  static void join(Blocks& into, const Blocks& other);
  std::unordered_map<std::uint64_t, Blocks> released_blocks_;
  Blocks acquired_blocks_;
  std::unordered_map<std::uint64_t, MbarrierClocks> mbarriers_;
  std::unordered_map<std::uint64_t, std::uint32_t> copy_agents_;  // by mbarrier
  std::array<std::uint32_t, kAgents> agent_times_ = {};
  std::uint32_t block_ = 0;
  std::optional<Fault> uninitialised_;
};

}  // namespace regraph::ptx
