// Finds and loads CUPTI. It is optional: without it kernels are timed, but not profiled.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace regraph::gpu {

struct CuptiApi;

// Where CUPTI may be, best first: the directories of a toolkit or of NVIDIA's wheels under `root`
// (skipped when empty), then the dynamic linker's own search by soname.
[[nodiscard]] std::vector<std::filesystem::path> cupti_candidates(
    const std::filesystem::path& root);

// Loads the first of `candidates` that opens, has all functions and a version with the Range
// Profiler. Errors: not_found (with what was tried and how to get it), unsupported (too old).
[[nodiscard]] Result<std::shared_ptr<const CuptiApi>> load_cupti(
    std::span<const std::filesystem::path> candidates);

}  // namespace regraph::gpu
