// vectorize_global: a thread handles W neighbouring elements and moves them with one wide access.
//
//   i = global index;  if (i < n) b[i] = f(a[i]);
// becomes
//   first = W * global index;
//   if (first + W - 1 < n) { a_vector = wide load; b_vector.x = f(a_vector.x); ...; wide store }
//   else for (i = first; i < n; ++i) b[i] = f(a[i]);
//
// Legal when a thread is known by its global index alone, buffers do not overlap, and the accesses
// that are widened happen for every element, at unit stride, from a place that W divides: constants
// are checked here, parameters when the kernel runs. Everything else stays as it is, once an
// element. Alignment is what 'assume: {align}' grants.
#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/global_index.h"
#include "rewrite/analysis/size_expression.h"
#include "rewrite/analysis/vector_plan.h"
#include "rewrite/analysis/vector_type.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/names.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <memory>

namespace regraph::rewrite {
namespace {

using source::Analysis;
using source::as;
using source::BinaryOperator;
using source::Block;
using source::Declaration;
using source::ExprPtr;
using source::Kernel;
using source::Polynomial;
using source::Stmt;
using source::StmtPtr;
using source::VariableReference;

ExprPtr component(const std::string& vector, int number, std::optional<ScalarType> type) {
  return source::member(source::variable(vector, std::nullopt), component_name(number), type);
}

class Widener {
 public:
  Widener(const KernelForm& form, const VectorPlan& plan, int width)
      : kernel_(form.kernel),
        analysis_(form.analysis),
        plan_(plan),
        names_(form.kernel),
        width_(width) {
    first_ = names_.fresh("first_" + plan.element);
    for (const VectorAccess& access : plan.accesses)
      vectors_.push_back(names_.fresh(access.array + "_vector"));
  }

  // Deals the kernel's statements out to the vector and its elements, and turns the guard into one
  // for all elements of a vector. Error: refused. To be called once, before `run`.
  Status prepare() {
    for (const StmtPtr& stmt : kernel_.body) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && declaration->variable.name == plan_.element) {
        element_ = declaration->variable;
        source::Variable variable = element_;
        variable.name = first_;
        variable.is_const = true;
        common_.push_back(source::declare(
            variable, source::multiply(declaration->value, source::integer(width_))));
      } else if (declaration != nullptr && !depends(*declaration)) {
        common_.push_back(stmt);
      } else {
        per_element_.push_back(stmt);
      }
    }
    auto condition = whole_vector_condition();
    if (!condition) return condition.error();
    condition_ = *condition;
    return {};
  }

  Block run() {
    Block result = common_;
    result.push_back(source::branch(condition_, whole_vectors(), {remainder()}));
    return result;
  }

 private:
  // Whether a declaration in front of the guard is different for the elements of a thread.
  bool depends(const Declaration& declaration) {
    if (!declaration.value) return true;
    for (const std::string& name : source::variables_of(declaration.value)) {
      if (name == plan_.element || dependent_.contains(name)) {
        dependent_.insert(declaration.variable.name);
        return true;
      }
    }
    return !analysis_.is_single_definition(declaration.variable.name);
  }

  ExprPtr first() const { return source::variable(first_, element_.scalar); }

  ExprPtr element_number(int number) const { return source::add(first(), source::integer(number)); }

  // The expression with locals that depend on the element written out, for element `number`.
  ExprPtr at_element(const ExprPtr& expr, int number) const {
    return source::rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const auto* variable = as<VariableReference>(node);
      if (variable == nullptr) return std::nullopt;
      if (variable->name == plan_.element) return element_number(number);
      if (!dependent_.contains(variable->name)) return std::nullopt;
      const ExprPtr definition = analysis_.definition(variable->name);
      return definition ? std::optional(at_element(definition, number)) : std::nullopt;
    });
  }

  // The guard, for all elements of a vector.
  Result<ExprPtr> whole_vector_condition() const {
    std::vector<ExprPtr> terms;
    for (const ExprPtr& term : source::conjuncts(plan_.branch->condition)) {
      auto whole = whole_vector_term(term);
      if (!whole) return whole;
      terms.push_back(*whole);
    }
    for (const std::string& name : plan_.divisible) {
      const ExprPtr size = source::variable(name, kernel_.parameter(name)->scalar);
      terms.push_back(
          source::equals(source::remainder(size, source::integer(width_)), source::integer(0)));
    }
    return source::conjunction(terms);
  }

  Result<ExprPtr> whole_vector_term(const ExprPtr& term) const {
    const auto* comparison = as<source::Binary>(term);
    if (comparison == nullptr || !is_order(comparison->op)) {
      for (const std::string& name : source::variables_of(term)) {
        if (name == plan_.element || dependent_.contains(name))
          return refuse("a part of the guard is no comparison of the element's number");
      }
      return term;
    }
    const auto left = element_polynomial(comparison->left, plan_.element, analysis_);
    const auto right = element_polynomial(comparison->right, plan_.element, analysis_);
    if (!left || !right) return refuse("a part of the guard is not a known expression");
    const auto slope = (*left - *right).coefficient(plan_.element);
    const auto rise = slope ? slope->constant() : std::nullopt;
    if (!rise) return refuse("a part of the guard is not linear in the element's number");
    if (*rise == 0) return at_element(term, 0);
    // The element for which the comparison fails first.
    const bool is_upper =
        comparison->op == BinaryOperator::less || comparison->op == BinaryOperator::less_equal;
    const bool fails_high = is_upper == (*rise > 0);
    return at_element(term, fails_high ? width_ - 1 : 0);
  }

  static bool is_order(BinaryOperator op) {
    return source::is_comparison(op) && op != BinaryOperator::equal &&
           op != BinaryOperator::not_equal;
  }

  ExprPtr wide_place(const VectorAccess& access, bool stores) const {
    const ScalarType scalar = *kernel_.parameter(access.array)->scalar;
    const bool wide = element_.scalar && size_in_bytes(*element_.scalar) == 8;
    ExprPtr index = first();
    if (!access.rest.is_zero()) {
      index = source::add(source::to_expression(access.rest, wide), index);
    }
    const ExprPtr address =
        source::address(source::element(source::variable(access.array, scalar), {index}));
    const std::string type = (stores ? "" : "const ") + access.vector_type + "*";
    return source::element(source::cast(type, address), {source::integer(0)});
  }

  Block whole_vectors() {
    Block result;
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i) {
      const VectorAccess& access = plan_.accesses[i];
      source::Variable variable;
      variable.name = vectors_[i];
      variable.type = access.vector_type;
      result.push_back(
          source::declare(variable, access.loads ? wide_place(access, false) : nullptr));
    }
    for (int number = 0; number < width_; ++number) {
      result.push_back(source::scope(names_.renamed(element_code(number))));
    }
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i) {
      if (!plan_.accesses[i].stores) continue;
      result.push_back(source::assign(wide_place(plan_.accesses[i], true),
                                      source::variable(vectors_[i], std::nullopt)));
    }
    return result;
  }

  // What one element does, on the vectors' components.
  Block element_code(int number) const {
    Block code;
    for (const StmtPtr& stmt : per_element_) {
      if (stmt.get() != plan_.branch) {
        code.push_back(stmt);
      } else {
        code.insert(code.end(), plan_.branch->body.begin(), plan_.branch->body.end());
      }
    }
    const source::ExprRewrite rewrite = [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      if (source::is_named(expr, plan_.element)) return element_number(number);
      const auto* access = as<source::Subscript>(expr);
      const auto* array = access != nullptr ? as<VariableReference>(access->base) : nullptr;
      if (array == nullptr) return std::nullopt;
      for (std::size_t i = 0; i < plan_.accesses.size(); ++i) {
        if (plan_.accesses[i].array != array->name) continue;
        const auto index = element_polynomial(access->index, plan_.element, analysis_);
        const Polynomial place = Polynomial::symbol(plan_.element) + plan_.accesses[i].rest;
        if (index && *index == place) return component(vectors_[i], number, expr->type);
      }
      return std::nullopt;
    };
    return without_unused(source::rewrite_expressions(code, rewrite));
  }

  // Index arithmetic that only the widened accesses needed.
  Block without_unused(const Block& code) const {
    std::set<std::string> used;
    source::walk(code, [&](const Stmt& stmt) {
      for (const ExprPtr& expr : {target_of(stmt), value_of(stmt)}) {
        for (const std::string& name : source::variables_of(expr))
          used.insert(name);
      }
    });
    return source::rewrite_statements(code, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declaration = as<Declaration>(stmt);
      const bool is_unused = declaration != nullptr && declaration->value &&
                             !used.contains(declaration->variable.name) &&
                             !analysis_.reads_memory(declaration->value);
      return is_unused ? std::optional(Block{}) : std::nullopt;
    });
  }

  StmtPtr remainder() {
    source::Variable counter = element_;
    counter.is_const = false;
    const ExprPtr element = source::variable(plan_.element, element_.scalar);
    return source::loop(
        source::declare(counter, first()),
        source::less(element, source::add(first(), source::integer(width_))),
        source::assign(element, source::AssignmentOperator::add, source::integer(1)), per_element_);
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const VectorPlan& plan_;
  Names names_;
  int width_;
  std::string first_;
  source::Variable element_;
  std::vector<std::string> vectors_;
  std::set<std::string> dependent_;
  Block common_;  // once a vector
  Block per_element_;
  ExprPtr condition_;  // all elements of a vector exist
};

struct VectorPlace {
  VectorPlan plan;
  int width = 0;
};

class VectorizeGlobal final : public PlacedStep<VectorPlace> {
 public:
  std::string_view id() const override { return "vectorize_global"; }
  int position() const override { return 150; }
  std::vector<StepParameters> settings() const override {
    return {{{"width", "2"}}, {{"width", "4"}}};
  }

 protected:
  Result<VectorPlace> find(const KernelAnalysis& kernel,
                           const StepParameters& parameters) const override {
    auto width = integer_parameter(parameters, "width");
    if (!width) return width.error();
    if (*width != 2 && *width != 4) {
      return fail(ErrorCode::invalid_argument, "'width' must be 2 or 4");
    }
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    if (Status status = require_independent_threads(kernel); !status) return status.error();
    auto form = kernel.direct_normal();
    if (!form) return form.error();
    auto plan =
        plan_vectors((*form)->kernel, (*form)->analysis, *width, kernel.problem().assume.align);
    if (!plan) return plan.error();
    if (Status status = require_full_grid(**form, **launch, plan->limit); !status)
      return status.error();
    if (Status status = Widener(**form, *plan, *width).prepare(); !status) return status.error();
    return VectorPlace{std::move(*plan), *width};
  }

  KernelState rewrite(const KernelAnalysis& kernel, const VectorPlace& place) const override {
    KernelState result = kernel.state();
    Widener widener(**kernel.direct_normal(), place.plan, place.width);
    if (widener.prepare()) result.unit.kernel.body = widener.run();
    IntegerExpression& grid = result.plan.launches.front().grid[0];
    grid = IntegerExpression::ceil_divide(grid, IntegerExpression(place.width));
    rely_on(result, kNeedsDistinctBuffers);
    rely_on(result,
            "buffers are aligned to " + std::to_string(kernel.problem().assume.align) + " bytes");
    return result;
  }

 private:
  static Status require_independent_threads(const KernelAnalysis& kernel) {
    if (!kernel.problem().assume.noalias) {
      return refuse("the problem does not grant 'assume: {noalias: true}'");
    }
    if (const Status& status = kernel.transparent(); !status) return status;
    const Analysis& analysis = kernel.analysis();
    if (analysis.has_shared() || analysis.has_barrier() || analysis.uses_warp_intrinsics()) {
      return refuse("the threads of a block work together");
    }
    if (!analysis.unknown_calls().empty()) {
      return refuse("the kernel calls '" + *analysis.unknown_calls().begin() +
                    "', which may write memory");
    }
    return require_global_index(kernel.kernel(), analysis, "x");
  }

  // The original has a thread for every element below the limit, so that no element is added.
  static Status require_full_grid(const KernelForm& form, const Launch& launch,
                                  const ExprPtr& limit) {
    const std::string text = launch.grid[0].text();
    for (const std::string& block : {std::string("bx"), std::to_string(launch.block.x)}) {
      const std::string end = ", " + block + ")";
      if (!text.starts_with("cdiv(") || !text.ends_with(end)) continue;
      const auto covered = IntegerExpression::parse(text.substr(5, text.size() - 5 - end.size()));
      if (!covered) continue;
      const ExprPtr in_kernel = size_in_kernel(*covered, form.kernel, form.analysis, false);
      const auto upper = in_kernel ? form.analysis.polynomial(in_kernel) : std::nullopt;
      const auto lower = form.analysis.polynomial(limit);
      if (!upper || !lower) continue;
      const auto surplus = (*upper - *lower).constant();
      if (surplus && *surplus >= 0) return {};
    }
    return refuse("the grid " + text + " is not known to have a thread for every element");
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_vectorize_global() {
  return std::make_unique<VectorizeGlobal>();
}

}  // namespace regraph::rewrite
