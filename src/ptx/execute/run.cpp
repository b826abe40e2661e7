// Runs a grid: blocks handed out in order to host threads, counters added up, the first fault kept.
#include "ptx/execute/block_runner.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace regraph::ptx {
namespace {

std::uint64_t linear(const Dim3& block, const Dim3& grid) {
  return (std::uint64_t{block.z} * grid.y + block.y) * grid.x + block.x;
}

}  // namespace

void SlackUse::add(const SlackUse& other, const Dim3& grid) {
  reads += other.reads;
  writes += other.writes;
  if (other.first.kind == FaultKind::none) return;
  if (first.kind == FaultKind::none || linear(other.first.block, grid) < linear(first.block, grid))
    first = other.first;
}

Fault check_launch(const Program::Code& code, const LaunchArguments& arguments,
                   const RunOptions& options) {
  constexpr std::uint64_t kMostThreads = 1024;
  Fault fault;
  const std::array<std::uint32_t, 3>& cluster = code.function->cluster;
  const std::uint64_t shared = code.static_shared_bytes + arguments.dynamic_shared_bytes;
  if (arguments.block.count() == 0 || arguments.block.count() > kMostThreads) {
    fault.message = fmt::format("a block of {} threads, the limit is {}", arguments.block.count(),
                                kMostThreads);
  } else if (arguments.grid.count() == 0) {
    fault.message = "an empty grid";
  } else if (arguments.grid.x % cluster[0] + arguments.grid.y % cluster[1] +
                 arguments.grid.z % cluster[2] !=
             0) {
    fault.message = fmt::format(
        "a grid of {}x{}x{} blocks is no whole number of clusters of {}x{}x{}", arguments.grid.x,
        arguments.grid.y, arguments.grid.z, cluster[0], cluster[1], cluster[2]);
  } else if (arguments.parameters.size() < code.parameter_bytes) {
    fault.message = fmt::format("{} bytes of parameters, the kernel has {}",
                                arguments.parameters.size(), code.parameter_bytes);
  } else if (shared > options.shared_limit_bytes) {
    fault.message = fmt::format(
        "{} bytes of shared memory ({} static, {} dynamic), the limit is {}", shared,
        code.static_shared_bytes, arguments.dynamic_shared_bytes, options.shared_limit_bytes);
  } else {
    for (std::uint64_t block : options.blocks) {
      if (block < arguments.grid.count()) continue;
      fault.message =
          fmt::format("block {} is not in the grid of {}", block, arguments.grid.count());
    }
  }
  if (!fault.message.empty()) fault.kind = FaultKind::bad_launch;
  return fault;
}

namespace {

// What the threads of one run share.
struct Shared {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> executed{0};
  std::atomic<std::uint64_t> first_fault{~0ULL};  // position in the list of blocks
  std::mutex mutex;
  Fault fault;  // of first_fault
  Profile profile;
  std::optional<Fault> uninitialised_read;
  SlackUse slack;
  // For the budget: finished blocks after the first unfinished one, and the sum of those before.
  std::map<std::uint64_t, std::uint64_t> ahead;
  std::uint64_t counted = 0;
  std::uint64_t sum = 0;
};

class Grid {
 public:
  Grid(const Program::Code& code, const LaunchArguments& arguments, const RunOptions& options,
       const Cancellation& cancellation, std::unique_ptr<LaunchMemory> launch_memory)
      : code_(code),
        arguments_(arguments),
        options_(options),
        cancellation_(cancellation),
        launch_memory_(std::move(launch_memory)),
        listed_(options.blocks) {
    std::sort(listed_.begin(), listed_.end());
    count_ = listed_.empty() ? arguments.grid.count() : listed_.size();
  }

  RunResult run() {
    const int wanted =
        options_.threads > 0 ? options_.threads : tbb::this_task_arena::max_concurrency();
    int threads =
        static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), count_));
    if (options_.left_behind != nullptr) {
      options_.left_behind->shared.resize(arguments_.grid.count());
      options_.left_behind->local.resize(arguments_.grid.count());
    }
    if (code_.has_global_atomics || options_.detect_races || options_.writes != nullptr ||
        options_.reads != nullptr) {
      threads = 1;
    }
    if (threads <= 1) {
      work();
    } else {
      tbb::parallel_for(
          0, threads, [this](int) { work(); }, tbb::simple_partitioner());
    }
    return finish();
  }

 private:
  [[nodiscard]] std::uint64_t block_at(std::uint64_t position) const {
    return listed_.empty() ? position : listed_[position];
  }

  void work() {
    BlockRunner runner(code_, arguments_, *launch_memory_, options_);
    const std::uint64_t budget = options_.instruction_budget;
    while (true) {
      // Asked before a position is taken: a block that nobody runs would hide that the sum of those
      // up to it is over the budget.
      if (budget != 0 && shared_.executed.load() > budget) break;
      const std::uint64_t position = shared_.next.fetch_add(1, std::memory_order_relaxed);
      // Positions are handed out in order: all before a fault are finished by someone.
      if (position >= count_ || position > shared_.first_fault.load()) break;
      runner.run(block_at(position), budget, cancellation_);
      runner.leave(block_at(position));
      shared_.executed.fetch_add(runner.executed(), std::memory_order_relaxed);
      if (runner.fault().kind != FaultKind::none) record_fault(position, runner.fault());
      if (budget != 0) count_block(position, runner.executed());
    }
    const std::lock_guard lock(shared_.mutex);
    runner.add_to(shared_.profile);
    if (const auto read = runner.uninitialised_read()) shared_.uninitialised_read = read;
    shared_.slack.add(runner.slack(), arguments_.grid);
  }

  void record_fault(std::uint64_t position, const Fault& fault) {
    const std::lock_guard lock(shared_.mutex);
    keep_fault(position, fault);
  }
  void keep_fault(std::uint64_t position, const Fault& fault) {
    if (position >= shared_.first_fault.load()) return;
    shared_.first_fault.store(position);
    shared_.fault = fault;
  }

  // The budget ends at the first block, in order, that takes the sum over it. Blocks end out of
  // order on several host threads: those ahead wait in `ahead`, never more than there are threads.
  void count_block(std::uint64_t position, std::uint64_t executed) {
    const std::lock_guard lock(shared_.mutex);
    shared_.ahead[position] = executed;
    while (!shared_.ahead.empty() && shared_.ahead.begin()->first == shared_.counted) {
      const std::uint64_t before = shared_.sum;
      shared_.sum += shared_.ahead.begin()->second;
      shared_.ahead.erase(shared_.ahead.begin());
      if (before <= options_.instruction_budget && shared_.sum > options_.instruction_budget &&
          shared_.counted < shared_.first_fault.load()) {
        keep_fault(shared_.counted, over_budget(shared_.counted));
      }
      ++shared_.counted;
    }
  }

  [[nodiscard]] Fault over_budget(std::uint64_t position) const {
    const std::uint64_t block = block_at(position);
    const Dim3& grid = arguments_.grid;
    Fault fault;
    fault.kind = FaultKind::instruction_budget;
    fault.message =
        fmt::format("the first {} blocks of {} already take {} warp instructions, the budget is {}",
                    position + 1, count_, shared_.sum, options_.instruction_budget);
    fault.block = Dim3{static_cast<std::uint32_t>(block % grid.x),
                       static_cast<std::uint32_t>(block / grid.x % grid.y),
                       static_cast<std::uint32_t>(block / grid.x / grid.y)};
    return fault;
  }

  RunResult finish() {
    RunResult result;
    result.fault = shared_.fault;
    result.uninitialised_read = shared_.uninitialised_read;
    result.slack = shared_.slack;
    result.profile = std::move(shared_.profile);
    if (!result.ok()) {
      result.profile = Profile{};
      BlockRunner(code_, arguments_, *launch_memory_, options_).add_to(result.profile);
    }
    return result;
  }

  const Program::Code& code_;
  const LaunchArguments& arguments_;
  const RunOptions& options_;
  const Cancellation& cancellation_;
  std::unique_ptr<LaunchMemory> launch_memory_;
  std::vector<std::uint64_t> listed_;
  std::uint64_t count_ = 0;
  Shared shared_;
};

}  // namespace

RunResult run(const Program& program, const LaunchArguments& arguments, DeviceMemory& memory,
              const RunOptions& options, const Cancellation& cancellation) {
  RunResult result;
  result.fault = check_launch(program.code(), arguments, options);
  if (!result.ok()) return result;
  auto launch_memory = make_launch_memory(program.code(), arguments, memory, options.variables);
  if (!launch_memory.ok()) {
    result.fault = {
        FaultKind::bad_launch, launch_memory.error().message, 0, 0, {0, 0, 0}, {0, 0, 0}};
    return result;
  }
  return Grid(program.code(), arguments, options, cancellation, *std::move(launch_memory)).run();
}

}  // namespace regraph::ptx
