#include "eval/verify/bench_inputs.h"

#include "base/random.h"
#include "eval/verify/inputs.h"
#include "eval/verify/poison.h"
#include "eval/verify/random_streams.h"

#include <algorithm>

namespace regraph::verify {
namespace {

constexpr std::size_t kPage = 4096;
// A prime: no power of two is a multiple of the period.
constexpr std::size_t kPatternBytes = 61 * kPage;
// Of the timing model, whose inputs do not depend on the search's seed.
constexpr std::uint64_t kTimedSeed = 0x5EED;

std::size_t round_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

}  // namespace

BenchInputs::BenchInputs(const Problem& problem, const Symbols& symbols, std::uint64_t seed,
                         BenchData data)
    : patterns_(problem.arguments.size()), data_(data) {
  const bool timed = data == BenchData::timed;
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!argument.has_content() || (!timed && !argument.is_input())) continue;
    const Result<std::int64_t> count = argument.element_count(symbols);
    if (!count.ok() || *count < 0) continue;  // BenchRun::create reports it
    const std::size_t content = static_cast<std::size_t>(*count) * size_in_bytes(argument.type);
    std::size_t bytes = kPatternBytes;
    if (argument.is_symbol) {
      bytes = content;
    } else if (problem.is_whole(symbols, argument)) {
      // All of it, and room to begin anywhere in a page.
      bytes = round_up(content + kPage, kPage);
    }
    patterns_[i].resize(bytes);
    // Later launches read what the harness cannot have.
    const bool is_result = argument.direction == Direction::out && !argument.is_scratch;
    if (timed && is_result && problem.launch.launches.size() == 1) {
      fill_with_poison(patterns_[i], kTimedSeed, i, false);
      continue;
    }
    Distribution distribution = Distribution::small_integers;
    if (timed) distribution = Distribution::manifest;
    if (problem.captured_content(symbols, argument.name) != nullptr && !timed)
      distribution = Distribution::captured;
    fill_input(problem, data == BenchData::equal ? with_equal_integers(argument) : argument,
               symbols, distribution, timed ? kTimedSeed : random_bits(seed, kBenchInputs), i,
               patterns_[i]);
  }
}

bool has_equal_data(const Problem& problem) {
  return !problem.is_captured && !problem.has_files() &&
         std::ranges::any_of(problem.arguments, has_range_of_integers);
}

}  // namespace regraph::verify
