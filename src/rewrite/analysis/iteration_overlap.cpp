#include "rewrite/analysis/iteration_overlap.h"

#include "rewrite/analysis/block_geometry.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::rewrite {

using source::as;
using source::CountedLoop;
using source::Polynomial;

IterationOverlap::IterationOverlap(const source::Kernel& kernel, const source::Analysis& analysis,
                                   const Launch& launch, const Problem& problem)
    : analysis_(analysis), problem_(problem) {
  for (int axis = 0; axis < 3; ++axis) {
    known_.set_value(std::string("blockDim.") + kAxes[static_cast<std::size_t>(axis)],
                     extent(launch.block, axis));
  }
  for (const source::KernelParameter& parameter : kernel.parameters) {
    const bool is_size = !parameter.is_pointer && problem.sizes.contains(parameter.name) &&
                         !analysis.is_written(parameter.name);
    if (!is_size) continue;
    known_.add_symbol(parameter.name);
    known_.add(Polynomial::symbol(parameter.name) - Polynomial(1));
  }
  source::walk(kernel.body, [&](const source::Stmt& stmt) {
    const auto counted = source::counted_loop_of(stmt);
    if (counted) depth_.emplace(counted->name, static_cast<int>(depth_.size()));
  });
}

std::vector<std::string> IterationOverlap::counters_of(const Polynomial& polynomial) const {
  std::vector<std::string> result;
  for (const std::string& symbol : polynomial.symbols()) {
    if (depth_.contains(symbol)) result.push_back(symbol);
  }
  std::sort(result.begin(), result.end(), [&](const std::string& a, const std::string& b) {
    return depth_.at(a) > depth_.at(b);
  });
  return result;
}

bool IterationOverlap::has_no_counter(const Polynomial& polynomial) const {
  return counters_of(polynomial).empty();
}

std::optional<Polynomial> IterationOverlap::from_zero(Polynomial polynomial) const {
  std::set<std::string> done;
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string& counter : counters_of(polynomial)) {
      if (!done.insert(counter).second) continue;
      const CountedLoop* loop = analysis_.loop(counter);
      const auto first = loop != nullptr ? analysis_.polynomial(loop->first) : std::nullopt;
      if (!first) return std::nullopt;
      // Bounds mention counters of loops around only, which come later.
      for (const std::string& outer : counters_of(*first)) {
        if (done.contains(outer)) return std::nullopt;
      }
      polynomial = polynomial.substitute(counter, Polynomial::symbol(counter) + *first);
      changed = true;
      break;
    }
  }
  return polynomial;
}

std::optional<Polynomial> IterationOverlap::width_of(const std::string& counter) const {
  const CountedLoop* loop = analysis_.loop(counter);
  const auto first = loop != nullptr ? analysis_.polynomial(loop->first) : std::nullopt;
  const auto limit = first ? analysis_.polynomial(loop->limit) : std::nullopt;
  if (!limit) return std::nullopt;
  Polynomial width = *limit - *first - Polynomial(1);
  for (std::size_t round = 0; round <= depth_.size(); ++round) {
    const std::vector<std::string> counters = counters_of(width);
    if (counters.empty()) return width;
    const CountedLoop& around = *analysis_.loop(counters.front());
    const auto factor = width.coefficient(around.name);
    const auto low = analysis_.polynomial(around.first);
    const auto high = analysis_.polynomial(around.limit);
    if (!factor || !low || !high) return std::nullopt;
    if (is_nonnegative(*factor)) {
      width = width.substitute(around.name, *high - Polynomial(1));
    } else if (is_nonnegative(Polynomial() - *factor)) {
      width = width.substitute(around.name, *low);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

bool IterationOverlap::is_nonnegative(const Polynomial& value) const {
  // What does not hold where all sizes are 1, or what they are, needs no search for a proof.
  double at_one = 0;
  for (const auto& [monomial, factor] : value.terms())
    at_one += static_cast<double>(factor);
  return at_one >= 0 && estimate(value, problem_) >= 0 && known_.proves(value);
}

std::optional<IterationOverlap::Bounds> IterationOverlap::bounds_of(const Polynomial& pitch,
                                                                    const Polynomial& width) const {
  if (is_nonnegative(pitch)) return Bounds{Polynomial(), pitch * width};
  if (is_nonnegative(Polynomial() - pitch)) return Bounds{pitch * width, Polynomial()};
  return std::nullopt;
}

double estimate(const Polynomial& polynomial, const Problem& problem) {
  double sum = 0;
  for (const auto& [monomial, factor] : polynomial.terms()) {
    double term = static_cast<double>(factor);
    for (const std::string& name : monomial) {
      const auto size = problem.sizes.find(name);
      if (size != problem.sizes.end()) term *= static_cast<double>(size->second);
    }
    sum += term;
  }
  return sum;
}

bool IterationOverlap::are_apart(const Polynomial& a, const Polynomial& b,
                                 const CountedLoop& loop) const {
  const auto left = from_zero(a);
  const auto right = from_zero(b);
  if (!left || !right) return false;
  std::vector<Digit> digits;
  Bounds rest;  // of what differs besides digits
  Polynomial offset = *left - *right;
  std::set<std::string> counters;
  for (const Polynomial* side : {&*left, &*right}) {
    for (const std::string& counter : counters_of(*side))
      counters.insert(counter);
  }
  for (const std::string& counter : counters) {
    const auto width = width_of(counter);
    const auto one = left->coefficient(counter);
    const auto other = right->coefficient(counter);
    if (!width || !one || !other || !has_no_counter(*one) || !has_no_counter(*other)) return false;
    offset = offset - (*one - *other) * Polynomial::symbol(counter);
    const auto added = bounds_of(*one, *width);
    const auto taken = bounds_of(*other, *width);
    if (!added || !taken) return false;
    if (*one == *other) {
      // Upwards or downwards: the difference is as often the one as the other.
      const Polynomial pitch = added->low.is_zero() ? *one : Polynomial() - *one;
      digits.push_back({pitch * Polynomial(analysis_.loop(counter)->stride), pitch * *width,
                        counter == loop.name});
      continue;
    }
    rest.low = rest.low + added->low - taken->high;
    rest.high = rest.high + added->high - taken->low;
  }
  if (!has_no_counter(offset)) return false;
  rest = {rest.low + offset, rest.high + offset};
  Polynomial most;
  for (const Digit& digit : digits)
    most = most + digit.most;
  const Polynomial zero;
  if (is_less(zero, rest.low - most) || is_less(rest.high + most, zero)) return true;
  std::sort(digits.begin(), digits.end(), [&](const Digit& one, const Digit& other) {
    return estimate(one.step, problem_) < estimate(other.step, problem_);
  });
  bool is_told = false;  // equal indices have equal digits from the loop's on
  for (const Digit& digit : digits) {
    is_told = is_told || digit.is_of_loop;
    if (is_told && !(is_less(rest.high, digit.step) && is_less(zero - rest.low, digit.step)))
      return false;
    rest = {rest.low - digit.most, rest.high + digit.most};
  }
  return is_told;
}

}  // namespace regraph::rewrite
