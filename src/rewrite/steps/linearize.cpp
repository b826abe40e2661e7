// linearize: a grid of several axes becomes one of flat indices.
//
//   x, y, z = global indices; if (x < width && y < height) work of x, y and z
// becomes
//   i = global index; if (i < width * height * depth) work of i % width, i / width % height and
//   i / (width * height)
//
// No thread is idle at the end of a row, neighbours stay neighbours where rows end, and steps for
// flat indices follow (vectorize_global, delinearize by two of the sizes).
//
// Legal when a thread is known along each axis by its global index alone, threads beyond the last
// element do nothing, and all indices fit 32 bits.
#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "affine/global_index.h"
#include "affine/size_expression.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/unused_integers.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

// An axis of the grid that there was.
struct GridAxis {
  std::string letter;
  IntegerExpression length = 1;  // indices along it
  Polynomial in_kernel;          // the same
  Polynomial index;              // of the thread
};

struct FlatPlace {
  std::vector<GridAxis> axes;  // x first
  std::size_t guarded = 0;     // the statement of the body that all work is in
  std::vector<ExprPtr> rest;   // of its condition
  Launch launch;               // afterwards
};

class Linearize final : public PlacedStep<FlatPlace> {
 public:
  std::string_view id() const override { return "linearize"; }
  int position() const override { return 6; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Requirements requirements() const override { return {.lone_threads = true, .fixed_block = true}; }
  Result<FlatPlace> find(const KernelAnalysis& kernel, const StepParameters&) const override {
    const Launch& launch = **kernel.launch();
    auto form = kernel.single_exit();
    if (!form) return form.error();
    FlatPlace place;
    place.launch = launch;
    for (int axis = 0; axis < 3; ++axis) {
      auto found = axis_of(**form, launch, axis, kernel.problem());
      if (!found) return found.error();
      if (*found) place.axes.push_back(std::move(**found));
    }
    if (place.axes.size() < 2 || place.axes.front().letter != "x")
      return refuse("the grid has no more than one axis");
    if (Status status = find_guard(**form, launch, place); !status) return status.error();
    if (Status status = arrange(kernel, place); !status) return status.error();
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const FlatPlace& place) const override {
    const KernelForm& form = **kernel.single_exit();
    KernelState result = kernel.state();
    result.unit.kernel = form.kernel;
    result.unit.kernel.body = flat_body(form, place);
    relaunch(result, place.launch);
    return result;
  }

 private:
  // Null where nothing depends on the axis.
  static Result<std::optional<GridAxis>> axis_of(const KernelForm& form, const Launch& launch,
                                                 int number, const Problem& problem) {
    const std::string letter = kAxes[static_cast<std::size_t>(number)];
    const Analysis& analysis = form.analysis;
    const bool uses_thread = analysis.uses_builtin("threadIdx." + letter);
    const bool uses_block = analysis.uses_builtin("blockIdx." + letter);
    const IntegerExpression extent_symbol = IntegerExpression::symbol("b" + letter);
    const IntegerExpression& grid = launch.grid[static_cast<std::size_t>(number)];
    const bool is_thin = extent(launch.block, number) == 1;
    const IntegerExpression blocks = grid.substitute({{"b" + letter, IntegerExpression(1)}});
    if (!uses_thread && !uses_block) {
      if (is_thin && blocks == IntegerExpression(1)) return std::optional<GridAxis>();
      return refuse("several threads along " + letter + " do the same");
    }
    GridAxis axis;
    axis.letter = letter;
    const bool is_block_alone = is_thin && !uses_thread &&
                                !analysis.uses_builtin("blockDim." + letter) &&
                                !analysis.uses_builtin("gridDim." + letter);
    if (is_block_alone) {
      axis.index = Polynomial::symbol("blockIdx." + letter);
    } else {
      axis.index = global_index(letter);
      if (Status status = require_uncoarsened_index(form.kernel, analysis, letter); !status)
        return status.error();
    }
    const auto items = dividend_of(grid, extent_symbol);
    if (!items && !is_thin) {
      return refuse("the grid's " + letter + " extent is not cdiv(n, b" + letter +
                    ") of a number of things");
    }
    axis.length = items ? *items : blocks;
    const ExprPtr length = size_in_kernel(axis.length, form.kernel, analysis, false);
    const auto polynomial = length ? analysis.polynomial(length) : std::nullopt;
    if (!polynomial || !is_of_parameters(*polynomial, form.kernel) ||
        !size_of(*polynomial, problem) || polynomial->terms().size() != 1) {
      return refuse("the grid's " + letter + " extent is no product of the kernel's parameters");
    }
    axis.in_kernel = *polynomial;
    return std::optional(std::move(axis));
  }

  // The branch that all work is in; along which axes it stops threads beyond the last element.
  static Status find_guard(const KernelForm& form, const Launch& launch, FlatPlace& place) {
    const Block& body = form.kernel.body;
    std::size_t at = 0;
    while (at < body.size() && is_index(*body[at]))
      ++at;
    place.guarded = at;
    const auto* branch = at + 1 == body.size() ? as<Branch>(*body[at]) : nullptr;
    std::vector<bool> is_stopped(place.axes.size());
    if (branch != nullptr && branch->otherwise.empty()) {
      for (const ExprPtr& term : conjuncts(branch->condition)) {
        const auto slack = slack_of(term, form.analysis);
        bool is_end = false;
        for (std::size_t i = 0; slack && i < place.axes.size(); ++i) {
          const GridAxis& axis = place.axes[i];
          if (!(*slack + axis.index + Polynomial(1) == axis.in_kernel)) continue;
          is_end = true;
          is_stopped[i] = true;
        }
        if (!is_end) place.rest.push_back(term);
      }
    }
    for (std::size_t i = 0; i < place.axes.size(); ++i) {
      const GridAxis& axis = place.axes[i];
      const int number = axis.letter == "x" ? 0 : axis.letter == "y" ? 1 : 2;
      if (!is_stopped[i] && extent(launch.block, number) != 1)
        return refuse("no guard around all work ends with the grid along " + axis.letter);
    }
    return {};
  }

  static bool is_index(const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    return declaration != nullptr && declaration->value && declaration->variable.scalar &&
           !declaration->variable.is_pointer && is_of_integers(declaration->value);
  }

  static Status arrange(const KernelAnalysis& kernel, FlatPlace& place) {
    IntegerExpression total = place.axes.front().length;
    for (std::size_t i = 1; i < place.axes.size(); ++i)
      total = IntegerExpression::multiply(place.axes[i].length, total);
    const auto threads = static_cast<std::uint32_t>(place.launch.block.count());
    for (const Symbols& symbols : all_sizes(kernel.problem())) {
      const auto count = total.evaluate(symbols);
      if (!count || *count > std::numeric_limits<std::int32_t>::max() - threads)
        return refuse("an index of all elements would not fit 32 bits");
    }
    place.launch.block = Dim3{threads, 1, 1};
    place.launch.grid = {IntegerExpression::ceil_divide(total, IntegerExpression::symbol("bx")), 1,
                         1};
    return require_possible(place.launch, kernel);
  }

  static Block flat_body(const KernelForm& form, const FlatPlace& place) {
    Names names(form.kernel);
    const std::string flat = names.fresh("index");
    const ExprPtr index = variable(flat);
    Kernel result = form.kernel;
    result.body = {declare_integer(flat, cast("int", global_index_code("x")))};
    // Where each axis is found in it.
    std::vector<ExprPtr> parts;
    Polynomial below(1);
    for (std::size_t i = 0; i < place.axes.size(); ++i) {
      const GridAxis& axis = place.axes[i];
      ExprPtr part = i == 0 ? index : divide(index, to_expression(below));
      const bool is_last = i + 1 == place.axes.size();
      if (!is_last) part = remainder(part, to_expression(axis.in_kernel));
      below = below * axis.in_kernel;
      const std::string name = names.fresh(i == 0 ? "column" : is_last && i == 2 ? "plane" : "row");
      result.body.push_back(declare_integer(name, part));
      parts.push_back(variable(name));
    }
    const Block body =
        rewrite_expressions(form.kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          for (std::size_t i = 0; i < place.axes.size(); ++i) {
            const GridAxis& axis = place.axes[i];
            if (auto part = with_index(expr, axis.letter, axis.index, parts[i], form.analysis))
              return part;
          }
          return std::nullopt;
        });
    std::vector<ExprPtr> conditions = {less(index, to_expression(below))};
    const auto* branch = place.guarded < body.size() ? as<Branch>(*body[place.guarded]) : nullptr;
    const bool is_guard =
        branch != nullptr && place.guarded + 1 == body.size() && branch->otherwise.empty();
    Block work(body.begin() + static_cast<std::ptrdiff_t>(place.guarded), body.end());
    if (is_guard) {
      work = branch->body;
      const auto& before = to<Branch>(*form.kernel.body[place.guarded]);
      const std::vector<ExprPtr> terms = conjuncts(before.condition);
      const std::vector<ExprPtr> rewritten = conjuncts(branch->condition);
      for (std::size_t i = 0; i < terms.size(); ++i) {
        if (std::find(place.rest.begin(), place.rest.end(), terms[i]) != place.rest.end())
          conditions.push_back(rewritten[i]);
      }
    }
    for (std::size_t at = 0; at < place.guarded; ++at)
      result.body.push_back(body[at]);
    result.body.push_back(source::branch(conjunction(conditions), std::move(work)));
    return without_unused_integers(std::move(result.body));
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_linearize() {
  return std::make_unique<Linearize>();
}

}  // namespace regraph::rewrite
