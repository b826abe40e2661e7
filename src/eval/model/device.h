// What the timing model knows about a GPU. Every number's source is beside it in device_entries.cpp
// and device_cards.cpp; other devices, and calibrated numbers, come from files (device_table.h).
#pragma once

#include "base/result.h"
#include "kernel/device_limits.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace regraph {

struct DeviceSpec {
  std::string name;          // "h200"
  std::string architecture;  // "sm_90": what candidates are compiled for
  std::string description;   // "NVIDIA H200 SXM"

  int sm_count = 0;
  double clock_hertz = 0.0;  // under load

  // Residency limits of one SM.
  int max_warps = 64;
  int max_blocks = 32;
  int registers = 65536;
  int shared_bytes = 0;              // for blocks, out of the unified memory
  int shared_bytes_per_block = 0;    // with opt-in
  int reserved_shared_bytes = 1024;  // taken by the system per block
  int unified_bytes = 0;             // L1 and shared memory together

  // Lanes per clock of one SM.
  int fp32_lanes = 128;
  int fp64_lanes = 64;
  int int32_lanes = 64;
  int special_function_lanes = 16;
  int constant_load_lanes = 16;  // LDC
  // Multiply-adds per clock of one SM by mma.sync, of tf32 and of 16-bit factors.
  double tensor_tf32_products = 512.0;
  double tensor_half_products = 1024.0;
  double lsu_bytes_per_clock = 128.0;  // shared memory and L1 data path
  double l1_path_share = 1.0;          // of that path, what global accesses can use

  // Latencies in clocks.
  double arithmetic_latency = 4.0;
  double special_function_latency = 23.0;
  double tensor_latency = 33.0;  // mma.sync
  double shared_latency = 23.0;
  double l1_latency = 33.0;
  double l2_latency = 280.0;
  double dram_latency = 640.0;
  double barrier_latency = 20.0;

  // Whole device.
  double l2_bytes_per_second = 0.0;                // reads
  double l2_write_bytes_per_second = 0.0;          // 32-byte sectors, written whole
  double l2_partial_write_bytes_per_second = 0.0;  // of a sector written in part, 32 bytes
  std::uint64_t l2_full_speed_bytes = 0;           // up to here the L2 delivers its full bandwidth
  std::uint64_t l2_bytes = 0;                      // nominal
  double dram_bytes_per_second = 0.0;              // achieved by a copy
  double peak_dram_bytes_per_second = 0.0;

  // Global atomics (atomic_time.h). One stretch of memory: a pass over a sector that touches all
  // its bytes, one that touches fewer, one of floating-point additions.
  double atomic_full_pass_seconds = 0.0;
  double atomic_partial_pass_seconds = 0.0;
  double atomic_floating_pass_seconds = 0.0;
  // Whole device: sectors a second, also of atomics whose old value is read; operand bytes a
  // second; sectors a second that lie alone in their lines in DRAM.
  double atomic_sectors_per_second = 0.0;
  double atomic_returning_sectors_per_second = 0.0;
  double atomic_bytes_per_second = 0.0;
  double atomic_dram_sectors_per_second = 0.0;

  double kernel_launch_seconds = 0.0;
  double block_launch_clocks = 416.0;  // launch and retirement of one block
  double blocks_per_second = 0.0;      // that the whole device can launch

  // How far resources overlap (timing_model.h): exponents of the p-norms on the SM side and between
  // L2, DRAM and the SM side. Chosen on kernels measured on an H200, or calibrated.
  double sm_norm = 2.0;
  double memory_norm = 4.0;

  [[nodiscard]] double peak_fp32_flops() const { return 2.0 * sm_count * fp32_lanes * clock_hertz; }
  bool operator==(const DeviceSpec&) const = default;
};

// All devices, in the order they are listed to users.
[[nodiscard]] std::span<const DeviceSpec> known_devices();

// The device where the user names none and what is asked for needs one.
inline constexpr const char* kDefaultDevice = "h200";

// Finds a device by name ("h200", "RTX 4090") or the first of an architecture ("sm_90"), ignoring
// case, spaces and hyphens. Error: not_found, listing the names.
[[nodiscard]] Result<DeviceSpec> find_device(std::string_view name);

// Why the numbers of a known device deserve less trust than those that this project measured, in
// words that follow its name; empty for the others, and where a file or a GPU changed them.
[[nodiscard]] std::string_view doubts_about(const DeviceSpec& device);

// 9.0 for "sm_90" and its kin, nothing where the architecture is not named that way.
[[nodiscard]] std::optional<double> compute_capability(const DeviceSpec& device);

// What the device allows a kernel.
[[nodiscard]] DeviceLimits limits_of(const DeviceSpec& device);

}  // namespace regraph
