// The shortest way from one list of lines to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace regraph {

struct Edit {
  enum class Kind : std::uint8_t { keep, remove, insert };
  Kind kind = Kind::keep;
  std::size_t line = 0;  // index in `before` for keep and remove, in `after` for insert
};

// Returns the edits that turn `before` into `after`, in order; removals come before insertions at
// the same place. Minimal (E. Myers, "An O(ND) difference algorithm and its variations", 1986)
// unless the texts share so little that all lines between the first and the last change count as
// replaced.
[[nodiscard]] std::vector<Edit> edit_script(const std::vector<std::string_view>& before,
                                            const std::vector<std::string_view>& after);

}  // namespace regraph
