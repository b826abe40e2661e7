// Finds and loads libcurl. It is optional: without it everything but language models works.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace regraph::llm {

struct CurlApi;

// The sonames under which Debian and its kin install libcurl, best first.
[[nodiscard]] std::vector<std::filesystem::path> curl_candidates();

// Loads the first of `candidates` that opens, has all functions and is 7.68 or newer, and starts
// it. What was loaded stays loaded. Thread-safe. Errors: not_found (with what was tried and which
// package to install), unsupported (too old, or without https or threads for names).
[[nodiscard]] Result<std::shared_ptr<const CurlApi>> load_curl(
    std::span<const std::filesystem::path> candidates);

}  // namespace regraph::llm
