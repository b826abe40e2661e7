#include "eval/model/work.h"

#include "eval/model/atomic_time.h"

#include <algorithm>

namespace regraph {
namespace {

using ptx::InstructionClass;
using ptx::InstructionProfile;

// Machine instructions that one division, remainder or exact reciprocal expands to, about: ptxas
// emits 8 to 100 depending on type. The unsigned remainder, the common one, takes some 16, of which
// the multiplications (about half) leave the integer pipe free.
constexpr double kDivideExpansion = 16.0;
constexpr double kDivideIntegerShare = 0.5;
// Range handling around one special-function instruction.
constexpr double kSpecialExpansion = 2.0;

// Counted as if they were mma.sync's, whose rate devices are known by.
void add_products(WarpWork& work, const InstructionProfile& p) {
  const double products = static_cast<double>(p.warp_executions) * p.multiply_adds /
                          (p.of_warpgroup ? kWarpgroupSpeed : 1.0);
  work.has_warpgroups = work.has_warpgroups || (p.of_warpgroup && products > 0.0);
  switch (p.matrix_rate) {
    case ptx::MatrixRate::tf32:
      work.tf32_products += products;
      break;
    case ptx::MatrixRate::half:
      work.half_products += products;
      break;
    case ptx::MatrixRate::byte:
      work.byte_products += products;
      break;
    case ptx::MatrixRate::fp64:
      work.fp64_products += products;
      break;
  }
}

}  // namespace

double global_passes(const InstructionProfile& p) {
  if (p.requests == 0) return 0.0;
  const double requests = static_cast<double>(p.requests);
  const double lines = static_cast<double>(p.lines) / requests;
  const double tag = lines <= 1.0 ? 1.0 : 0.25 * lines + 0.55;
  const double banks = static_cast<double>(p.wavefronts) / requests;
  return std::max(tag, banks) * requests;
}

WarpWork work_of(const ptx::Profile& profile, const std::vector<double>& merged) {
  WarpWork work;
  if (profile.warps == 0) return work;
  double lanes = 0.0;
  for (std::size_t index = 0; index < profile.instructions.size(); ++index) {
    const InstructionProfile& p = profile.instructions[index];
    const double share = index < merged.size() ? merged[index] : 1.0;
    const double count = static_cast<double>(p.warp_executions);
    work.all += count;
    lanes += static_cast<double>(p.thread_executions);
    double slots = count;
    switch (p.instruction_class) {
      case InstructionClass::move:
        slots = 0.0;
        break;
      case InstructionClass::fp32_fma:
      case InstructionClass::fp32_other:
        work.fp32 += count;
        break;
      case InstructionClass::fp16:
        work.fp32 += count;
        break;
      case InstructionClass::fp64:
        work.fp64 += count;
        break;
      case InstructionClass::integer:
      case InstructionClass::logic:
      case InstructionClass::conversion:
        work.integer += count;
        work.integer_instructions += count;
        break;
      case InstructionClass::integer_multiply:
        work.integer_multiply += count;
        work.integer_instructions += count;
        break;
      case InstructionClass::special_function:
        work.special_function += count;
        slots = count * kSpecialExpansion;
        break;
      case InstructionClass::divide:
        slots = count * kDivideExpansion;
        work.integer += count * kDivideExpansion * kDivideIntegerShare;
        work.integer_instructions += count;
        work.special_function += count;
        break;
      case InstructionClass::branch:
        work.branches += count;
        break;
      case InstructionClass::barrier:
        work.barriers += count;
        break;
      case InstructionClass::shuffle:
        work.shuffle += count;
        break;
      case InstructionClass::matrix:
        add_products(work, p);
        break;
      case InstructionClass::load_global:
        work.memory += count;
        work.global_loads += count;
        work.global_passes += global_passes(p);
        work.global_load_requests += static_cast<double>(p.requests);
        work.global_load_sectors += static_cast<double>(p.sectors);
        work.global_load_bytes += static_cast<double>(p.requests) * p.access_bytes;
        break;
      case InstructionClass::store_global:
        work.memory += count;
        work.global_passes += global_passes(p);
        work.global_store_requests += static_cast<double>(p.requests);
        work.global_store_sectors += static_cast<double>(p.sectors);
        break;
      case InstructionClass::load_shared:
      case InstructionClass::store_shared:
      case InstructionClass::atomic_shared:
        work.memory += count;
        work.shared_wavefronts += share * (p.instruction_class == InstructionClass::atomic_shared
                                               ? shared_atomic_clocks(p)
                                               : static_cast<double>(p.wavefronts));
        work.shared_requests += static_cast<double>(p.requests);
        work.shared_ideal_wavefronts +=
            static_cast<double>(p.requests) * std::max(1.0, p.access_bytes / 4.0) * share;
        if (p.instruction_class == InstructionClass::atomic_shared) work.atomics += count;
        break;
      case InstructionClass::atomic_global:
        work.memory += count;
        work.atomics += count;
        work.global_passes += global_passes(p);
        break;
      case InstructionClass::load_local:
      case InstructionClass::store_local:
        work.memory += count;
        work.global_passes += count;
        break;
      case InstructionClass::load_constant:
        work.memory += count;
        break;
      case InstructionClass::other:
        break;
    }
    work.issued += slots * share;
  }
  work.active_lanes = work.all > 0.0 ? lanes / work.all : 0.0;
  const double per_warp = 1.0 / static_cast<double>(profile.warps);
  for (double* value : {&work.issued,
                        &work.fp32,
                        &work.fp64,
                        &work.integer,
                        &work.integer_instructions,
                        &work.integer_multiply,
                        &work.special_function,
                        &work.shuffle,
                        &work.tf32_products,
                        &work.half_products,
                        &work.byte_products,
                        &work.fp64_products,
                        &work.shared_wavefronts,
                        &work.global_passes,
                        &work.branches,
                        &work.barriers,
                        &work.memory,
                        &work.atomics,
                        &work.global_loads,
                        &work.global_load_requests,
                        &work.global_load_sectors,
                        &work.global_load_bytes,
                        &work.global_store_requests,
                        &work.global_store_sectors,
                        &work.shared_requests,
                        &work.shared_ideal_wavefronts,
                        &work.all}) {
    *value *= per_warp;
  }
  return work;
}

}  // namespace regraph
