// ptxas' resource report (--ptxas-options=-v) out of a compiler log.
#pragma once

#include "kernel/evaluation.h"

#include <optional>
#include <string_view>

namespace regraph::compile_internal {

// Returns what the log says about the entry function, or nothing when it does not speak of it.
[[nodiscard]] std::optional<ResourceUsage> parse_ptxas_report(std::string_view log,
                                                              std::string_view entry);

}  // namespace regraph::compile_internal
