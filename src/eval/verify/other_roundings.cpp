#include "eval/verify/other_roundings.h"

#include "eval/verify/element.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace regraph::verify {
namespace {

std::uint16_t bits_of(std::span<const std::byte> buffer, std::size_t element) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, buffer.data() + element * sizeof(bits), sizeof(bits));
  return bits;
}

// The same operation with another rounding; empty: this is none of fp32.
std::string toward_zero(std::string_view mnemonic) {
  const std::size_t dot = mnemonic.find('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view name = mnemonic.substr(0, dot);
  std::string_view rest = mnemonic.substr(dot);
  if (name != "add" && name != "sub" && name != "mul" && name != "fma") return {};
  if (rest.starts_with(".rn")) rest.remove_prefix(3);
  if (rest != ".f32" && rest != ".ftz.f32") return {};
  return std::string(name) + ".rz" + std::string(rest);
}

}  // namespace

OtherRoundings other_roundings(const OutputView& view, double noise) {
  constexpr std::size_t kPatterns = std::size_t{1} << 16;
  struct Pattern {
    std::uint32_t elements = 0;
    std::uint32_t otherwise = 0;
  };
  const ScalarType type = view.argument.type;
  const std::size_t count = view.expected.size() / sizeof(std::uint16_t);
  const auto is_compared = [&](std::size_t i) {
    return view.untouched.empty() || view.untouched[i] == 0;
  };
  const auto value = [&](std::span<const std::byte> buffer, std::size_t i) {
    return load_element(type, buffer.data() + i * sizeof(std::uint16_t));
  };
  long double squares = 0.0L;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = value(view.expected, i);
    if (!is_compared(i) || !std::isfinite(expected)) continue;
    squares += static_cast<long double>(expected) * expected;
    ++finite;
  }
  OtherRoundings found;
  if (finite == 0) return found;
  const auto rms = static_cast<double>(std::sqrt(squares / static_cast<long double>(finite)));
  std::vector<Pattern> patterns(kPatterns);
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = value(view.expected, i);
    if (!is_compared(i) || !std::isfinite(expected)) continue;
    Pattern& pattern = patterns[bits_of(view.expected, i)];
    ++pattern.elements;
    const double error = std::abs(value(view.actual, i) - expected);
    if (!(error <= noise * (std::abs(expected) + rms))) ++pattern.otherwise;
  }
  for (const Pattern& pattern : patterns) {
    if (pattern.elements == 0) continue;
    ++found.values;
    found.otherwise += static_cast<double>(pattern.otherwise) / pattern.elements;
  }
  return found;
}

std::string rounded_toward_zero(std::string_view ptx) {
  constexpr std::string_view kSpace = " \t\n";
  std::string text;
  text.reserve(ptx.size() + ptx.size() / 16);
  while (!ptx.empty()) {
    const std::size_t begin = std::min(ptx.find_first_not_of(kSpace), ptx.size());
    text += ptx.substr(0, begin);
    ptx.remove_prefix(begin);
    const std::string_view word = ptx.substr(0, std::min(ptx.find_first_of(kSpace), ptx.size()));
    const std::string other = toward_zero(word);
    text += other.empty() ? word : other;
    ptx.remove_prefix(word.size());
  }
  return text;
}

Result<LoadedPlan> load_toward_zero(const CompiledPlan& compiled, const LaunchPlan& plan) {
  CompiledPlan other;
  for (const std::shared_ptr<const CompiledKernel>& kernel : compiled.launches) {
    CompiledKernel changed = *kernel;
    changed.ptx = rounded_toward_zero(kernel->ptx);
    other.launches.push_back(std::make_shared<const CompiledKernel>(std::move(changed)));
  }
  return load_plan(other, plan);
}

}  // namespace regraph::verify
