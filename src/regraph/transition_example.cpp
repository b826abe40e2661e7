#include "regraph/transition_example.h"

#include "base/utf8.h"
#include "regraph/gain_statistics.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

namespace regraph {

namespace {

// Whether it can be kept as YAML and JSON and comes back as it was.
bool is_plain_text(std::string_view text) {
  constexpr unsigned char kBlank = 0x20;
  constexpr unsigned char kDelete = 0x7f;
  const bool printable = std::ranges::all_of(text, [](char one) {
    const auto byte = static_cast<unsigned char>(one);
    return (byte >= kBlank && byte != kDelete) || one == '\n' || one == '\t' || one == '\r';
  });
  return printable && !find_invalid_utf8(text);
}

auto rank(const TransitionExample& one) {
  return std::tuple(one.method != TimeMethod::measured, -one.log_gain,
                    one.before.size() + one.after.size());
}

auto names(const TransitionExample& one) {
  return std::tie(one.family, one.kernel, one.name, one.device, one.run, one.before, one.after);
}

}  // namespace

std::string TransitionExample::nonsense() const {
  if (before.empty() || after.empty()) return "an example needs code before and after";
  if (before == after) return "an example's step changed nothing";
  for (const std::string* side : {&before, &after}) {
    if (side->size() > kLargestExampleSide) return "an example's code is too long";
    if (!is_plain_text(*side)) return "an example's code is not text";
  }
  if (family.empty() || kernel.empty()) return "an example must name family and kernel";
  for (const std::string* name : {&device, &this->name, &kernel, &family, &run}) {
    if (name->size() > kLongestExampleName) return "a name of an example is too long";
    if (!is_plain_text(*name)) return "a name of an example is not text";
  }
  const bool gains = std::isfinite(log_gain) && log_gain > 0.0 && log_gain <= kLargestLogGain;
  return gains ? "" : "an example must have gained something";
}

bool is_better(const TransitionExample& one, const TransitionExample& other) {
  if (rank(one) != rank(other)) return rank(one) < rank(other);
  return names(one) < names(other);
}

}  // namespace regraph
