#include "affine/iteration_overlap.h"

#include "affine/block_geometry.h"
#include "affine/index_range.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::affine {

namespace {

// Whether an integer is only assigned where a loop goes on with it.
bool is_changed_by_headers_alone(const Variable& variable, const Block& body) {
  if (!variable.scalar || is_floating(*variable.scalar) || !variable.extents.empty()) return false;
  std::set<const Stmt*> headers;
  bool is_changed = false;
  walk(body, [&](const Stmt& stmt) {
    const auto* loop = as<ForLoop>(stmt);
    if (loop != nullptr && loop->step) headers.insert(loop->step.get());
    is_changed =
        is_changed || (is_named(target_of(stmt), variable.name) && !headers.contains(&stmt));
    walk_own_expressions(stmt, [&](const Expr& expr) {
      for_each_passed_place(expr, [&](const Expr& place) {
        is_changed = is_changed || is_named(place, variable.name);
      });
    });
  });
  return !is_changed;
}

}  // namespace

IterationOverlap::IterationOverlap(const Kernel& kernel, const Analysis& analysis,
                                   const Launch& launch, const Problem& problem)
    : analysis_(analysis), problem_(problem) {
  for (int axis = 0; axis < 3; ++axis) {
    known_.set_value(std::string("blockDim.") + kAxes[static_cast<std::size_t>(axis)],
                     extent(launch.block, axis));
  }
  for (const KernelParameter& parameter : kernel.parameters) {
    const bool is_size = !parameter.is_pointer && problem.sizes.contains(parameter.name) &&
                         !analysis.is_written(parameter.name);
    if (!is_size) continue;
    known_.add_symbol(parameter.name);
    known_.add(Polynomial::symbol(parameter.name) - Polynomial(1));
  }
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* loop = as<ForLoop>(stmt);
    const auto counted = counted_loop_of(stmt);
    const bool steps = loop != nullptr && !counted && loop->declaration() != nullptr &&
                       is_changed_by_headers_alone(loop->declaration()->variable, kernel.body);
    if (!counted && !steps) return;
    const std::string& name = counted ? counted->name : loop->declaration()->variable.name;
    depth_.emplace(name, static_cast<int>(depth_.size()));
    if (steps) unbounded_.insert(name);
  });
  for (const auto& [name, depth] : depth_) {
    const CountedLoop* loop = analysis.loop(name);
    const auto first = loop != nullptr ? polynomial(loop->first) : std::nullopt;
    const auto limit = first ? polynomial(loop->limit) : std::nullopt;
    if (limit) known_.add_range(name, *first, *limit - Polynomial(1));
  }
}

std::optional<Polynomial> IterationOverlap::polynomial(const ExprPtr& index) const {
  if (auto known = analysis_.polynomial(index)) return known;
  return to_polynomial(index, [&](const std::string& name) -> std::optional<Polynomial> {
    if (unbounded_.contains(name)) return Polynomial::symbol(name);
    if (auto known = analysis_.meaning()(name)) return known;
    const ExprPtr definition = analysis_.definition(name);
    auto known = definition ? polynomial(definition) : std::nullopt;
    if (known || !definition || !is_same_for_all(name)) return known;
    return Polynomial::symbol(name);
  });
}

bool IterationOverlap::is_same_for_all(const std::string& name) const {
  if (depth_.contains(name)) return false;
  const Variable* local = analysis_.local(name);
  if (local == nullptr) return !analysis_.is_written(name);
  const ExprPtr definition = analysis_.definition(name);
  if (!definition || !is_index_type(local->scalar)) return false;
  return !any_expression(definition, [&](const Expr& part) {
    if (const auto* used = as<VariableReference>(part)) return !is_same_for_all(used->name);
    // What is read, nobody writes.
    const auto* element = as<Subscript>(part);
    const auto* base = element != nullptr ? as<VariableReference>(element->base) : nullptr;
    if (element != nullptr)
      return base == nullptr || !analysis_.is_global_pointer(base->name) ||
             analysis_.is_written(base->name);
    return is<Call>(part) || is<OpaqueExpression>(part) || is<Member>(part);
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
      if (unbounded_.contains(counter) || !done.insert(counter).second) continue;
      const CountedLoop* loop = analysis_.loop(counter);
      const auto first = loop != nullptr ? this->polynomial(loop->first) : std::nullopt;
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
  const auto first = loop != nullptr ? this->polynomial(loop->first) : std::nullopt;
  const auto limit = first ? this->polynomial(loop->limit) : std::nullopt;
  if (!limit) return std::nullopt;
  auto width = known_.extreme(*limit - *first - Polynomial(1), true);
  return width && has_no_counter(*width) ? width : std::nullopt;
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

std::optional<IterationOverlap::Digit> IterationOverlap::unbounded_digit(
    const Polynomial& one, const Polynomial& other) const {
  if (!(one == other)) return std::nullopt;
  const bool is_positive = is_nonnegative(one);
  if (!is_positive && !is_nonnegative(Polynomial() - one)) return std::nullopt;
  return Digit{is_positive ? one : Polynomial() - one, Polynomial(), false, false};
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
    const auto one = left->coefficient(counter);
    const auto other = right->coefficient(counter);
    if (!one || !other || !has_no_counter(*one) || !has_no_counter(*other)) return false;
    if (unbounded_.contains(counter)) {
      const auto digit = unbounded_digit(*one, *other);
      if (!digit) return false;
      digits.push_back(*digit);
      digits.back().is_of_loop = counter == loop.name;
      offset = offset - (*one - *other) * Polynomial::symbol(counter);
      continue;
    }
    const auto width = width_of(counter);
    if (!width) return false;
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
  bool is_bounded = true;
  for (const Digit& digit : digits) {
    most = most + digit.most;
    is_bounded = is_bounded && digit.is_bounded;
  }
  const Polynomial zero;
  if (!is_bounded) {
    // Whatever is above it is not told apart from it.
  } else if (is_less(zero, rest.low - most) || is_less(rest.high + most, zero))
    return true;
  std::sort(digits.begin(), digits.end(), [&](const Digit& one, const Digit& other) {
    return estimate(one.step, problem_) < estimate(other.step, problem_);
  });
  bool is_told = false;  // equal indices have equal digits from the loop's on
  for (const Digit& digit : digits) {
    is_told = is_told || digit.is_of_loop;
    if (is_told && !(is_less(rest.high, digit.step) && is_less(zero - rest.low, digit.step)))
      return false;
    if (!digit.is_bounded) return is_told && &digit == &digits.back();
    rest = {rest.low - digit.most, rest.high + digit.most};
  }
  return is_told;
}

}  // namespace regraph::affine
