// What several processes did on GPUs, together.
#pragma once

#include "kernel/measurement.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace regraph::fleet {

// Adds `text` unless it is there.
void add_once(std::vector<std::string>& texts, std::string text);

// By worker and process of it: counts and seconds are added, the worst noise counts, and there are
// as many GPUs as workers.
[[nodiscard]] Measurement sum_of_uses(
    const std::map<std::pair<std::string, std::uint64_t>, Measurement>& uses);

}  // namespace regraph::fleet
