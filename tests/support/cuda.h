// Where tests find the CUDA toolkit's headers.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace regraph::test {

// The toolkit the build was configured with.
inline std::filesystem::path cuda_root() {
  return std::filesystem::path(REGRAPH_CUDA_INCLUDE_DIRECTORY).parent_path();
}

}  // namespace regraph::test
