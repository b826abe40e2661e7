#include "fleet/evaluator_version.h"

#include "base/hash.h"

#include <fmt/format.h>

#include <system_error>

namespace regraph {

extern const char* const kBuildIdentity;  // cmake/BuildIdentity.cmake

}  // namespace regraph

namespace regraph::fleet {

std::string evaluator_version(const std::filesystem::path& nvrtc_library) {
  // Its name does not tell releases apart everywhere, and to read all of it takes too long.
  std::error_code ignored;
  const std::filesystem::path library = std::filesystem::canonical(nvrtc_library, ignored);
  const std::uint64_t bytes = std::filesystem::file_size(library, ignored);
  const Hash128 compiler = Hasher().add(library.filename().string()).add(bytes).finish();
  return fmt::format("{}-{}-{}", REGRAPH_VERSION, kBuildIdentity, compiler.hex().substr(0, 8));
}

}  // namespace regraph::fleet
