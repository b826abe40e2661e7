#include "ptx/execute/block_runner.h"

#include "base/random.h"
#include "ptx/decode/handler_tables.h"
#include "ptx/execute/path_rotation.h"
#include "ptx/execute/watched_handlers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

namespace regraph::ptx {
namespace {

// Instructions a warp may run before others get their turn: long enough to cost nothing, short
// enough that a warp spinning on another's flag, a cancellation and a spent budget are noticed
// soon.
constexpr std::int64_t kQuantum = 65536;
constexpr std::size_t kRegisterAlignment = 64;

void free_aligned(std::byte* memory) {
  ::operator delete[](memory, std::align_val_t{kRegisterAlignment});
}

std::uint64_t shared_span(const Program::Code& code, const LaunchArguments& arguments) {
  return code.dynamic_shared_address - kSharedBase + arguments.dynamic_shared_bytes;
}

}  // namespace

BlockRunner::BlockRunner(const Program::Code& code, const LaunchArguments& arguments,
                         const LaunchMemory& launch_memory, const RunOptions& options)
    : code_(code),
      exited_threads_arrive_(options.exited_threads_arrive),
      shared_fill_(options.shared_fill),
      hardware_seed_(options.hardware_seed),
      left_behind_(options.left_behind),
      records_(code.records),
      sites_(new AccessSite[code.sites.size()]()),
      registers_(nullptr, &free_aligned),
      shared_(shared_span(code, arguments)) {
  const Handler* table = handler_table(options.handlers);
  context_.handlers = table;
  if (options.detect_races) {
    races_ = std::make_unique<RaceDetector>(code, arguments, launch_memory.global_regions);
    context_.races = races_.get();
  }
  context_.writes = options.writes;
  context_.reads = options.reads;
  const Watch watch = {races_ != nullptr, options.record_paths, options.writes != nullptr};
  for (Record& record : records_)
    record.handler = watched_handler(record, table[record.handler_id], watch);
  context_.code = &code;
  context_.grid = arguments.grid;
  context_.block = arguments.block;
  context_.local_bytes = code.local_bytes;
  context_.lanes_stay_apart = options.lanes_stay_apart;
  context_.global = launch_memory.global_regions;
  context_.constant = launch_memory.constant_regions;
  if (!launch_memory.parameters.empty()) {
    auto* host = const_cast<std::byte*>(launch_memory.parameters.data());
    context_.parameter.push_back({0, launch_memory.parameters.size(), host, false, "parameters"});
  }
  for (const PlacedVariable& placed : code.shared) {
    context_.shared.push_back({placed.address, placed.address + placed.bytes,
                               shared_.data() + (placed.address - kSharedBase), true,
                               launch_memory.names[placed.variable].c_str()});
  }
  if (arguments.dynamic_shared_bytes > 0) {
    const std::uint64_t begin = code.dynamic_shared_address;
    context_.shared.push_back({begin, begin + arguments.dynamic_shared_bytes,
                               shared_.data() + (begin - kSharedBase), true,
                               "dynamic shared memory"});
  }
  for (std::size_t i = 0; i < code.sites.size(); ++i) {
    const SiteInfo& info = code.sites[i];
    AccessSite& site = sites_[i];
    site.space = info.space;
    uses_shared_ =
        uses_shared_ || info.space == StateSpace::shared || info.space == StateSpace::generic;
    site.store = info.store;
    site.element_bytes = info.element_bytes;
    site.elements = info.elements;
    site.bytes = static_cast<std::uint32_t>(info.element_bytes) * info.elements;
    site.count = options.count;
  }
  block_warps_.resize(code.control_flow.blocks.size());
  block_threads_.resize(code.control_flow.blocks.size());
  guard_warps_.resize(code.guard_counters);
  guard_threads_.resize(code.guard_counters);
  conditions_.resize(code.instructions.size());
  build_registers();
  reads_warp_slots_ = std::ranges::any_of(code_.specials, [](const SpecialSlot& slot) {
    return slot.which == SpecialRegister::warpid;
  });
  // Parameters are the same in every block.
  for (Warp& warp : warps_) {
    for (const ParameterSlot& slot : code_.parameter_slots) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, launch_memory.parameters.data() + slot.parameter_offset, slot.bytes);
      if (slot.sign_extend) {
        const int shift = 64 - 8 * slot.bytes;
        bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
      }
      for (int l = 0; l < kWarpLanes; ++l) {
        if (slot.wide) {
          lanes<std::uint64_t>(warp, slot.offset)[l] = bits;
        } else {
          lanes<std::uint32_t>(warp, slot.offset)[l] = static_cast<std::uint32_t>(bits);
        }
      }
    }
  }
}

void BlockRunner::build_registers() {
  const std::uint64_t threads = context_.block.count();
  const std::size_t warp_count = (threads + kWarpLanes - 1) / kWarpLanes;
  // An odd number of cache lines between warps spreads them over the cache's sets.
  register_stride_ = (code_.register_bytes + kRegisterAlignment - 1) / kRegisterAlignment;
  register_stride_ = (register_stride_ | 1) * kRegisterAlignment;
  const std::size_t bytes = register_stride_ * warp_count;
  registers_.reset(
      static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{kRegisterAlignment})));
  std::memset(registers_.get(), 0, bytes);
  // As for local memory: what nobody wrote is another value in every run.
  for (std::size_t at = 0; hardware_seed_ != 0 && at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random_bits(hardware_seed_, at);
    std::memcpy(registers_.get() + at, &word, sizeof(word));
  }
  const std::size_t local_a_warp = code_.local_bytes * kWarpLanes;
  local_.resize(local_a_warp * warp_count);
  warps_.resize(warp_count);
  calls_.resize(warp_count);
  copies_.resize(warp_count);
  const std::size_t entries = kStackEntries + (code_.calls.empty() ? 0 : kMostCallDepth);
  stacks_.resize(entries * warp_count);
  for (std::size_t i = 0; i < warp_count; ++i) {
    Warp& warp = warps_[i];
    warp.registers = registers_.get() + i * register_stride_;
    warp.records = records_.data();
    warp.sites = sites_.get();
    warp.block_warps = block_warps_.data();
    warp.block_threads = block_threads_.data();
    warp.guard_warps = guard_warps_.data();
    warp.guard_threads = guard_threads_.data();
    warp.conditions = conditions_.data();
    warp.block = &context_;
    warp.stack = stacks_.data() + i * entries;
    warp.calls = &calls_[i];
    warp.copies = &copies_[i];
    warp.local = local_.data() + i * local_a_warp;
    warp.index = static_cast<std::uint32_t>(i);
    for (const ConstantSlot& slot : code_.constants) {
      for (int l = 0; l < kWarpLanes; ++l) {
        if (slot.wide) {
          lanes<std::uint64_t>(warp, slot.offset)[l] = slot.bits;
        } else {
          lanes<std::uint32_t>(warp, slot.offset)[l] = static_cast<std::uint32_t>(slot.bits);
        }
      }
    }
  }
}

void BlockRunner::start(std::uint64_t linear_block) {
  const Dim3& grid = context_.grid;
  context_.block_index = Dim3{static_cast<std::uint32_t>(linear_block % grid.x),
                              static_cast<std::uint32_t>(linear_block / grid.x % grid.y),
                              static_cast<std::uint32_t>(linear_block / grid.x / grid.y)};
  context_.fault = Fault{};
  executed_ = 0;
  duration_ = 0;
  truncated_ = false;
  for (std::uint32_t& arrived : arrived_)
    arrived = 0;
  std::uint64_t threads = context_.block.count();
  if (reads_warp_slots_) draw_warp_slots();
  for (Warp& warp : warps_) {
    for (const SpecialSlot& slot : code_.specials) {
      if (depends_on_block(slot.which) || slot.which == SpecialRegister::warpid ||
          blocks_run_ == 0) {
        write_special(warp, slot);
      }
    }
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, kWarpLanes));
    threads -= count;
    warp.initial = count == kWarpLanes ? kFullMask : (1U << count) - 1U;
    warp.live = warp.active = warp.exec = warp.initial;
    warp.reconvergence = kNoBlock;
    warp.stack_size = 0;
    warp.stack[0].mask = 0;  // no path was ever put aside
    warp.rotated = false;
    warp.yields = false;
    warp.gives_up = false;
    warp.waits = 0;
    warp.frame = 0;
    warp.depth = 0;
    warp.calls->frames.clear();
    warp.copies->clear();
    warp.resume = records_.data();
    warp.status = WarpStatus::ready;
    warp.time = 0;
  }
  context_.tensor_maps.clear();
  if (races_ != nullptr) races_->begin_block(linear_block, warps_.size());
  if (uses_shared_ && !shared_.empty()) std::memset(shared_.data(), shared_fill_, shared_.size());
  fill_local(linear_block);
  if (left_behind_ != nullptr) {
    const auto take = [](const std::vector<std::byte>& from, std::vector<std::byte>& to) {
      if (from.size() == to.size()) std::copy(from.begin(), from.end(), to.begin());
    };
    if (uses_shared_) take(left_behind_->shared[linear_block], shared_);
    take(left_behind_->local[linear_block], local_);
  }
  ++blocks_run_;
}

// What nobody wrote is another value in every run, and in every block.
void BlockRunner::fill_local(std::uint64_t linear_block) {
  if (hardware_seed_ == 0) {
    std::fill(local_.begin(), local_.end(), std::byte{shared_fill_});
    return;
  }
  const std::uint64_t word = random_bits(hardware_seed_, linear_block);
  for (std::size_t at = 0; at < local_.size(); at += sizeof(word))  // frames are multiples of 16
    std::memcpy(local_.data() + at, &word, sizeof(word));
}

void BlockRunner::leave(std::uint64_t linear_block) {
  if (left_behind_ == nullptr) return;
  if (uses_shared_) left_behind_->shared[linear_block] = shared_;
  left_behind_->local[linear_block] = local_;
}

void BlockRunner::run_warp(Warp& warp) {
  const Record* record = warp.resume;
  do {
    record = record->handler(record, warp);
  } while (record != nullptr);
  if (warp.status != WarpStatus::at_barrier) return;
  // bar.arrive does not wait.
  const auto operation = static_cast<Operation>(warp.last->handler_id / kLaneTypes);
  if (operation == Operation::barrier_arrive) {
    arrived_[warp.barrier] += kWarpLanes;
    if (races_ != nullptr) races_->arrive(warp.barrier, warp.index);
    warp.status = WarpStatus::ready;
  }
}

// Gives a warp its turn. Returns false when the block has to stop with a fault.
bool BlockRunner::advance(Warp& warp, std::uint64_t budget) {
  std::int64_t quantum = kQuantum;
  if (budget != 0) {
    const std::uint64_t left = budget - std::min(budget, executed_);
    quantum = static_cast<std::int64_t>(std::min<std::uint64_t>(left, kQuantum));
  }
  if (time_limit_ != 0) {
    quantum = std::min(quantum, time_limit_ - warp.time);
    if (quantum <= 0) {
      truncated_ = true;
      warp.live = 0;
      warp.status = WarpStatus::finished;
      return true;
    }
  }
  warp.quantum = quantum;
  warp.yields = false;
  const std::int64_t before = warp.time;
  run_warp(warp);
  executed_ += static_cast<std::uint64_t>(warp.time - before);
  if (code_.may_spin && warp.status == WarpStatus::ready && !warp.yields) rotate_paths(warp);
  duration_ = std::max(duration_, warp.time);
  if (context_.fault.kind != FaultKind::none) return false;
  if (budget == 0 || executed_ <= budget) return true;
  context_.set_fault(
      FaultKind::instruction_budget,
      fmt::format("the block is still running after {} warp instructions: an endless "
                  "loop, or a problem too large for this budget",
                  budget),
      warp.last, warp, warp.live == 0 ? 0 : __builtin_ctz(warp.live));
  return false;
}

// All that run wait at mbarriers, for others or for lanes of their own warps.
void BlockRunner::rotate_yielding() {
  const bool all = std::all_of(warps_.begin(), warps_.end(), [](const Warp& warp) {
    return warp.status != WarpStatus::ready || warp.yields;
  });
  if (!all) return;
  for (Warp& warp : warps_) {
    if (warp.status == WarpStatus::ready) rotate_paths(warp);
  }
}

void BlockRunner::run(std::uint64_t linear_block, std::uint64_t budget,
                      const Cancellation& cancellation) {
  start(linear_block);
  for (std::uint64_t round = 1;; ++round) {
    bool ready = false;
    bool waiting = false;
    const std::uint64_t progress = context_.progress;
    for (Warp& warp : warps_) {
      if (warp.status == WarpStatus::ready && !advance(warp, budget)) return;
      ready = ready || warp.status == WarpStatus::ready;
      waiting = waiting || warp.status == WarpStatus::at_barrier;
    }
    if (cancellation.requested()) {
      context_.set_fault(FaultKind::cancelled, "cancelled", nullptr, warps_[0], 0);
      return;
    }
    const bool progresses = context_.progress != progress;
    if (!progresses) rotate_yielding();
    if (ready && code_.may_spin && !progresses && repeats(round)) {
      const Warp& spinning = *std::find_if(warps_.begin(), warps_.end(), [](const Warp& warp) {
        return warp.status == WarpStatus::ready;
      });
      context_.set_fault(FaultKind::deadlock,
                         "this thread waits for ever: its block does the same again and again, and "
                         "blocks that come later do not run before it ends",
                         spinning.last, spinning, __builtin_ctz(spinning.live));
      return;
    }
    if (ready && !waiting) continue;
    const bool released = waiting && release_barriers();
    if (context_.fault.kind != FaultKind::none) return;
    if (ready || released) continue;
    if (!waiting) return;
    stuck_fault();
    return;
  }
}

}  // namespace regraph::ptx
