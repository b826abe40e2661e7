#include "rewrite/transform/global_indices.h"

#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/index_range.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

constexpr std::array<const char*, 3> kNames = {"column", "row", "plane"};

// An axis with the name that its place gets.
struct NamedAxis {
  std::string thread;
  std::string number;
  std::int64_t threads = 1;
  std::string name;

  // The value with the place by its name; nothing where thread and block are no place. `value` has
  // numbers for extents of the block.
  std::optional<Polynomial> placed(const Polynomial& value) const {
    const auto of_thread = value.coefficient(thread);
    const auto of_block = value.coefficient(number);
    if (!of_thread || !of_block || !(*of_block == *of_thread * Polynomial(threads)))
      return std::nullopt;
    return value.substitute(number, Polynomial()).substitute(thread, Polynomial::symbol(name));
  }
};

class IndexNamer final : public Mutator {
 public:
  IndexNamer(const Analysis& analysis, const Dim3& block, const std::vector<NamedAxis>& axes)
      : analysis_(analysis), block_(block), axes_(axes) {}

  using Mutator::run;

 private:
  using Mutator::mutate;

  std::optional<ExprPtr> replaced(const ExprPtr& expr) const {
    const auto polynomial = is_index_type(expr->type) ? analysis_.polynomial(expr) : std::nullopt;
    if (!polynomial) return std::nullopt;
    Polynomial value = with_block_extents(*polynomial, block_);
    bool has_place = false;
    for (const NamedAxis& axis : axes_) {
      if (!value.mentions(axis.thread)) continue;
      const auto placed = axis.placed(value);
      if (!placed) return std::nullopt;
      value = *placed;
      has_place = true;
    }
    if (!has_place) return std::nullopt;
    return in_type_of(*expr, to_expression(value));
  }

  // Names that indices are made of are written out where they are used.
  StmtPtr mutate(const StmtPtr& stmt, const Declaration& named) override {
    const bool is_index = named.value && analysis_.definition(named.variable.name) &&
                          analysis_.polynomial(named.value);
    return is_index ? stmt : Mutator::mutate(stmt, named);
  }
  ExprPtr mutate(const ExprPtr& expr, const VariableReference&) override {
    return replaced(expr).value_or(expr);
  }
  ExprPtr mutate(const ExprPtr& expr, const Binary& binary) override {
    const auto other = replaced(expr);
    return other ? *other : Mutator::mutate(expr, binary);
  }
  ExprPtr mutate(const ExprPtr& expr, const Cast& cast) override {
    const auto other = replaced(expr);
    return other ? *other : Mutator::mutate(expr, cast);
  }

  const Analysis& analysis_;
  const Dim3& block_;
  const std::vector<NamedAxis>& axes_;
};

}  // namespace

Block with_global_indices(const Kernel& kernel, const Dim3& block) {
  const Analysis analysis(kernel);
  std::vector<NamedAxis> axes;
  Block names;
  for (int axis = 0; axis < 3; ++axis) {
    const std::string letter = kAxes[static_cast<std::size_t>(axis)];
    if (extent(block, axis) == 1 || require_global_index(kernel, analysis, letter)) continue;
    const NamedAxis named{"threadIdx." + letter, "blockIdx." + letter,
                          std::int64_t{extent(block, axis)},
                          fresh_name(kernel, kNames[static_cast<std::size_t>(axis)])};
    bool is_place = !analysis.uses_builtin("gridDim." + letter);
    for_each_polynomial(kernel, analysis, [&](const Polynomial& polynomial) {
      is_place = is_place && named.placed(with_block_extents(polynomial, block)).has_value();
    });
    if (!is_place) continue;
    axes.push_back(named);
    names.push_back(declare_integer(named.name, global_index_code(letter)));
  }
  if (axes.empty()) return kernel.body;
  const Block body = IndexNamer(analysis, block, axes).run(kernel.body);
  names.insert(names.end(), body.begin(), body.end());
  return names;
}

}  // namespace regraph::rewrite
