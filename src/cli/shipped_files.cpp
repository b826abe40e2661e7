#include "cli/shipped_files.h"

namespace regraph::cli {

std::filesystem::path shipped_file(const std::string& name, const std::string& program) {
  std::error_code ignored;
  const auto directory = std::filesystem::path(program).parent_path();
  const auto installed = directory.parent_path() / "share" / "regraph" / name;
  if (std::filesystem::exists(installed, ignored)) return installed;
  return std::filesystem::path(REGRAPH_SOURCE_DIRECTORY) / "graphs" / name;
}

}  // namespace regraph::cli
