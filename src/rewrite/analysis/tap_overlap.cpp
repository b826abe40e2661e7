#include "rewrite/analysis/tap_overlap.h"

#include "affine/block_geometry.h"
#include "rewrite/analysis/product_coordinates.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <utility>

namespace regraph::rewrite {

namespace {

// left op right, as left - right op 0.
struct Atom {
  BinaryOperator op = BinaryOperator::less;
  Polynomial difference;
};

class TapFinder {
 public:
  TapFinder(const KernelForm& form, const Launch& launch, const std::vector<TapLoop>& loops,
            std::optional<std::size_t> kept)
      : form_(form), launch_(launch), loops_(loops), kept_(kept) {}

  std::vector<TapAxis> find(const std::vector<int>& axes, const Polynomial& index,
                            const std::vector<ExprPtr>& conditions) {
    for (const int axis : axes) {
      TapAxis one;
      one.axis = axis;
      axes_.push_back(one);
      coordinates_.push_back(fresh_name(form_.kernel, "position" + std::to_string(axis)));
    }
    const auto placed = in_positions(index);
    if (!placed) return {};
    for (std::size_t at = 0; at < axes_.size(); ++at)
      find_taps(axes_[at], coordinates_[at], *placed);
    if (std::ranges::none_of(axes_, [](const TapAxis& axis) { return axis.loop.has_value(); }))
      return {};
    if (!depends_by_sums(*placed)) return {};
    for (const ExprPtr& condition : conditions) {
      if (!is_about_inputs(condition) && !ends_positions(condition)) return {};
    }
    return std::move(axes_);
  }

 private:
  std::optional<Polynomial> in_positions(const Polynomial& polynomial) const {
    std::optional<Polynomial> result = with_block_extents(polynomial, launch_.block);
    for (std::size_t at = 0; result && at < axes_.size(); ++at)
      result = with_coordinate(*result, axes_[at].axis, launch_.block, coordinates_[at]);
    return result;
  }

  // The loop whose iterations move the index as positions do, some number of times.
  void find_taps(TapAxis& axis, const std::string& coordinate, const Polynomial& index) {
    const auto by_position = index.coefficient(coordinate);
    if (!by_position || by_position->is_zero()) return;
    for (std::size_t at = 0; at < loops_.size(); ++at) {
      if (at == kept_ || !loops_[at].trips || is_taken(at)) continue;
      const auto by_tap = index.coefficient(loops_[at].counter);
      if (!by_tap || by_tap->is_zero()) continue;
      const auto dilation = constant_quotient(*by_tap, *by_position);
      const auto stride = constant_quotient(*by_position, *by_tap);
      if (!dilation && !stride) continue;
      // Taps that end where the next position's begin have inputs of their own.
      if (!dilation && std::abs(*stride) >= *loops_[at].trips) continue;
      const std::int64_t ratio = dilation ? *dilation : *stride;
      axis.loop = at;
      axis.trips = static_cast<int>(*loops_[at].trips);
      axis.reversed = ratio < 0;
      (dilation ? axis.dilation : axis.stride) = static_cast<int>(std::abs(ratio));
      return;
    }
  }

  bool is_taken(std::size_t loop) const {
    return std::ranges::any_of(axes_, [&](const TapAxis& axis) { return axis.loop == loop; });
  }

  static std::optional<std::int64_t> constant_quotient(const Polynomial& dividend,
                                                       const Polynomial& divisor) {
    constexpr std::int64_t kMost = 64;
    const auto quotient = source::exact_quotient(dividend, divisor);
    const auto value = quotient ? quotient->constant() : std::nullopt;
    return value && *value != 0 && std::abs(*value) <= kMost ? value : std::nullopt;
  }

  // Whether positions and taps come in as their sums.
  bool depends_by_sums(const Polynomial& value) const {
    for (std::size_t at = 0; at < axes_.size(); ++at) {
      const TapAxis& axis = axes_[at];
      if (!axis.loop) continue;
      const auto by_position = value.coefficient(coordinates_[at]);
      const auto by_tap = value.coefficient(loops_[*axis.loop].counter);
      if (!by_position || !by_tap) return false;
      const std::int64_t sign = axis.reversed ? -1 : 1;
      if (!(*by_position * Polynomial(sign * axis.dilation) == *by_tap * Polynomial(axis.stride)))
        return false;
    }
    return true;
  }

  bool is_about_inputs(const ExprPtr& condition) const {
    if (const auto* unary = as<Unary>(condition); unary != nullptr)
      return unary->op == UnaryOperator::logical_not && is_about_inputs(unary->operand);
    if (const auto* both = as<Binary>(condition);
        both != nullptr &&
        (both->op == BinaryOperator::logical_and || both->op == BinaryOperator::logical_or))
      return is_about_inputs(both->left) && is_about_inputs(both->right);
    const auto atom = atom_of(condition);
    return atom && depends_by_sums(atom->difference);
  }

  // Whether what holds for a position holds for all smaller ones, whatever the tap.
  bool ends_positions(const ExprPtr& condition) const {
    if (const auto* both = as_binary(condition, BinaryOperator::logical_and))
      return ends_positions(both->left) && ends_positions(both->right);
    const auto atom = atom_of(condition);
    if (!atom) return false;
    for (const TapLoop& loop : loops_) {
      if (atom->difference.mentions(loop.counter)) return false;
    }
    const bool is_above =
        atom->op == BinaryOperator::greater || atom->op == BinaryOperator::greater_equal;
    for (const std::string& coordinate : coordinates_) {
      const auto by_position = atom->difference.coefficient(coordinate);
      const auto step = by_position ? by_position->constant() : std::nullopt;
      if (!step || (is_above ? *step > 0 : *step < 0)) return false;
    }
    return true;
  }

  std::optional<Atom> atom_of(const ExprPtr& condition) const {
    const auto* comparison = as<Binary>(condition);
    if (comparison == nullptr) return std::nullopt;
    switch (comparison->op) {
      case BinaryOperator::less:
      case BinaryOperator::less_equal:
      case BinaryOperator::greater:
      case BinaryOperator::greater_equal:
        break;
      default:
        return std::nullopt;
    }
    const auto left = form_.analysis.polynomial(comparison->left);
    const auto right = form_.analysis.polynomial(comparison->right);
    if (!left || !right) return std::nullopt;
    auto difference = in_positions(*left - *right);
    if (!difference) return std::nullopt;
    return Atom{comparison->op, std::move(*difference)};
  }

  const KernelForm& form_;
  const Launch& launch_;
  const std::vector<TapLoop>& loops_;
  const std::optional<std::size_t> kept_;
  std::vector<TapAxis> axes_;
  std::vector<std::string> coordinates_;
};

}  // namespace

std::vector<TapAxis> find_tap_axes(const KernelForm& form, const Launch& launch,
                                   const std::vector<int>& axes, const Polynomial& index,
                                   const std::vector<ExprPtr>& conditions,
                                   const std::vector<TapLoop>& loops,
                                   std::optional<std::size_t> kept) {
  return TapFinder(form, launch, loops, kept).find(axes, index, conditions);
}

}  // namespace regraph::rewrite
