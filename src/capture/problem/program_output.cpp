#include "capture/problem/program_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

namespace regraph::capture {
namespace {

constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-5;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The number at the begin of the text, and how many characters it takes; 0: there is none.
std::size_t number_at(std::string_view text, double& value) {
  if (std::isdigit(static_cast<unsigned char>(text.front())) == 0) return 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 0;
}

bool is_fraction(std::string_view number) {
  return number.find_first_of(".eE") != std::string_view::npos;
}

bool alike(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    double first = 0.0;
    double second = 0.0;
    const std::size_t in_a = number_at(a, first);
    const std::size_t in_b = number_at(b, second);
    if ((in_a == 0) != (in_b == 0)) return false;
    if (in_a == 0) {
      if (a.front() != b.front()) return false;
      a.remove_prefix(1);
      b.remove_prefix(1);
      continue;
    }
    const bool fractions = is_fraction(a.substr(0, in_a)) || is_fraction(b.substr(0, in_b));
    const double allowed =
        fractions ? std::max(kAbsolute, kRelative * std::max(first, second)) : 0.0;
    if (std::abs(first - second) > allowed) return false;
    a.remove_prefix(in_a);
    b.remove_prefix(in_b);
  }
  return a.empty() && b.empty();
}

}  // namespace

std::string difference_of_outputs(std::string_view original, std::string_view again,
                                  std::string_view candidate) {
  const auto expected = lines_of(original);
  const auto repeated = lines_of(again);
  const auto found = lines_of(candidate);
  if (expected.size() != found.size()) {
    if (expected.size() != repeated.size()) return {};  // it never says the same
    return fmt::format("{} lines instead of {}", found.size(), expected.size());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool stable = i < repeated.size() && repeated[i] == expected[i];
    if (stable && !alike(expected[i], found[i])) return fmt::format("line {} differs", i + 1);
  }
  return {};
}

}  // namespace regraph::capture
