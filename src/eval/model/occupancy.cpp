#include "eval/model/occupancy.h"

#include "kernel/launch_plan.h"

#include <algorithm>
#include <limits>
#include <string>

namespace regraph {
namespace {

constexpr int kThreadsOfWarp = 32;
constexpr int kRegisterUnit = 256;  // registers, per warp
constexpr int kWarpUnit = 4;        // warps are allocated to four sub-cores

// Bytes of shared memory that are handed out together.
std::int64_t shared_unit(const DeviceSpec& device) {
  return compute_capability(device).value_or(8.0) < 8.0 ? 256 : 128;
}

template <typename T>
T round_up(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::string_view name(Occupancy::Limiter limiter) {
  switch (limiter) {
    case Occupancy::Limiter::warps:
      return "warps";
    case Occupancy::Limiter::blocks:
      return "blocks";
    case Occupancy::Limiter::registers:
      return "registers";
    case Occupancy::Limiter::shared_memory:
      return "shared memory";
  }
  return "";
}

Result<Occupancy> occupancy_of(const DeviceSpec& device, int threads_per_block,
                               int registers_per_thread, std::int64_t shared_bytes_per_block) {
  if (threads_per_block < 1 || threads_per_block > static_cast<int>(kMaxThreadsPerBlock)) {
    return fail(ErrorCode::invalid_argument,
                "a block of " + std::to_string(threads_per_block) + " threads; 1 to " +
                    std::to_string(kMaxThreadsPerBlock) + " are possible");
  }
  if (shared_bytes_per_block > device.shared_bytes_per_block) {
    return fail(ErrorCode::invalid_argument,
                "a block needs " + std::to_string(shared_bytes_per_block) +
                    " bytes of shared memory; " + std::string(device.name) + " has " +
                    std::to_string(device.shared_bytes_per_block));
  }
  Occupancy result;
  result.warps_per_block = (threads_per_block + kThreadsOfWarp - 1) / kThreadsOfWarp;
  const int by_warps = device.max_warps / result.warps_per_block;
  const int by_blocks = device.max_blocks;
  const int registers_per_warp =
      round_up(std::max(registers_per_thread, 1) * kThreadsOfWarp, kRegisterUnit);
  const int warps_by_registers = device.registers / registers_per_warp / kWarpUnit * kWarpUnit;
  const int by_registers = warps_by_registers / result.warps_per_block;
  const std::int64_t shared =
      round_up(shared_bytes_per_block, shared_unit(device)) + device.reserved_shared_bytes;
  const int by_shared =
      shared > 0 ? static_cast<int>(device.shared_bytes / shared) : std::numeric_limits<int>::max();
  result.blocks_per_sm = std::min({by_warps, by_blocks, by_registers, by_shared});
  if (result.blocks_per_sm < 1) {
    return fail(ErrorCode::invalid_argument,
                "no block fits: " + std::to_string(threads_per_block) + " threads with " +
                    std::to_string(registers_per_thread) + " registers each exceed the " +
                    std::to_string(device.registers) + " registers of an SM");
  }
  // Ties name the resource that is hardest to change.
  if (result.blocks_per_sm == by_warps) {
    result.limiter = Occupancy::Limiter::warps;
  } else if (result.blocks_per_sm == by_registers) {
    result.limiter = Occupancy::Limiter::registers;
  } else if (result.blocks_per_sm == by_shared) {
    result.limiter = Occupancy::Limiter::shared_memory;
  } else {
    result.limiter = Occupancy::Limiter::blocks;
  }
  result.fraction =
      static_cast<double>(result.blocks_per_sm * result.warps_per_block) / device.max_warps;
  return result;
}

}  // namespace regraph
