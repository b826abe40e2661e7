#include "eval/model/machine_path.h"

#include "sass/loop_entries.h"

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

namespace regraph {
namespace {

using sass::Instruction;
using sass::OperationClass;

class Scoreboard {
 public:
  Scoreboard(const sass::MachineCode& code, const sass::ExecutionCounts& counts,
             const DeviceSpec& device, const LoadLatency& global_load)
      : code_(code), counts_(counts), device_(device), global_load_(global_load) {}

  // Runs a block once; returns by how many clocks that moves the warp on.
  double run(const ptx::BasicBlock& block) {
    const double before = clock_;
    for (std::uint32_t index = block.first; index < block.last; ++index)
      issue(index);
    return clock_ - before;
  }

 private:
  double latency(std::uint32_t index) const {
    const Instruction& what = code_.instructions[index].what;
    switch (what.operation_class) {
      case OperationClass::load_global:
      case OperationClass::load_generic:
      case OperationClass::copy_to_shared:
        return global_load_.of(counts_.ptx_instruction[index]);
      case OperationClass::atomic_global:
        return device_.l2_latency;
      case OperationClass::load_shared:
      case OperationClass::atomic_shared:
        return device_.shared_latency;
      case OperationClass::load_local:
        return global_load_.local;
      case OperationClass::load_constant:
        return device_.l1_latency;
      case OperationClass::fp64:
        return 2.0 * device_.arithmetic_latency;
      case OperationClass::integer:
      case OperationClass::fp32:
      case OperationClass::fp16:
      case OperationClass::integer_multiply:
        return device_.arithmetic_latency;
      default:
        return device_.special_function_latency;
    }
  }

  void issue(std::uint32_t index) {
    const Instruction& what = code_.instructions[index].what;
    double start = clock_;
    for (std::size_t barrier = 0; barrier < barriers_.size(); ++barrier) {
      if ((what.wait_mask >> barrier & 1U) != 0) start = std::max(start, barriers_[barrier]);
    }
    if (what.operation == sass::kDepbar) {
      while (copies_.size() > what.pending_copies) {
        start = std::max(start, copies_.front());
        copies_.pop_front();
      }
    }
    if (what.operation_class == OperationClass::barrier) start += device_.barrier_latency;
    const double done = start + latency(index);
    if (what.operation_class == OperationClass::copy_to_shared)
      open_copy_ = std::max(open_copy_, done);
    if (what.operation == sass::kLdgDepbar) {
      copies_.push_back(open_copy_);
      if (copies_.size() > kMostCopies) copies_.pop_front();
      open_copy_ = 0.0;
    }
    if (what.write_barrier < barriers_.size()) {
      double& barrier = barriers_[what.write_barrier];
      barrier = std::max(barrier, done);
    }
    // Operands are read soon after issue.
    if (what.read_barrier < barriers_.size()) {
      double& barrier = barriers_[what.read_barrier];
      barrier = std::max(barrier, start + kOperandLatencies * device_.arithmetic_latency);
    }
    clock_ = start + std::max<double>(1.0, what.stall);
  }

  static constexpr std::size_t kMostCopies = 64;
  // Until a memory instruction has read its registers, in arithmetic latencies.
  static constexpr double kOperandLatencies = 2.0;

  const sass::MachineCode& code_;
  const sass::ExecutionCounts& counts_;
  const DeviceSpec& device_;
  const LoadLatency& global_load_;
  std::array<double, 6> barriers_{};  // when each falls
  std::deque<double> copies_;         // when groups of asynchronous copies are done
  double open_copy_ = 0.0;
  double clock_ = 0.0;
};

}  // namespace

double machine_path_clocks(const sass::MachineCode& code, const sass::ExecutionCounts& counts,
                           const DeviceSpec& device, const LoadLatency& global_load) {
  const auto& blocks = code.flow.blocks;
  const auto& executions = counts.block_executions;
  if (executions.size() != blocks.size()) return 0.0;
  const std::vector<double> entered_share = sass::entered_shares(code.flow, executions);
  Scoreboard scoreboard(code, counts, device, global_load);
  double total = 0.0;
  // A run: neighbouring blocks with the same innermost loop.
  for (std::size_t first = 0; first < blocks.size();) {
    std::size_t last = first;
    while (last < blocks.size() && blocks[last].loop == blocks[first].loop)
      ++last;
    const auto pass = [&](auto weight) {
      for (std::size_t b = first; b < last; ++b) {
        if (executions[b] > 0.0) total += weight(executions[b]) * scoreboard.run(blocks[b]);
      }
    };
    if (blocks[first].loop < 0) {
      pass([](double times) { return times; });
    } else {
      const double entered = entered_share[static_cast<std::size_t>(blocks[first].loop)];
      pass([&](double times) { return times * entered; });
      // Later passes overlap with what the pass before left pending.
      pass([&](double times) { return times * (1.0 - entered); });
    }
    first = last;
  }
  return total;
}

}  // namespace regraph
