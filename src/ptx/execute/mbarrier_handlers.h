#pragma once

#include "ptx/memory/block_context.h"

namespace regraph::ptx {

// `bytes` bytes that the mbarrier at `address` of shared memory waits for have been copied, as
// `lane` asked. False after setting a fault.
[[nodiscard]] bool complete_bytes(const Record* record, Warp& warp, int lane, std::uint64_t address,
                                  std::uint64_t bytes);

}  // namespace regraph::ptx
