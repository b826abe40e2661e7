// The answer of a search once more under NVIDIA's compute-sanitizer, where that is installed.
#pragma once

#include "base/cancellation.h"
#include "eval/gpu/sanitizer_log.h"
#include "eval/gpu/timing/timing_bench.h"
#include "kernel/problem.h"
#include "kernel/sanitizer_report.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace regraph::gpu {

struct SanitizerConfig {
  std::filesystem::path program;  // compute-sanitizer
  // Not initcheck: buffers are filled by copies, and all that it watches is global memory.
  std::vector<std::string> tools = {"memcheck", "racecheck", "synccheck"};
  double seconds = 60.0;  // of each tool
};

// compute-sanitizer of the toolkit at `toolkit` (empty: none), else of a folder in `path`, which is
// like the variable PATH. Nothing when there is none that can be run.
[[nodiscard]] std::optional<std::filesystem::path> find_sanitizer(
    const std::filesystem::path& toolkit, const std::string& path);

// Launches `best` once at every test size under each tool, in a worker of its own, in plain
// allocations without guard pages. What a tool also finds in `original` is a note, no finding; so
// is a tool that does not run or takes too long. Whatever the tool starts is gone on return.
[[nodiscard]] SanitizerReport sanitize_answer(const SanitizerConfig& config,
                                              const GpuWorkerConfiguration& worker,
                                              const Problem& problem,
                                              const PreparedCandidate& original,
                                              const PreparedCandidate& best, std::uint64_t seed,
                                              const Cancellation& stop);

}  // namespace regraph::gpu
