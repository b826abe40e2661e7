// What of a file the wanted kernels need.
#pragma once

#include "source/top_level.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

struct SplitFile {
  std::string_view text;
  const std::vector<Token>& tokens;
  const std::vector<TopLevelDeclaration>& declarations;
  const std::vector<bool>& host;  // declarations that the device compiler cannot take
};

// For each declaration whether `roots`, names, mention it directly or through what they mention.
// Kernels other than `kernels` are not needed; conditionals and what they ask always are, macros
// only where they are used.
[[nodiscard]] std::vector<bool> reachable_declarations(const SplitFile& file,
                                                       const std::vector<std::string>& kernels,
                                                       const std::vector<std::string_view>& roots);

}  // namespace regraph::source
