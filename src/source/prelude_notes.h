// Says which names a source uses that CUDA C++ does not have any more, or not everywhere, and that
// the device compiler is given all the same (eval/compile/stub_headers.h).
#pragma once

#include "source/top_level.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// One sentence for each such name in the kept declarations, unless the file declares it itself.
[[nodiscard]] std::vector<std::string> prelude_notes(
    std::string_view text, const std::vector<Token>& tokens,
    const std::vector<TopLevelDeclaration>& declarations, const std::vector<bool>& kept,
    const std::string& file_name);

}  // namespace regraph::source
