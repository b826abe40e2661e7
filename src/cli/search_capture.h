// Captures for regraph-search: `regraph-search main.cu -- ARGUMENTS`.
#pragma once

#include "cli/program.h"
#include "cli/search_options.h"

#include <string>
#include <vector>

namespace regraph::cli {

// Builds and captures the program; `options` then name the folder of the kernel with the most work,
// among those asked for. Errors: as keep_program (session/kept_program.h), unusable_kernel.
[[nodiscard]] Result<void, SessionError> capture_first(
    const Program& program, const std::vector<std::vector<std::string>>& commands,
    SearchOptions& options);

}  // namespace regraph::cli
