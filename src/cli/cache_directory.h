// Where compiled kernels are kept.
#pragma once

#include <filesystem>

namespace regraph::cli {

// ~/.cache/regraph, or where REGRAPH_CACHE_DIR and XDG_CACHE_HOME say; empty when nothing is known.
[[nodiscard]] std::filesystem::path cache_directory();

}  // namespace regraph::cli
