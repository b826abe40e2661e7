// How many blocks of a kernel an SM holds at once, and what limits that.
#pragma once

#include "base/result.h"
#include "eval/model/device.h"
#include "kernel/evaluation.h"

#include <cstdint>
#include <string_view>

namespace regraph {

struct Occupancy {
  enum class Limiter : std::uint8_t { warps, blocks, registers, shared_memory };
  int blocks_per_sm = 0;
  int warps_per_block = 0;
  double fraction = 0.0;  // resident warps over the SM's maximum
  Limiter limiter = Limiter::warps;
};
[[nodiscard]] std::string_view name(Occupancy::Limiter limiter);

// CUDA occupancy calculator rules for compute capability 8.0 and later: registers are allocated per
// warp in units of 256, shared memory in units of 128 bytes plus 1 KiB a block. Error:
// invalid_argument, when not even one block fits (the message says which resource).
[[nodiscard]] Result<Occupancy> occupancy_of(const DeviceSpec& device, int threads_per_block,
                                             int registers_per_thread,
                                             std::int64_t shared_bytes_per_block);

}  // namespace regraph
