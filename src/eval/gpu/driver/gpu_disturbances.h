// What may disturb times that are taken on a GPU, as far as its state tells.
#pragma once

#include "eval/gpu/driver/nvml.h"

#include <string>
#include <vector>

namespace regraph::gpu {

// In words, one entry a disturbance; empty when there is none or nothing is known. Clocks that heat
// or the power supply hold down count, and other processes that compute on the GPU. `in_use`: this
// process has workers on it, so that a process which cannot be seen here may be one of them.
[[nodiscard]] std::vector<std::string> disturbances(const GpuState& state, bool in_use);

// The state in a line, e.g. "SM 345 of 1980 MHz, memory 3201 of 3201 MHz; clocks held by: idle; 34
// C, 75 of 700 W; persistence mode on". What is absent is left out.
[[nodiscard]] std::string state_text(const GpuState& state);

// Remembers what was seen of several GPUs, before and after they were used. Not thread-safe.
class DisturbanceLog {
 public:
  // `bus_ids` of the GPUs, `candidates` as read_gpu_state.
  DisturbanceLog(std::vector<std::string> bus_ids, std::vector<std::string> candidates)
      : bus_ids_(std::move(bus_ids)), candidates_(std::move(candidates)) {}

  // Looks at all GPUs. Returns what is seen now; a GPU that cannot be asked shows nothing.
  std::vector<std::string> look(bool in_use);
  // Everything seen so far, each once.
  [[nodiscard]] const std::vector<std::string>& seen() const { return seen_; }

 private:
  std::vector<std::string> bus_ids_;
  std::vector<std::string> candidates_;
  std::vector<std::string> seen_;
};

}  // namespace regraph::gpu
