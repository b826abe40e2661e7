#include "kernel/derived_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace regraph {
namespace {

using Extents = std::array<std::int64_t, 4>;
// By the number of symbols, less one.
constexpr std::array<Extents, 3> kOdd = {
    {{1021, 1021, 1021, 1021}, {131, 97, 131, 97}, {70, 50, 45, 37}}};
constexpr std::array<Extents, 3> kMultiples = {
    {{4096, 4096, 4096, 4096}, {256, 192, 256, 192}, {128, 64, 64, 128}}};
constexpr Extents kOnes = {1, 1, 1, 1};
constexpr std::int64_t kEntriesOfARow = 3;

// A sparse matrix with fewer entries than rows tests little.
void give_rows_entries(const Problem& problem, Symbols& symbols) {
  for (const Argument& argument : problem.arguments) {
    if (argument.init.kind != BufferInit::Kind::csr_offsets) continue;
    const auto& entries = argument.init.high_expression;
    const auto own = entries ? problem.sizes.find(entries->text()) : problem.sizes.end();
    const auto offsets = argument.element_count(symbols);
    if (own == problem.sizes.end() || own->second <= kStructuralSize || !offsets.ok()) continue;
    symbols[own->first] = std::min(own->second, kEntriesOfARow * (*offsets - 1) + 1);
  }
}

// A structural size is a parameter as well, unless the manifest says that it is fixed: the next
// smaller one, each at a size of its own.
void add_other_structures(const Problem& problem, const std::vector<std::string>& scalable,
                          std::vector<Symbols>& sets) {
  constexpr std::int64_t kSmall = 53;
  Symbols small = problem.sizes;
  for (const std::string& name : scalable)
    small[name] = std::min(small[name], kSmall);
  for (const auto& [name, value] : problem.sizes) {
    if (value > kStructuralSize || value < 3 || problem.assume.is_fixed(name)) continue;
    Symbols symbols = small;
    symbols[name] = value - 1;
    give_rows_entries(problem, symbols);
    if (std::ranges::find(sets, symbols) == sets.end()) sets.push_back(std::move(symbols));
  }
}

}  // namespace

std::vector<Symbols> derived_test_sizes(const Problem& problem) {
  std::vector<std::string> scalable;
  for (const auto& [name, value] : problem.sizes) {
    if (value > kStructuralSize) scalable.push_back(name);
  }
  // n * n elements are as many as M * N.
  std::size_t extents = std::max<std::size_t>(scalable.size(), 1);
  for (const Argument& argument : problem.arguments)
    extents = std::max(extents, shape_growth(argument.shape));
  const std::size_t row = std::min<std::size_t>(extents, 3) - 1;
  std::vector<Symbols> sets;
  for (const Extents& values : {kOdd[row], kMultiples[row], kOnes}) {
    Symbols symbols = problem.sizes;
    for (std::size_t i = 0; i < scalable.size(); ++i) {
      std::int64_t& value = symbols[scalable[i]];
      value = std::min(value, values[i % values.size()]);
    }
    give_rows_entries(problem, symbols);
    if (std::ranges::find(sets, symbols) == sets.end()) sets.push_back(std::move(symbols));
  }
  add_other_structures(problem, scalable, sets);
  return sets;
}

std::string sizes_text(const std::vector<Symbols>& sets) {
  std::string text;
  for (const Symbols& symbols : sets) {
    std::string one;
    for (const auto& [name, value] : symbols)
      one += fmt::format("{}{}: {}", one.empty() ? "" : ", ", name, value);
    text += (text.empty() ? "{" : ", {") + one + "}";
  }
  return text;
}

}  // namespace regraph
