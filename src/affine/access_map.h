// What one block touches of an array while it executes a region of code: a box. access_map_of finds
// it by grouping the index polynomial's local terms by stride; around threads' own places:
// neighbourhood.h.
//
//   A[row * K + k], row = blockIdx.y * 16 + threadIdx.y, k = k0 + kk
//   local terms: K * threadIdx.y + 1 * kk      ->  dimensions  {stride K, extent 16}, {stride 1,
//   extent TK} base:        K * 16 * blockIdx.y + k0
#pragma once

#include "affine/ir.h"
#include "base/result.h"
#include "source/polynomial.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regraph::affine {

// Symbols that vary within the block during the region, with the number of values (0 .. count - 1).
using LocalSymbols = std::map<std::string, std::int64_t>;

struct AccessDimension {
  Polynomial stride;                          // between neighbours along the dimension, in elements
  std::map<std::string, std::int64_t> terms;  // coordinate = sum of factor * symbol
  std::int64_t extent = 1;                    // coordinates lowest .. lowest + extent - 1
  std::int64_t lowest = 0;

  // The coordinate as a polynomial over local symbols.
  [[nodiscard]] Polynomial coordinate() const;
};

struct AccessMap {
  std::vector<AccessDimension> dimensions;  // largest stride first, unit stride last
  Polynomial base;                          // index of the element at coordinates 0

  [[nodiscard]] std::int64_t elements() const;
  // The dimension whose coordinate uses `symbol`, or null.
  [[nodiscard]] const AccessDimension* dimension_of(const std::string& symbol) const;
};

// The same box with more dimensions: cut where the digits of a number meet, such as 16 * row +
// column with 16 columns. `variable` gets a dimension of its own, and threads of different axes do.
[[nodiscard]] AccessMap with_digits_apart(const AccessMap& footprint, const std::string& variable,
                                          const LocalSymbols& locals);

// Returns the box `index` visits. A symbol that is `apart` has a dimension of its own where what is
// below it fills no more than one of its steps: rows of 64 whose number is the symbol. Error:
// refused, when a coefficient is negative, is a sum, or mixes local symbols.
[[nodiscard]] Result<AccessMap> access_map_of(const Polynomial& index, const LocalSymbols& locals,
                                              const std::string& apart = "");

}  // namespace regraph::affine
