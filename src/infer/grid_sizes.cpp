#include "infer/grid_sizes.h"

#include <algorithm>

namespace regraph::infer {
namespace {

constexpr double kMostThreads = 1 << 24;
constexpr double kMostElements = 1 << 24;
constexpr std::int64_t kMostSharedBytes = 48 << 10;

// The sizes with the block's extents.
Symbols symbols_of(const Manifest& manifest) {
  const Dim3& block = manifest.launch->block;
  Symbols symbols = {{"bx", block.x}, {"by", block.y}, {"bz", block.z}};
  symbols.insert(manifest.sizes.begin(), manifest.sizes.end());
  return symbols;
}

// Nothing where an extent cannot be evaluated.
template <typename Extents>
std::optional<double> product_of(const Extents& extents, const Symbols& symbols) {
  double product = 1.0;
  for (const IntegerExpression& extent : extents) {
    const auto value = extent.evaluate(symbols);
    if (!value.ok()) return std::nullopt;
    product *= static_cast<double>(*value);
  }
  return product;
}

bool is_too_large(const Manifest& manifest) {
  const Symbols symbols = symbols_of(manifest);
  const auto blocks = product_of(manifest.launch->grid, symbols);
  if (!blocks) return false;
  if (*blocks * static_cast<double>(manifest.launch->block.count()) > kMostThreads) return true;
  return std::ranges::any_of(manifest.arguments, [&](const auto& argument) {
    if (!argument.second.shape) return false;
    return product_of(*argument.second.shape, symbols).value_or(0.0) > kMostElements;
  });
}

bool has_too_much_shared_memory(const Manifest& manifest) {
  const auto bytes = manifest.launch->dynamic_shared_bytes.evaluate(symbols_of(manifest));
  return bytes.ok() && *bytes > kMostSharedBytes;
}

}  // namespace

void shrink_grid_sizes(const std::vector<std::string>& names, Manifest& manifest) {
  if (names.empty() || !manifest.launch) return;
  Symbols& sizes = manifest.sizes;
  const std::set<std::string> shared = manifest.launch->dynamic_shared_bytes.symbols();
  for (const std::string& name : names) {
    while (shared.contains(name) && has_too_much_shared_memory(manifest) && sizes[name] > 1)
      sizes[name] /= 2;
  }
  while (is_too_large(manifest)) {
    const auto largest = std::ranges::max_element(
        names, [&](const auto& one, const auto& other) { return sizes[one] < sizes[other]; });
    if (sizes[*largest] <= 2) break;
    sizes[*largest] /= 2;
  }
}

}  // namespace regraph::infer
