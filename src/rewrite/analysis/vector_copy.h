// When a tile can be filled with vectors: the columns of its footprint are neighbours in memory, W
// of them make a vector, and every row starts at a multiple of W. Used by tile_plan.
#pragma once

#include "affine/access_map.h"
#include "affine/tile_guard.h"
#include "rewrite/forms/ir.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct VectorCopy {
  int width = 1;  // elements
  // Parameters that W has to divide for rows to start at a multiple of it: asked at run time.
  std::set<std::string> divisible;
};

// What is known of the symbols of an index.
struct SymbolFacts {
  std::function<bool(const std::string&)> is_parameter;
  std::map<std::string, std::int64_t> multiples;  // symbols that are multiples of a number
};

// What is known without looking further: which symbols are parameters of the kernel, which must
// outlive it.
[[nodiscard]] SymbolFacts facts_of(const Kernel& kernel);

// Adds the parameters that `width` has to divide so that it divides the polynomial; false where
// none would do.
[[nodiscard]] bool require_divisible(const Polynomial& polynomial, std::int64_t width,
                                     const SymbolFacts& facts, std::set<std::string>& divisible);

// Returns the widest vectors that can fill the footprint's columns, of `scalar` elements in buffers
// that are aligned to `alignment` bytes; nothing where there are none. `base`: the index of the
// footprint's first element.
[[nodiscard]] std::optional<VectorCopy> vector_copy_of(const AccessMap& footprint,
                                                       const Polynomial& base, ScalarType scalar,
                                                       int alignment, const SymbolFacts& facts);

}  // namespace regraph::rewrite
