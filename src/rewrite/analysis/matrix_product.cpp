#include "rewrite/analysis/matrix_product.h"

#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "affine/guarded_access.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/product_coordinates.h"
#include "rewrite/analysis/product_loop.h"
#include "rewrite/analysis/vector_copy.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace regraph::rewrite {

namespace {

constexpr int kVectorBytes = 16;

class ProductFinder {
 public:
  ProductFinder(const KernelForm& form, const KernelAnalysis& kernel, const Launch& launch)
      : form_(form), kernel_(kernel), launch_(launch) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      coordinates_[axis] = fresh_name(form.kernel, std::string("at_") + kAxes[axis]);
  }

  Result<MatrixProduct> find() {
    auto loop = find_product_loop(form_);
    if (!loop) return loop.error();
    product_.loop = loop->loop;
    product_.counted = std::move(loop->counted);
    product_.is_wide = loop->is_wide;
    product_.factor_type = loop->factor;
    product_.sum_type = loop->sum_type;
    product_.sum = std::move(loop->sum);
    product_.guards = std::move(loop->guards);
    values_ = std::move(loop->values);
    Status status = find_axes();
    if (status) status = place_factors();
    if (status) status = place_guards();
    if (status) status = place_bounds();
    if (!status) return status.error();
    return std::move(product_);
  }

 private:
  // Over the coordinates of the product's axes; of all axes as long as those are not known.
  std::optional<Polynomial> placed(const Polynomial& polynomial) const {
    std::optional<Polynomial> value = with_block_extents(polynomial, launch_.block);
    for (const int axis : axes_) {
      if (value)
        value = with_coordinate(*value, axis, launch_.block,
                                coordinates_[static_cast<std::size_t>(axis)]);
    }
    return value;
  }
  std::optional<Polynomial> placed(const ExprPtr& expr) const {
    const auto polynomial = form_.analysis.polynomial(expr);
    return polynomial ? placed(*polynomial) : std::nullopt;
  }

  // Which axes the polynomial depends on, by a coordinate.
  std::vector<int> axes_of(const Polynomial& polynomial) const {
    std::vector<int> found;
    for (const int axis : axes_) {
      if (polynomial.mentions(coordinates_[static_cast<std::size_t>(axis)])) found.push_back(axis);
    }
    return found;
  }

  // The axes with the threads of one product.
  Status find_axes() {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string& array = base_variable(*values_[i])->name;
      const auto index = placed(source::to<Subscript>(*values_[i]).index);
      if (!index)
        return refuse("the index of '" + array +
                      "' is no polynomial of the thread's place in the grid");
      std::vector<int> found = axes_of(*index);
      // Blocks of one thread along z are products of their own.
      if (extent(launch_.block, 2) == 1 && found.size() > 1 && found.back() == 2) found.pop_back();
      if (found.size() != 1)
        return refuse("'" + array + "' is not read along one axis of the grid alone");
      product_.factors[i].axis.axis = found.front();
    }
    axes_ = {product_.factors[0].axis.axis, product_.factors[1].axis.axis};
    if (axes_[0] == axes_[1]) return refuse("both factors are read along the same axis");
    const int other = 3 - axes_[0] - axes_[1];
    if (extent(launch_.block, other) != 1) return refuse("a block computes several products");
    return {};
  }

  Status place_factors() {
    for (std::size_t i = 0; i < 2; ++i) {
      ProductFactor& factor = product_.factors[i];
      const auto& access = source::to<Subscript>(*values_[i]);
      factor.array = base_variable(access)->name;
      factor.is_wide = access.index->type && size_in_bytes(*access.index->type) == 8;
      factor.axis.coordinate = coordinates_[static_cast<std::size_t>(factor.axis.axis)];
      factor.index = *placed(access.index);
      const auto step = factor.index.coefficient(product_.counted.name);
      const auto along = factor.index.coefficient(factor.axis.coordinate);
      const auto is_one = [](const std::optional<Polynomial>& value) {
        return value && value->constant() == 1;
      };
      if (!step || step->is_zero() || step->mentions(factor.axis.coordinate))
        return refuse("'" + factor.array + "' is not read along " + product_.counted.name);
      if (!is_one(step) && !is_one(along))
        return refuse("no neighbours of '" + factor.array + "' are read");
      factor.along_k = is_one(step);
      if (Status status = limit_axis(factor); !status) return status;
      plan_vectors(factor);
    }
    return {};
  }

  // The threads there are along the factor's axis, where no guard stops at them.
  Status limit_axis(ProductFactor& factor) const {
    auto limit = thread_limit(form_.kernel, form_.analysis, launch_, factor.axis.axis);
    if (!limit) return limit.error();
    factor.axis.limit = std::move(*limit);
    return {};
  }

  void plan_vectors(ProductFactor& factor) const {
    if (kernel_.problem().assume.align < kVectorBytes) return;
    SymbolFacts facts;
    facts.is_parameter = [&](const std::string& symbol) {
      return form_.kernel.parameter(symbol) != nullptr;
    };
    const int vector = product_.vector_elements();
    const std::string& neighbours = factor.along_k ? product_.counted.name : factor.axis.coordinate;
    const auto first = form_.analysis.polynomial(product_.counted.first);
    const auto start = first ? first->constant() : std::nullopt;
    facts.multiples[neighbours] = !factor.along_k ? vector
                                  : start         ? std::gcd<std::int64_t>(vector, *start)
                                                  : 1;
    std::set<std::string> divisible;
    if (require_divisible(factor.index, vector, facts, divisible))
      factor.divisible = std::move(divisible);
  }

  // Whether a difference of coordinates may come out below zero, where it is compared unsigned.
  bool may_wrap(const Polynomial& side) const {
    return !axes_of(side).empty() && std::any_of(side.terms().begin(), side.terms().end(),
                                                 [](const auto& term) { return term.second < 0; });
  }

  // Conditions on one coordinate say which elements the original loads; those on the other one hold
  // for some thread, whose loads are the original's as well.
  Status place_guard(const ExprPtr& guard, ProductFactor& factor) {
    const auto* comparison = as<Binary>(guard);
    if (comparison == nullptr || !is_comparison(comparison->op) ||
        comparison->op == BinaryOperator::not_equal) {
      return refuse("a guard of the product is no comparison");
    }
    const auto left = placed(comparison->left);
    const auto right = placed(comparison->right);
    if (!left || !right)
      return refuse("a guard of the product is no comparison of known expressions");
    if (compares_unsigned(guard) && (may_wrap(*left) || may_wrap(*right)))
      return refuse("a guard compares without signs what may be negative");
    bool here = false;
    bool elsewhere = false;
    for (const Polynomial& side : {*left, *right}) {
      if (side.mentions(product_.counted.name))
        return refuse("a guard of the product asks for " + product_.counted.name);
      for (const int axis : axes_of(side))
        (axis == factor.axis.axis ? here : elsewhere) = true;
    }
    if (here && elsewhere) return refuse("a guard of the product mixes rows and columns");
    if (elsewhere) return {};
    factor.guards.push_back({comparison->op, *left, *right});
    return {};
  }

  Status place_guards() {
    Status status;
    int loads = 0;
    for_each_guarded_access(body_of(*product_.loop), [&](const GuardedAccess& access) {
      const auto* base = base_variable(*access.access);
      if (base == nullptr || !form_.analysis.is_global_pointer(base->name)) return;
      ++loads;
      for (std::size_t i = 0; i < 2; ++i) {
        if (access.access != values_[i].get()) continue;
        for (const ExprPtr& guard : access.guards) {
          if (status) status = place_guard(guard, product_.factors[i]);
        }
      }
    });
    for (const ExprPtr& guard : product_.guards) {
      if (status && form_.analysis.reads_memory(guard))
        status = refuse("a guard of the product reads memory");
      if (status && names_counter(guard))
        status = refuse("a guard of the product asks for " + product_.counted.name);
    }
    if (status && loads != 2) status = refuse("the loop reads more than two elements");
    return status;
  }

  bool names_counter(const ExprPtr& guard) const {
    const std::set<std::string> used = variables_of(guard);
    if (used.contains(product_.counted.name)) return true;
    const std::set<std::string> inside = declared_names(body_of(*product_.loop));
    return std::any_of(used.begin(), used.end(),
                       [&](const std::string& name) { return inside.contains(name); });
  }

  Status place_bounds() {
    for (auto [bound, to] : {std::pair(product_.counted.first, &product_.first),
                             std::pair(product_.counted.limit, &product_.limit)}) {
      const auto value = placed(bound);
      if (!value) return refuse("a bound of the loop is not a known expression");
      if (!axes_of(*value).empty()) return refuse("a bound of the loop differs between threads");
      *to = *value;
    }
    return {};
  }

  const KernelForm& form_;
  const KernelAnalysis& kernel_;
  const Launch& launch_;
  MatrixProduct product_;
  std::array<ExprPtr, 2> values_;
  std::array<std::string, 3> coordinates_;
  std::vector<int> axes_ = {0, 1, 2};
};

}  // namespace

Result<MatrixProduct> find_matrix_product(const KernelForm& form, const KernelAnalysis& kernel) {
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  return ProductFinder(form, kernel, **launch).find();
}

}  // namespace regraph::rewrite
