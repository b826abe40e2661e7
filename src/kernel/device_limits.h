// What a device allows a kernel: the numbers that decide whether a kernel can run there, and how
// many blocks fit a multiprocessor. They come from the device's table (eval/model/device.h:
// limits_of).
#pragma once

#include <cstdint>
#include <string>

namespace regraph {

struct DeviceLimits {
  std::string architecture;  // "sm_90": what candidates are compiled for
  int warp_size = 0;         // threads
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;  // resident
  int max_blocks_per_multiprocessor = 0;   // resident
  int registers_per_multiprocessor = 0;
  int max_registers_per_thread = 0;
  std::int64_t shared_bytes_per_block = 0;           // without opting in, static arrays among them
  std::int64_t shared_bytes_per_block_opt_in = 0;    // dynamic, for a kernel that opts in
  std::int64_t shared_bytes_per_multiprocessor = 0;  // of all resident blocks
  bool operator==(const DeviceLimits&) const = default;
};

}  // namespace regraph
