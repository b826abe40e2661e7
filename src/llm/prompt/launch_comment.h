// A launch plan that stands in a comment of the code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regraph::llm {

// Takes comments such as `// launch: {block: 256, grid: ["cdiv(n, bx)"]}` out of `source`, which
// plain_source accepted, and returns what stands behind "launch:", at most 16 of them. Comments
// that say something else about launches stay, and so do those that stand in `base` in the same
// words. Linear.
[[nodiscard]] std::vector<std::string> take_launch_comments(std::string& source,
                                                            std::string_view base);

}  // namespace regraph::llm
