// Runs blocks of one launch on one host thread. All memory is allocated once and used again for
// every block.
#pragma once

#include "base/cancellation.h"
#include "ptx/memory/block_context.h"
#include "ptx/memory/module_memory.h"
#include "ptx/memory/race_detector.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph::ptx {

// Memory that lives as long as one launch: the parameter block, the module's variables unless the
// caller keeps them, and where everything lies.
struct LaunchMemory {
  std::optional<ModuleMemory> own_variables;
  std::vector<std::byte> parameters;
  std::vector<MemoryRegion> global_regions;  // DeviceMemory's and the module's, sorted
  std::vector<MemoryRegion> constant_regions;
  std::vector<std::string> names;  // what the regions of shared variables point to
};
// `variables` may be null: as RunOptions::variables. Errors: resource, invalid_argument.
[[nodiscard]] Result<std::unique_ptr<LaunchMemory>> make_launch_memory(
    const Program::Code& code, const LaunchArguments& arguments, const DeviceMemory& memory,
    ModuleMemory* variables);

// Returns what is wrong with the launch; kind none when nothing is.
[[nodiscard]] Fault check_launch(const Program::Code& code, const LaunchArguments& arguments,
                                 const RunOptions& options);

class BlockRunner {
 public:
  BlockRunner(const Program::Code& code, const LaunchArguments& arguments,
              const LaunchMemory& launch_memory, const RunOptions& options);

  // Runs one block to its end or its fault. `budget`: warp instructions, 0 for no limit.
  void run(std::uint64_t linear_block, std::uint64_t budget, const Cancellation& cancellation);

  [[nodiscard]] const Fault& fault() const { return context_.fault; }
  // Over all blocks so far.
  [[nodiscard]] const SlackUse& slack() const { return context_.slack; }
  // As RunResult::uninitialised_read, over all blocks so far.
  [[nodiscard]] std::optional<Fault> uninitialised_read() const {
    return races_ == nullptr ? std::nullopt : races_->uninitialised_read();
  }
  // Warp instructions the last block executed.
  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  // Puts the last block's memory where RunOptions::left_behind asks for it.
  void leave(std::uint64_t linear_block);
  // Adds this runner's counters.
  void add_to(Profile& profile) const;

  // For the cache simulation: who receives traced accesses, and the time (instructions of a warp)
  // at which warps stop as if they had exited; 0 for no limit.
  void set_sink(AccessSink* sink) { context_.sink = sink; }
  void set_time_limit(std::int64_t limit) { time_limit_ = limit; }
  // Whether the time limit cut the last block short, and how long its longest warp ran.
  [[nodiscard]] bool truncated() const { return truncated_; }
  [[nodiscard]] std::int64_t duration() const { return duration_; }
  [[nodiscard]] const BlockContext& context() const { return context_; }

 private:
  void start(std::uint64_t linear_block);
  bool advance(Warp& warp, std::uint64_t budget);
  void build_registers();
  // Of a register that is the same in every block.
  [[nodiscard]] std::uint32_t special_value(const Warp& warp, SpecialRegister which,
                                            int lane) const;
  void write_special(Warp& warp, const SpecialSlot& slot);
  void draw_warp_slots();
  void fill_local(std::uint64_t linear_block);
  void run_warp(Warp& warp);
  void rotate_yielding();
  bool release_barriers();
  void finish_barrier(std::uint32_t id);
  void stuck_fault();
  bool repeats(std::uint64_t round);
  [[nodiscard]] std::uint64_t state_hash() const;
  [[nodiscard]] std::uint64_t global_hash() const;

  const Program::Code& code_;
  BlockContext context_;
  bool exited_threads_arrive_ = false;
  std::uint8_t shared_fill_ = 0xff;
  std::uint64_t hardware_seed_ = 0;
  // Of a multiprocessor: what %nwarpid says from compute capability 7.0 on.
  static constexpr std::uint32_t kWarpSlots = 64;
  std::array<std::uint8_t, kWarpSlots> warp_slots_{};  // %warpid of the block's warps
  bool reads_warp_slots_ = false;
  LeftBehind* left_behind_ = nullptr;
  std::vector<Record> records_;
  std::unique_ptr<AccessSite[]> sites_;
  std::unique_ptr<std::byte[], void (*)(std::byte*)> registers_;
  std::size_t register_stride_ = 0;
  std::vector<std::byte> shared_;
  std::vector<std::byte> local_;
  std::unique_ptr<RaceDetector> races_;
  std::vector<Warp> warps_;
  std::vector<StackEntry> stacks_;
  std::vector<CallStack> calls_;
  std::vector<PendingCopies> copies_;
  std::vector<std::uint64_t> block_warps_;
  std::vector<std::uint64_t> block_threads_;
  std::vector<std::uint64_t> guard_warps_;
  std::vector<std::uint64_t> guard_threads_;
  std::vector<std::uint8_t> conditions_;  // bits of watched_handlers.h by instruction
  static constexpr std::uint32_t kBarriers = kClusterBarrier + 1;
  std::uint32_t arrived_[kBarriers] = {};  // threads that arrived without waiting
  std::uint64_t executed_ = 0;
  std::uint64_t blocks_run_ = 0;
  std::int64_t time_limit_ = 0;
  std::int64_t duration_ = 0;
  bool truncated_ = false;
  bool uses_shared_ = false;
  std::uint64_t seen_state_ = 0;  // of an earlier round, and what global memory was then
  std::uint64_t seen_global_ = 0;
};

}  // namespace regraph::ptx
