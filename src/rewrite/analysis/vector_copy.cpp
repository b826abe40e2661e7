#include "rewrite/analysis/vector_copy.h"

#include "rewrite/analysis/vector_type.h"

#include <algorithm>

namespace regraph::rewrite {

SymbolFacts facts_of(const Kernel& kernel) {
  return {[&kernel](const std::string& symbol) { return kernel.parameter(symbol) != nullptr; }, {}};
}

bool require_divisible(const Polynomial& polynomial, std::int64_t width, const SymbolFacts& facts,
                       std::set<std::string>& divisible) {
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    if (coefficient % width == 0) continue;
    const bool is_met =
        std::any_of(monomial.begin(), monomial.end(), [&](const std::string& symbol) {
          const auto known = facts.multiples.find(symbol);
          return divisible.contains(symbol) ||
                 (known != facts.multiples.end() && known->second % width == 0);
        });
    if (is_met) continue;
    // The last factor: strides of rows are products whose last factor is the row's length.
    const auto parameter = std::find_if(monomial.rbegin(), monomial.rend(), facts.is_parameter);
    if (parameter == monomial.rend()) return false;
    divisible.insert(*parameter);
  }
  return true;
}

std::optional<VectorCopy> vector_copy_of(const AccessMap& footprint, const Polynomial& base,
                                         ScalarType scalar, int alignment,
                                         const SymbolFacts& facts) {
  if (footprint.dimensions.empty()) return std::nullopt;
  const AccessDimension& columns = footprint.dimensions.back();
  if (!(columns.stride == Polynomial(1))) return std::nullopt;
  const int widest = static_cast<int>(kWidestAccess) / static_cast<int>(size_in_bytes(scalar));
  for (int width = widest; width > 1; width /= 2) {
    VectorCopy copy{width, {}};
    const VectorShape shape{scalar, width};
    if (!can_be_moved(shape) || shape.alignment() > alignment || columns.extent % width != 0)
      continue;
    // Rows first: what they need is what the base needs, too, in most kernels.
    bool possible = true;
    for (std::size_t d = 0; d + 1 < footprint.dimensions.size(); ++d) {
      possible = possible &&
                 require_divisible(footprint.dimensions[d].stride, width, facts, copy.divisible);
    }
    if (possible && require_divisible(base, width, facts, copy.divisible)) return copy;
  }
  return std::nullopt;
}

}  // namespace regraph::rewrite
