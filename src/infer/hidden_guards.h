// Conditions that may bound a grid in a way which the inference does not see.
#pragma once

#include "infer/access_summary.h"
#include "source/ir.h"

#include <functional>
#include <optional>
#include <string>

namespace regraph::infer {

// Why no grid may be made up: an integer parameter without a value (`has_value`) decides, together
// with the block's number, what threads do, so that its condition may well be the guard, and times
// beside it would be those of threads that do nothing. `kernel` is the summary's as it was written.
// Names the first conditions and their lines; nothing where there are none.
[[nodiscard]] std::optional<std::string> hidden_guard(
    const source::Kernel& kernel, const AccessSummary& summary,
    const std::function<bool(const std::string&)>& has_value);

}  // namespace regraph::infer
