#include "sass/machine_code_check.h"

#include "ptx/decode/code.h"
#include "sass/loop_match.h"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace regraph::sass {
namespace {

using ptx::InstructionClass;

Error missing(std::string what) {
  return fail(ErrorCode::unsupported, "machine code is not understood: " + std::move(what));
}

class Check {
 public:
  Check(const MachineCode& code, const ptx::Program::Code& program)
      : code_(code), program_(program) {
    for (std::size_t i = 0; i < program.instructions.size(); ++i)
      by_line_[program.instructions[i].line] = i;
  }

  Status run() const {
    if (Status status = operations(); !status.ok()) return status;
    if (Status status = accesses(); !status.ok()) return status;
    if (Status status = branches(); !status.ok()) return status;
    return schedule();
  }

 private:
  // The PTX instruction that a machine instruction is the only copy of; null: it is none.
  const ptx::InstructionInfo* anchored(const CodeInstruction& one) const {
    const auto found = by_line_.find(one.ptx_line);
    if (found == by_line_.end()) return nullptr;
    const ptx::InstructionInfo& info = program_.instructions[found->second];
    return is_anchor(one.what.operation_class, info.instruction_class) ? &info : nullptr;
  }

  Status operations() const {
    bool exits = false;
    for (const CodeInstruction& one : code_.instructions) {
      if (one.what.operation_class == OperationClass::unknown)
        return missing(fmt::format("operation {:#x}", one.what.operation));
      exits = exits || one.what.operation_class == OperationClass::exit;
    }
    return exits ? Status{} : missing("no end of the kernel");
  }

  // What has one place in the source has one in machine code, as wide as in PTX.
  Status accesses() const {
    std::map<InstructionClass, int> places;
    for (const CodeInstruction& one : code_.instructions) {
      const ptx::InstructionInfo* info = anchored(one);
      if (info == nullptr) continue;
      ++places[info->instruction_class];
      if (one.what.access_bytes != 0 && one.what.access_bytes != info->access_bytes) {
        return missing(fmt::format("{} of {} bytes where the PTX has {}",
                                   name(info->instruction_class), one.what.access_bytes,
                                   info->access_bytes));
      }
    }
    for (const InstructionClass expected :
         {InstructionClass::load_global, InstructionClass::store_global,
          InstructionClass::load_shared, InstructionClass::store_shared, InstructionClass::barrier,
          InstructionClass::shuffle, InstructionClass::special_function, InstructionClass::fp64}) {
      const int found = places[expected];
      if (found != 1) return missing(fmt::format("{} {} instructions", found, name(expected)));
    }
    return {};
  }

  Status branches() const {
    int multiplications = 0;
    for (std::uint32_t j = 0; j < code_.instructions.size(); ++j) {
      const CodeInstruction& one = code_.instructions[j];
      if (one.what.has_target && one.target == kNoInstruction)
        return missing("a branch to nowhere");
      const ptx::InstructionInfo* info = anchored(one);
      const bool in_loop = code_.flow.blocks[code_.flow.block_of[j]].loop >= 0;
      if (info != nullptr && info->instruction_class == InstructionClass::fp32_fma && in_loop)
        ++multiplications;
    }
    return multiplications > 0 ? Status{} : missing("no loop");
  }

  // A load raises a barrier and somebody waits for it.
  Status schedule() const {
    for (std::uint32_t j = 0; j < code_.instructions.size(); ++j) {
      const Instruction& load = code_.instructions[j].what;
      if (load.operation_class != OperationClass::load_global) continue;
      if (load.write_barrier == kNoBarrier) return missing("a load that nobody can wait for");
      bool waited = false;
      for (std::uint32_t k = j + 1; k < code_.instructions.size() && !waited; ++k)
        waited = (code_.instructions[k].what.wait_mask >> load.write_barrier & 1U) != 0;
      if (!waited) return missing("a load that nobody waits for");
    }
    return {};
  }

  const MachineCode& code_;
  const ptx::Program::Code& program_;
  std::map<int, std::size_t> by_line_;
};

}  // namespace

std::string_view check_source() {
  return R"cuda(
extern "C" __global__ void regraph_machine_code_check(const float4* in, double* out, int n) {
  __shared__ float tile[256];
  const float4 value = in[threadIdx.x];
  tile[threadIdx.x] = value.x;
  __syncthreads();
  float x = tile[255 - threadIdx.x];
  for (int i = 0; i < n; ++i) x = x * value.y + value.z;
  x = __shfl_xor_sync(0xffffffffU, __expf(x), 1);
  const double wide = __hiloint2double(__float_as_int(x), __float_as_int(value.w));
  out[threadIdx.x] = fma(wide, wide, wide);
}
)cuda";
}

Status check_machine_code(const MachineCode& code, const ptx::Program& program) {
  return Check(code, program.code()).run();
}

}  // namespace regraph::sass
