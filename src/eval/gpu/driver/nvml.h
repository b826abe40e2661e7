// What NVIDIA's management library says of a GPU, beside CUDA: clocks, why they are held down,
// temperature, power, and who else computes on it. Loaded at run time, and optional.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace regraph::gpu {

// A process with a context on the GPU that is neither this one nor descends from it.
struct GpuUser {
  int process = 0;                     // as the driver numbers it
  std::optional<std::uint64_t> bytes;  // of the GPU's memory
  // Whether this machine shows a process of that number. In a container it may not, and then
  // nothing tells a stranger from a worker of ours.
  bool visible = true;
};

// What is absent the library does not have, or this user may not ask.
struct GpuState {
  std::optional<std::string> name;
  std::optional<std::string> driver;  // "580.95.05"
  std::optional<bool> persistent;     // persistence mode
  std::optional<double> sm_clock_hertz;
  std::optional<double> most_sm_clock_hertz;
  std::optional<double> memory_clock_hertz;
  std::optional<double> most_memory_clock_hertz;
  std::optional<std::uint64_t> clock_events;  // why clocks are not higher: clock_event_words()
  std::optional<double> celsius;
  std::optional<double> watts;
  std::optional<double> most_watts;           // the limit that is enforced
  std::optional<std::uint64_t> used_bytes;    // of memory, with what the driver reserves
  std::optional<std::vector<GpuUser>> users;  // empty: nobody else
};

// The reasons of a mask in words, e.g. "software power cap"; unknown bits in hexadecimal.
[[nodiscard]] std::vector<std::string> clock_event_words(std::uint64_t events);

// Of a mask the bits that stand for heat and power supply, which no program asked for.
[[nodiscard]] std::uint64_t slowing_clock_events(std::uint64_t events);

// Files that may be the library, best first; the dynamic linker searches for bare names.
[[nodiscard]] std::vector<std::string> nvml_candidates();

// Asks the library once, about the GPU at a PCI bus id as CUDA gives it ("0000:1b:00.0"). The
// library is loaded and let go of; safe to call from many threads. Errors: not_found (no library,
// or no such GPU), unsupported (a library without what every call needs), permission, resource (it
// does not start), all with NVML's words.
[[nodiscard]] Result<GpuState> read_gpu_state(const std::string& bus_id,
                                              std::span<const std::string> candidates);

}  // namespace regraph::gpu
