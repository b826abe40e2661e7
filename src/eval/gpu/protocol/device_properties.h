// What a GPU is, as its driver tells it.
#pragma once

#include <cstdint>
#include <string>

namespace regraph::gpu {

// What the driver says of the GPU.
struct DeviceProperties {
  std::string name;          // "NVIDIA H200"
  std::string architecture;  // "sm_90"
  std::string bus_id;
  int device_count = 0;
  int driver_version = 0;  // 13000 for CUDA 13.0
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  int sm_count = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t shared_bytes_per_block = 0;  // with opt-in
  double clock_hertz = 0.0;                  // highest of the SMs
  double memory_clock_hertz = 0.0;
  int memory_bus_bits = 0;
  bool device_reads_host_memory = false;  // any pageable memory of the process
};

}  // namespace regraph::gpu
