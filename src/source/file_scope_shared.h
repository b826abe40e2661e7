// Shared memory that a file declares outside of its functions, made the kernels' own. Used by
// extract.cpp.
#pragma once

#include "source/top_level.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

struct OwnSharedMemory {
  // Of a kernel: the declarations that go behind the brace of its body.
  std::map<const TopLevelDeclaration*, std::string> texts;
  std::vector<bool> moved;  // declarations of the file that nothing else needs
};

// `kept`: which declarations count. `kernels`: the definitions that are wanted. `namespaces`: of
// each declaration. What functions beside the kernels use stays where it is, and so does what
// stands under another condition of the preprocessor than the kernel or has the name of something
// that the kernel declares itself.
[[nodiscard]] OwnSharedMemory own_shared_memory(
    std::string_view text, const std::vector<Token>& tokens,
    const std::vector<TopLevelDeclaration>& declarations, const std::vector<bool>& kept,
    const std::vector<const TopLevelDeclaration*>& kernels,
    const std::vector<std::string>& namespaces);

}  // namespace regraph::source
