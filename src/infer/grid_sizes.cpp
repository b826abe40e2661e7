#include "infer/grid_sizes.h"

#include "kernel/derived_tests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace regraph::infer {
namespace {

constexpr double kMostThreads = 1 << 24;
constexpr double kMostElements = 1 << 24;
constexpr std::int64_t kMostSharedBytes = 48 << 10;
constexpr std::string_view kOwnSizes = "no size is given: ";

Symbols with_block(const Dim3& block, const Symbols& sizes) {
  Symbols symbols = {{"bx", block.x}, {"by", block.y}, {"bz", block.z}};
  symbols.insert(sizes.begin(), sizes.end());
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

bool has_too_many_threads(const Launch& launch, const Symbols& sizes) {
  const auto blocks = product_of(launch.grid, with_block(launch.block, sizes));
  return blocks && *blocks * static_cast<double>(launch.block.count()) > kMostThreads;
}

// The sizes that a launch or a buffer that is too large is made of.
std::set<std::string> sizes_to_shrink(const Manifest& manifest) {
  const Launch& launch = *manifest.launch;
  std::set<std::string> names;
  const auto add = [&](const auto& extents) {
    for (const IntegerExpression& extent : extents)
      names.merge(extent.symbols());
  };
  if (has_too_many_threads(launch, manifest.sizes)) add(launch.grid);
  const Symbols symbols = with_block(launch.block, manifest.sizes);
  for (const auto& [name, said] : manifest.arguments) {
    if (said.shape && product_of(*said.shape, symbols).value_or(0.0) > kMostElements)
      add(*said.shape);
  }
  return names;
}

bool has_too_much_shared_memory(const Manifest& manifest) {
  const auto bytes = manifest.launch->dynamic_shared_bytes.evaluate(
      with_block(manifest.launch->block, manifest.sizes));
  return bytes.ok() && *bytes > kMostSharedBytes;
}

}  // namespace

void shrink_sizes(const std::vector<std::string>& names, Manifest& manifest) {
  if (names.empty() || !manifest.launch) return;
  Symbols& sizes = manifest.sizes;
  const std::set<std::string> shared = manifest.launch->dynamic_shared_bytes.symbols();
  for (const std::string& name : names) {
    while (shared.contains(name) && has_too_much_shared_memory(manifest) && sizes[name] > 1)
      sizes[name] /= 2;
  }
  for (;;) {
    const std::set<std::string> involved = sizes_to_shrink(manifest);
    std::string largest;
    for (const std::string& name : names) {
      if (!involved.contains(name)) continue;
      if (largest.empty() || sizes[name] > sizes[largest]) largest = name;
    }
    if (largest.empty() || sizes[largest] <= 2) break;
    sizes[largest] /= 2;
  }
}

void add_small_tests(const std::vector<std::string>& names, const std::vector<std::string>& small,
                     const std::vector<SizeQuotient>& quotients, Manifest& manifest) {
  const bool has_small = std::ranges::any_of(
      names, [&](const std::string& name) { return manifest.sizes.at(name) <= kStructuralSize; });
  if (!has_small || !manifest.tests.empty()) return;
  constexpr std::array<std::int64_t, 4> kOdd = {5, 9, 7, 3};
  constexpr std::int64_t kEven = 8;
  const auto value_of = [&](const std::string& name, const Symbols& symbols) {
    const auto found = symbols.find(name);
    if (found != symbols.end()) return found->second;
    const auto own = manifest.sizes.find(name);
    return own != manifest.sizes.end() ? own->second : 1;
  };
  const auto with_whole_parts = [&](Symbols symbols) {
    for (const auto& [whole, parts] : quotients) {
      const auto value = symbols.find(whole);
      const std::int64_t divisor = value_of(parts, symbols);
      if (value == symbols.end() || divisor < 1) continue;
      value->second = whole_parts(value->second, divisor);
    }
    return symbols;
  };
  for (const bool is_odd : {true, false}) {
    Symbols symbols;
    std::size_t number = 0;
    for (const std::string& name : names) {
      const std::int64_t wanted = is_odd ? kOdd[number++ % kOdd.size()] : kEven;
      symbols[name] = std::min(manifest.sizes.at(name), wanted);
    }
    manifest.tests.push_back(with_whole_parts(std::move(symbols)));
  }
  Symbols less = manifest.tests.front();
  for (const std::string& name : small) {
    const auto size = manifest.sizes.find(name);
    if (size != manifest.sizes.end() && size->second > 1) less[name] = size->second - 1;
  }
  less = with_whole_parts(std::move(less));
  if (less != manifest.tests.front()) manifest.tests.push_back(std::move(less));
}

bool is_moderate(const Problem& problem, const Symbols& symbols) {
  for (const Launch& launch : problem.launch.launches) {
    if (has_too_many_threads(launch, symbols)) return false;
  }
  return std::ranges::all_of(problem.arguments, [&](const Argument& argument) {
    const auto count = argument.element_count(symbols);
    return count.ok() &&
           static_cast<double>(*count) <= kMostElements * static_cast<double>(argument.components);
  });
}

std::vector<std::string> notes_of_own_sizes(const std::vector<std::string>& names,
                                            const Symbols& sizes) {
  std::map<std::int64_t, std::vector<std::string>, std::greater<>> by_value;
  for (const std::string& name : names) {
    const auto value = sizes.find(name);
    if (value != sizes.end()) by_value[value->second].push_back(name);
  }
  std::vector<std::string> notes;
  notes.reserve(by_value.size());
  for (const auto& [value, alike] : by_value) {
    notes.push_back(fmt::format("{}{} = {} (change it with --size {}=...)", kOwnSizes,
                                fmt::join(alike, ", "), value, alike.front()));
  }
  return notes;
}

bool is_note_of_own_sizes(const std::string& note) {
  return note.starts_with(kOwnSizes);
}

}  // namespace regraph::infer
