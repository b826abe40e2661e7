#include "cli/cache_directory.h"

#include <cstdlib>

namespace regraph::cli {

std::filesystem::path cache_directory() {
  if (const char* own = std::getenv("REGRAPH_CACHE_DIR")) return own;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0') {
    return std::filesystem::path(xdg) / "regraph";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / ".cache" / "regraph";
  }
  return {};
}

}  // namespace regraph::cli
