#include "session/plain_lengths.h"

#include "capture/problem/match_expressions.h"

#include <algorithm>
#include <array>
#include <optional>

namespace regraph {
namespace {

constexpr std::array<std::int64_t, 11> kPrimes = {11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
constexpr std::array<std::int64_t, 3> kSmallPrimes = {2, 3, 5};
constexpr std::size_t kSampleSets = 6;

// The product of sizes that the expression is at all sample sizes.
std::optional<IntegerExpression> product_behind(const IntegerExpression& length,
                                                const std::vector<std::string>& small) {
  std::vector<Symbols> samples;
  std::vector<std::int64_t> values;
  for (std::size_t set = 0; set < kSampleSets; ++set) {
    Symbols symbols;
    std::size_t k = 0;
    for (const std::string& name : length.symbols()) {
      const std::size_t place = set * (k + 3) + 2 * k;
      const bool is_small = std::ranges::find(small, name) != small.end();
      symbols[name] =
          is_small ? kSmallPrimes[place % kSmallPrimes.size()] : kPrimes[place % kPrimes.size()];
      ++k;
    }
    const auto value = length.evaluate(symbols);
    if (!value.ok()) return std::nullopt;
    samples.push_back(std::move(symbols));
    values.push_back(*value);
  }
  auto found = capture::match_length(samples, values);
  if (!found || found->text().find_first_of("+-/%,") != std::string::npos) return std::nullopt;
  return found;
}

}  // namespace

void put_lengths_plainly(const Manifest& given, const std::vector<std::string>& small,
                         infer::InferredManifest& inferred) {
  for (auto& [name, said] : inferred.manifest.arguments) {
    const auto own =
        std::ranges::find(given.arguments, name, [](const auto& one) { return one.first; });
    const bool told = own != given.arguments.end() && own->second.shape;
    if (told || !said.shape || said.shape->size() != 1) continue;
    IntegerExpression& length = said.shape->front();
    const std::string before = length.text();
    if (before.find('/') == std::string::npos) continue;
    auto plain = product_behind(length, small);
    if (!plain) continue;
    length = *std::move(plain);
    for (std::string& note : inferred.notes) {
      const std::size_t at = note.find(before + " elements");
      if (at != std::string::npos) note.replace(at, before.size(), length.text());
    }
  }
}

}  // namespace regraph
