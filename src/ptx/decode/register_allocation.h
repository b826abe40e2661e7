// Lets registers whose values are never needed at the same time share lanes: PTX names hundreds of
// registers a kernel, and a warp's file should fit the processor's first-level cache.
#pragma once

#include "ptx/decode/control_flow.h"
#include "ptx/decode/function_linking.h"
#include "ptx/parse/module.h"

#include <cstdint>
#include <vector>

namespace regraph::ptx {

struct RegisterAllocation {
  // Storage number by register, counted separately for 4- and 8-byte lanes; meaningless for
  // predicates, which are not shared. Empty: the kernel is too large to analyse, share nothing.
  std::vector<std::uint32_t> storage;
};

// Linear scan (Poletto and Sarkar, 1999) over live ranges from data-flow analysis. Diverged lanes
// may run blocks in any order: that is safe because every write is masked to the lanes that run.
// Segments share no storage: the registers of a caller are still needed while its callee runs.
[[nodiscard]] RegisterAllocation allocate_registers(const Function& function,
                                                    const ControlFlow& control_flow,
                                                    const std::vector<Segment>& segments);

}  // namespace regraph::ptx
