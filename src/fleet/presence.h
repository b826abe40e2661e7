// What a worker says of itself, for all to read.
#pragma once

#include "base/result.h"
#include "eval/gpu/protocol/messages.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::fleet {

struct WorkerPresence {
  std::string name;  // of the worker: "HOST-PID", "HOST-PID-model"
  std::string host;
  std::string version;             // evaluator_version.h
  std::vector<std::string> lanes;  // that it serves; none once it takes nothing more
  std::string device;              // "NVIDIA H200", "model NAME"; empty: processors only
  // The GPU that it measures on; without a name: none.
  gpu::DeviceProperties gpu = {};
  std::uint64_t memory_bytes = 0;  // of the machine
  int places = 0;                  // jobs it works on at once
  int busy = 0;                    // of them
  std::string doing;               // in words
  std::uint64_t done = 0;          // jobs, since it started
  std::uint64_t failed = 0;        // tries that came to nothing
  double busy_seconds = 0.0;       // of all places together
  double up_seconds = 0.0;
  std::string state;  // "working", "leaving", or why it has retired
};

[[nodiscard]] std::string presence_text(const WorkerPresence& presence);
// Strict and bounded: anybody who has the token may write it. Errors: parse, resource.
[[nodiscard]] Result<WorkerPresence> read_presence(std::string_view text);

// Places of the workers that serve a lane.
[[nodiscard]] int places_of(const std::vector<WorkerPresence>& workers, std::string_view lane);

}  // namespace regraph::fleet
