// Devices for tests of what is bounded by a device.
#pragma once

#include "kernel/device_limits.h"

namespace regraph::test {

// An H200's (compute capability 9.0).
inline DeviceLimits sm_90_limits() {
  return {.architecture = "sm_90",
          .warp_size = 32,
          .max_threads_per_block = 1024,
          .max_threads_per_multiprocessor = 2048,
          .max_blocks_per_multiprocessor = 32,
          .registers_per_multiprocessor = 65536,
          .max_registers_per_thread = 255,
          .shared_bytes_per_block = 48 << 10,
          .shared_bytes_per_block_opt_in = 227 << 10,
          .shared_bytes_per_multiprocessor = 228 << 10};
}

// A small Ampere's (compute capability 8.6): fewer resident threads, less shared memory.
inline DeviceLimits sm_86_limits() {
  DeviceLimits limits = sm_90_limits();
  limits.architecture = "sm_86";
  limits.max_threads_per_multiprocessor = 1536;
  limits.max_blocks_per_multiprocessor = 16;
  limits.shared_bytes_per_block_opt_in = 99 << 10;
  limits.shared_bytes_per_multiprocessor = 100 << 10;
  return limits;
}

}  // namespace regraph::test
