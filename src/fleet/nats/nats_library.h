// Finds and loads libnats. It is optional: without it everything but scaling out works.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace regraph::fleet {

struct NatsApi;

// The sonames under which Debian and its kin install libnats, best first.
[[nodiscard]] std::vector<std::filesystem::path> nats_candidates();

// Loads the first of `candidates` that opens, has all functions and is 3.4 or newer, and starts it.
// What was loaded stays loaded. Thread-safe. Errors: not_found (with what was tried and which
// package to install), unsupported (too old).
[[nodiscard]] Result<std::shared_ptr<const NatsApi>> load_nats(
    std::span<const std::filesystem::path> candidates);

}  // namespace regraph::fleet
