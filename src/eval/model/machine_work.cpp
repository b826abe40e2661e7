#include "eval/model/machine_work.h"

#include "eval/model/atomic_time.h"

#include <algorithm>
#include <vector>

namespace regraph {
namespace {

using ptx::InstructionClass;
using ptx::InstructionProfile;
using sass::OperationClass;

// Load/store clocks and requests of all PTX instructions of a class, for machine accesses whose
// line says nothing.
struct Average {
  double passes = 0.0;
  double requests = 0.0;
  [[nodiscard]] double each() const { return requests > 0.0 ? passes / requests : 1.0; }
};

class Accountant {
 public:
  Accountant(const sass::ExecutionCounts& counts, const ptx::Profile& profile, WarpWork work)
      : counts_(counts), profile_(profile), work_(work) {
    work_.issued = work_.fp32 = work_.fp64 = work_.integer = work_.integer_multiply = 0.0;
    work_.special_function = work_.shuffle = work_.shared_wavefronts = work_.global_passes = 0.0;
    const double per_warp = 1.0 / static_cast<double>(profile.warps);
    for (const InstructionProfile& p : profile.instructions) {
      if (p.instruction_class == InstructionClass::atomic_shared)
        work_.shared_wavefronts += shared_atomic_clocks(p) * per_warp;
      if (p.instruction_class == InstructionClass::atomic_global)
        work_.global_passes += global_passes(p) * per_warp;
      if (p.requests == 0) continue;
      Average* average = average_of(p.instruction_class);
      if (average == nullptr) continue;
      average->passes += passes(p);
      average->requests += static_cast<double>(p.requests);
    }
  }

  void add(std::size_t index, const sass::Instruction& what) {
    const double times = counts_.executions[index];
    work_.issued += times;
    switch (what.operation_class) {
      case OperationClass::fp32:
      case OperationClass::fp16:
        work_.fp32 += times;
        break;
      case OperationClass::fp64:
        work_.fp64 += times;
        break;
      case OperationClass::integer:
      case OperationClass::vote:
        work_.integer += times;
        break;
      case OperationClass::integer_multiply:
        work_.integer_multiply += times;
        break;
      case OperationClass::special_function:
        work_.special_function += times;
        break;
      case OperationClass::load_constant:
        work_.constant_loads += counts_.active[index];
        break;
      case OperationClass::shuffle:
        work_.shuffle += times;
        break;
      case OperationClass::load_global:
      case OperationClass::load_generic:
      case OperationClass::copy_to_shared:
        access(index, InstructionClass::load_global, work_.global_passes);
        break;
      case OperationClass::store_global:
      case OperationClass::store_generic:
        access(index, InstructionClass::store_global, work_.global_passes);
        break;
      case OperationClass::load_shared:
        access(index, InstructionClass::load_shared, work_.shared_wavefronts);
        break;
      case OperationClass::store_shared:
        access(index, InstructionClass::store_shared, work_.shared_wavefronts);
        break;
      case OperationClass::load_local:
      case OperationClass::store_local:
        // Threads' local words lie side by side: 128 bytes a pass (sass/local_reuse.h).
        work_.global_passes +=
            counts_.active[index] * std::max(1.0, static_cast<double>(what.access_bytes) / 4.0);
        break;
      default:
        break;
    }
  }

  [[nodiscard]] const WarpWork& work() const { return work_; }

 private:
  Average* average_of(InstructionClass kind) {
    switch (kind) {
      case InstructionClass::load_global:
        return &loads_;
      case InstructionClass::store_global:
        return &stores_;
      case InstructionClass::load_shared:
        return &shared_loads_;
      case InstructionClass::store_shared:
        return &shared_stores_;
      default:
        return nullptr;
    }
  }

  static double passes(const InstructionProfile& p) {
    const bool shared = p.instruction_class == InstructionClass::load_shared ||
                        p.instruction_class == InstructionClass::store_shared;
    return shared ? static_cast<double>(p.wavefronts) : global_passes(p);
  }

  void access(std::size_t index, InstructionClass expected, double& into) {
    const std::int32_t line = counts_.ptx_instruction[index];
    double each = average_of(expected)->each();
    if (line >= 0) {
      const InstructionProfile& p = profile_.instructions[static_cast<std::size_t>(line)];
      // Part of an atomic's loop, whose clocks were measured as a whole.
      if (p.instruction_class == InstructionClass::atomic_shared ||
          p.instruction_class == InstructionClass::atomic_global) {
        return;
      }
      if (p.instruction_class == expected && p.requests > 0)
        each = passes(p) / static_cast<double>(p.requests);
    }
    into += counts_.active[index] * each;
  }

  const sass::ExecutionCounts& counts_;
  const ptx::Profile& profile_;
  WarpWork work_;
  Average loads_;
  Average stores_;
  Average shared_loads_;
  Average shared_stores_;
};

// The share of the issue slots outside of loops, and in loops that have a barrier anywhere in the
// outermost one around them.
double share_in_step(const sass::MachineCode& code, const sass::ExecutionCounts& counts) {
  const auto& loops = code.flow.loops;
  const auto outermost = [&](std::int32_t loop) {
    while (loop >= 0 && loops[static_cast<std::size_t>(loop)].parent >= 0)
      loop = loops[static_cast<std::size_t>(loop)].parent;
    return loop;
  };
  // By outermost loop, and at the end by code outside of all.
  std::vector<double> slots(loops.size() + 1, 0.0);
  std::vector<bool> meets(loops.size() + 1, false);
  meets.back() = true;
  for (const ptx::BasicBlock& block : code.flow.blocks) {
    const std::int32_t loop = outermost(block.loop);
    const std::size_t at = loop < 0 ? loops.size() : static_cast<std::size_t>(loop);
    for (std::uint32_t index = block.first; index < block.last; ++index) {
      slots[at] += counts.executions[index];
      if (code.instructions[index].what.operation_class == OperationClass::barrier)
        meets[at] = true;
    }
  }
  double all = 0.0;
  double in_step = 0.0;
  for (std::size_t at = 0; at < slots.size(); ++at) {
    all += slots[at];
    if (meets[at]) in_step += slots[at];
  }
  return all > 0.0 ? in_step / all : 1.0;
}

}  // namespace

WarpWork machine_work(const sass::MachineCode& code, const sass::ExecutionCounts& counts,
                      const ptx::Profile& profile, const WarpWork& counted) {
  if (profile.warps == 0) return counted;
  Accountant accountant(counts, profile, counted);
  for (std::size_t index = 0; index < code.instructions.size(); ++index) {
    if (counts.executions[index] > 0.0) accountant.add(index, code.instructions[index].what);
  }
  WarpWork work = accountant.work();
  work.in_step = share_in_step(code, counts);
  return work;
}

}  // namespace regraph
