// How alike the texts of two kernels are, whatever their names and layout.
//
// Canonical text: functions of the device and macros with arguments, without comments, directives,
// host code, braces, and qualifiers that leave a function what it computes (const, __restrict__,
// ...); macros without arguments replaced. Numbers are reduced to their kind, because another tile
// or constant makes no other kernel. Words of C++ and CUDA, functions that are not the file's own
// and the components x, y, z, w stay. Each other name becomes the number of other names used since
// it was used last: renaming changes nothing, as with numbers by first appearance, and one more
// variable or parameter in front does not renumber all that follows, as it would with those. The
// parameters of a function and its body count by themselves, so that their order matters little.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace regraph::learn {

// Hashes of all runs of five canonical tokens: ascending, each once. Any text is safe to pass.
using Shingles = std::vector<std::uint64_t>;
[[nodiscard]] Shingles source_shingles(std::string_view source);

// Share of the shingles of either that are of both, the Jaccard index; 0 where neither has any.
[[nodiscard]] double similarity(const Shingles& one, const Shingles& other);

}  // namespace regraph::learn
