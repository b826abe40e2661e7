#include "eval/verify/added_sizes.h"

#include "eval/verify/reference.h"
#include "kernel/check_values.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace regraph::verify {

namespace {

constexpr std::size_t kMostSizes = 24;
// Scalars in all buffers, and the product of all symbols: what a few dozen runs can take.
constexpr std::int64_t kMostElements = std::int64_t{1} << 20;
constexpr double kMostVolume = 0x1p25;
// Moduli whose remainders a small size shares with the bench size.
constexpr std::int64_t kModuli[] = {32, 64, 256, 1024, 4096};
constexpr std::int64_t kUsualModulus = 64;
// Blocks of usual sizes with a few elements a thread are filled beyond these.
constexpr std::int64_t kFilled[] = {128, 256, 512, 768};

// The smallest value from `least` on with the remainder of `value`, at most `value`.
std::int64_t alike(std::int64_t value, std::int64_t modulus, std::int64_t least) {
  if (least >= value) return value;
  return std::min(value, least + ((value - least) % modulus));
}

}  // namespace

bool is_affordable(const Problem& problem, const Symbols& symbols) {
  std::int64_t elements = 0;
  for (const Argument& argument : problem.arguments) {
    if (!argument.has_content()) continue;
    const Result<std::int64_t> count = argument.element_count(symbols);
    if (!count.ok() || *count > kMostElements || !check_values(argument, symbols).ok())
      return false;
    elements += *count;
  }
  return elements <= kMostElements && volume(problem, symbols) <= kMostVolume;
}

std::vector<Symbols> sizes_like(const Problem& problem, const Symbols& bench,
                                const std::vector<std::int64_t>& compared) {
  std::vector<Symbols> sizes;
  const auto add = [&](const Symbols& symbols) {
    const auto is = [&](const Symbols& other) { return other == symbols; };
    const bool known = std::any_of(problem.tests.begin(), problem.tests.end(), is) ||
                       std::any_of(sizes.begin(), sizes.end(), is) || symbols == bench;
    if (!known && is_affordable(problem, symbols)) sizes.push_back(symbols);
  };
  Symbols small;
  for (const auto& [name, value] : bench)
    small[name] = alike(value, kUsualModulus, kUsualModulus);
  for (const std::int64_t modulus : kModuli) {
    Symbols all;
    for (const auto& [name, value] : bench)
      all[name] = alike(value, modulus, modulus);
    add(all);
  }
  const auto add_around = [&](const Symbols& others) {
    for (const auto& [name, value] : bench) {
      std::set<std::int64_t> values = {value};
      for (const std::int64_t modulus : kModuli)
        values.insert(alike(value, modulus, modulus));
      for (const std::int64_t least : kFilled)
        values.insert(alike(value, kUsualModulus, least));
      for (const std::int64_t other : compared) {
        values.insert(alike(value, kUsualModulus, other));
        values.insert(alike(value, kUsualModulus, other + 1));
      }
      for (const std::int64_t one : values) {
        Symbols symbols = others;
        symbols[name] = one;
        add(symbols);
      }
      for (const auto& [second, second_value] : bench) {
        if (second <= name) continue;
        Symbols symbols = others;
        symbols[name] = value;
        symbols[second] = second_value;
        add(symbols);
        symbols[name] = alike(value, kUsualModulus, kUsualModulus);
        symbols[second] = alike(second_value, kUsualModulus, kUsualModulus);
        add(symbols);
      }
    }
  };
  const auto order = [&](std::size_t first) {
    const auto from = sizes.begin() + static_cast<std::ptrdiff_t>(first);
    std::stable_sort(from, sizes.end(), [&](const Symbols& a, const Symbols& b) {
      return volume(problem, a) < volume(problem, b);
    });
    if (sizes.size() > first + kMostSizes) sizes.resize(first + kMostSizes);
  };
  add_around(small);
  order(0);
  // Of three dimensions the remainders alone may be too much.
  const std::size_t first = sizes.size();
  for (const Symbols& test : problem.tests)
    add_around(test);
  order(first);
  return sizes;
}

}  // namespace regraph::verify
