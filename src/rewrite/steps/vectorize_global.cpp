// vectorize_global: a thread handles W neighbouring elements and moves them with one wide access.
//
//   i = global index;  if (i < n) b[i] = f(a[i]);
// becomes
//   first = W * global index;
//   if (first + W - 1 < n) { a_vector = wide load; b_vector.x = f(a_vector.x); ...; wide store }
//   else for (i = first; i < n; ++i) b[i] = f(a[i]);
//
// What the elements of a vector have in common is computed once, and what follows from an element's
// number in its vector is a number: words[i / 8] >> 4 * (i % 8) is one load and eight shifts.
//
// Legal when a thread is known by its global index alone, buffers do not overlap, and the accesses
// that are widened happen for every element, at neighbouring places, from one that W divides:
// constants are checked here, parameters when the kernel runs. An element may have several of the
// places, as pairs have, or share one with others. Everything else stays as it is, once an element.
// Where W does not divide what it has to, a thread's elements lie a block extent apart, one by one.
// Alignment is what 'assume: {align}' grants.
//
// With form=flat a grid of short rows becomes one of flat indices first (linearize), which pays
// only together: with vectors alone most threads of a row's block would have nothing to do.
//
// Additions by atomicAdd without a result are done by vectors, too, where the device has such and
// nothing else touches the array (vector_atomics.h): their order is open as it is. Under a guard
// they may stand that all elements of a vector have in common, and where they go may depend on what
// is loaded, as long as it is the same for the vector: it is loaded once.
#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/size_expression.h"
#include "base/result.h"
#include "rewrite/analysis/atomic_updates.h"
#include "rewrite/analysis/vector_plan.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/unused_names.h"
#include "rewrite/steps/product_step.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/vector_code.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {
namespace {

VectorShape shape_of_width(const VectorAtomic& update, int width) {
  return {update.scalar, width};
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
    for (const VectorAtomic& update : plan.atomics) {
      sums_.push_back(names_.fresh(update.array + "_vector"));
      places_.push_back(names_.fresh("first_" + update.array));
    }
    use_common(plan.common);
  }

  // Deals the kernel's statements out to the vector and its elements, and turns the guard into one
  // for all elements of a vector. Error: refused. To be called once, before `run`.
  Status prepare() {
    for (const StmtPtr& stmt : kernel_.body) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && declaration->variable.name == plan_.element) {
        element_ = declaration->variable;
        Variable variable = element_;
        variable.name = first_;
        variable.is_const = true;
        common_.push_back(declare(variable, multiply(declaration->value, integer(width_))));
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
    Block vectors = whole_vectors();
    if (const ExprPtr condition = common_condition()) {
      // Elsewhere each element computes what it needs.
      use_common({});
      vectors = {source::branch(condition, std::move(vectors), names_.renamed(whole_vectors()))};
    }
    Block elements = {source::branch(condition_, std::move(vectors), {remainder()})};
    if (const ExprPtr divisible = divisible_condition())
      elements = {source::branch(divisible, std::move(elements), {apart()})};
    append(elements, result);
    return result;
  }

 private:
  // Whether a declaration in front of the guard is different for the elements of a thread.
  bool depends(const Declaration& declaration) {
    if (!declaration.value) return true;
    for (const std::string& name : variables_of(declaration.value)) {
      if (name == plan_.element || dependent_.contains(name)) {
        dependent_.insert(declaration.variable.name);
        return true;
      }
    }
    return !analysis_.is_single_definition(declaration.variable.name);
  }

  ExprPtr first() const { return source::variable(first_, element_.scalar); }

  ExprPtr element_number(int number) const { return source::add(first(), integer(number)); }

  // The expression with locals that depend on the element written out, for element `number`.
  ExprPtr at_element(const ExprPtr& expr, int number) const {
    return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
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
    for (const ExprPtr& term : conjuncts(plan_.branch->condition)) {
      auto whole = whole_vector_term(term);
      if (!whole) return whole;
      terms.push_back(*whole);
    }
    return conjunction(terms);
  }

  // What has to hold for vectors to begin where they may; null: nothing.
  [[nodiscard]] ExprPtr divisible_condition() const {
    std::vector<ExprPtr> terms;
    for (const auto& [name, number] : plan_.divisible)
      terms.push_back(is_divided(name, number));
    return conjunction(terms);
  }

  [[nodiscard]] ExprPtr is_divided(const std::string& name, std::int64_t number) const {
    const ExprPtr size = source::variable(name, kernel_.parameter(name)->scalar);
    return equals(source::remainder(size, integer(number)), integer(0));
  }

  // What has to hold besides for elements to have values in common; null: nothing.
  [[nodiscard]] ExprPtr common_condition() const {
    std::vector<ExprPtr> terms;
    for (const std::string& name : plan_.common.divisible) {
      const auto known = plan_.divisible.find(name);
      if (known == plan_.divisible.end() || known->second % width_ != 0)
        terms.push_back(is_divided(name, width_));
    }
    return conjunction(terms);
  }

  void use_common(CommonValues common) {
    shared_ = std::move(common);
    common_names_.clear();
    value_names_.clear();
    digit_names_.clear();
    for (const Declaration* declaration : shared_.declarations)
      common_names_[declaration->variable.name] = names_.fresh(declaration->variable.name);
    for (const ExprPtr& value : shared_.expressions) {
      const auto* load = as<Subscript>(value);
      const auto* array = load != nullptr ? base_variable(*load) : nullptr;
      value_names_.push_back(names_.fresh(array != nullptr ? array->name + "_value" : "common"));
    }
    for (const ElementDigit& digit : shared_.digits)
      digit_names_.push_back(digit.digit.of_first ? names_.fresh("first_part") : "");
  }

  Result<ExprPtr> whole_vector_term(const ExprPtr& term) const {
    if (std::ranges::find(plan_.common_guards, term) != plan_.common_guards.end())
      return at_element(term, 0);
    const auto* comparison = as<Binary>(term);
    if (comparison == nullptr || !is_order(comparison->op)) {
      for (const std::string& name : variables_of(term)) {
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
    return is_comparison(op) && op != BinaryOperator::equal && op != BinaryOperator::not_equal;
  }

  // The first element of the vector.
  ExprPtr first_place(const VectorAccess& access) const {
    const ScalarType scalar = *kernel_.parameter(access.array)->scalar;
    const bool wide = element_.scalar && size_in_bytes(*element_.scalar) == 8;
    ExprPtr index = first();
    if (!access.is_plain || access.step > 1) {
      const auto place = std::find_if(access.places.begin(), access.places.end(),
                                      [](const auto& one) { return one.number == 0; });
      index = at_first(place->index);
    } else if (!access.rest.is_zero()) {
      index = source::add(to_expression(access.rest, wide), index);
    }
    return source::element(source::variable(access.array, scalar), {index});
  }

  // The expression for the first element, with what a vector has in common by its own name and
  // other locals of an element's written out.
  ExprPtr at_first(const ExprPtr& expr) const {
    return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const auto* variable = as<VariableReference>(node);
      if (variable == nullptr) return std::nullopt;
      if (variable->name == plan_.element) return first();
      const auto common = common_names_.find(variable->name);
      if (common != common_names_.end()) return source::variable(common->second, variable->type);
      if (is_declared_once_a_vector(variable->name)) return std::nullopt;
      const ExprPtr definition = analysis_.definition(variable->name);
      return definition ? std::optional(at_first(definition)) : std::nullopt;
    });
  }

  [[nodiscard]] bool is_declared_once_a_vector(const std::string& name) const {
    return std::any_of(common_.begin(), common_.end(), [&](const StmtPtr& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      return declaration != nullptr && declaration->variable.name == name;
    });
  }

  Block common_values() const {
    Block result;
    for (const Declaration* declaration : shared_.declarations) {
      Variable variable = declaration->variable;
      variable.name = common_names_.at(variable.name);
      result.push_back(declare(std::move(variable), at_first(declaration->value)));
    }
    for (std::size_t i = 0; i < shared_.expressions.size(); ++i)
      result.push_back(once(value_names_[i], shared_.expressions[i]));
    for (std::size_t i = 0; i < shared_.digits.size(); ++i) {
      if (shared_.digits[i].digit.of_first)
        result.push_back(once(digit_names_[i], shared_.digits[i].value));
    }
    return result;
  }

  // Declares the expression's value for the first element.
  [[nodiscard]] StmtPtr once(const std::string& name, const ExprPtr& value) const {
    Variable variable = local_variable(name, std::string(cuda_name(*value->type)), value->type);
    variable.is_const = true;
    return declare(std::move(variable), at_first(value));
  }

  // What stands for an expression that the elements have in common, or that follows from an
  // element's number; nothing for others.
  [[nodiscard]] std::optional<ExprPtr> common_value(const ExprPtr& expr, int number) const {
    for (std::size_t i = 0; i < shared_.expressions.size(); ++i) {
      if (equal(shared_.expressions[i], expr)) return source::variable(value_names_[i], expr->type);
    }
    for (std::size_t i = 0; i < shared_.digits.size(); ++i) {
      const auto& [value, digit] = shared_.digits[i];
      if (!equal(value, expr)) continue;
      const ExprPtr own = integer(digit.at(number));
      if (digit.of_first) return source::add(source::variable(digit_names_[i], expr->type), own);
      if (expr->type == ScalarType::i32) return own;
      return with_type(cast(std::string(cuda_name(*expr->type)), own), expr->type);
    }
    return std::nullopt;
  }

  [[nodiscard]] Variable place_variable_of(std::size_t update, ScalarType scalar) const {
    Variable variable = local_variable(places_[update], std::string(cuda_name(scalar)), scalar);
    variable.is_const = true;
    return variable;
  }

  // Adds the sums of a vector's elements, under the guards of its first.
  Block additions() const {
    Block result;
    for (std::size_t i = 0; i < plan_.atomics.size(); ++i) {
      const VectorAtomic& update = plan_.atomics[i];
      const ExprPtr array = source::variable(update.array, update.scalar);
      ExprPtr index = at_first(update.index);
      Block code;
      if (update.each < width_ && index->type) {
        // Several atomics on neighbouring places.
        code.push_back(declare(place_variable_of(i, *index->type), index));
        index = source::variable(places_[i], index->type);
      }
      append(add_vector(sums_[i], shape_of_width(update, width_), update.each,
                        source::element(array, {index})),
             code);
      std::vector<ExprPtr> guards;
      for (const ExprPtr& guard : update.guards)
        guards.push_back(at_first(guard));
      if (!guards.empty()) code = {source::branch(conjunction(guards), std::move(code))};
      append(code, result);
    }
    return result;
  }

  // An element's code with its additions as values of the vectors', and without what vectors share.
  Block with_sums(const Block& code, int number) const {
    return rewrite_statements(code, [&](const StmtPtr& stmt) -> std::optional<Block> {
      for (const Declaration* declaration : shared_.declarations) {
        if (stmt.get() == declaration) return Block{};
      }
      for (std::size_t i = 0; i < plan_.atomics.size(); ++i) {
        if (stmt.get() != plan_.atomics[i].statement) continue;
        const VectorShape shape = shape_of_width(plan_.atomics[i], width_);
        return Block{source::assign(vector_component(sums_[i], shape, number),
                                    atomic_update_of(*stmt)->value)};
      }
      return std::nullopt;
    });
  }

  Block whole_vectors() {
    Block result = common_values();
    for (std::size_t i = 0; i < plan_.atomics.size(); ++i) {
      const VectorShape shape = shape_of_width(plan_.atomics[i], width_);
      result.push_back(declare(vector_variable(sums_[i], shape), nullptr));
    }
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i) {
      const VectorAccess& access = plan_.accesses[i];
      if (access.loads) {
        append(declare_vector(vectors_[i], access.shape(width_), first_place(access)), result);
      } else {
        result.push_back(declare(vector_variable(vectors_[i], access.shape(width_)), nullptr));
      }
    }
    for (int number = 0; number < width_; ++number) {
      result.push_back(scope(names_.renamed(element_code(number))));
    }
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i) {
      if (!plan_.accesses[i].stores) continue;
      const VectorAccess& access = plan_.accesses[i];
      append(store_vector(vectors_[i], access.shape(width_), first_place(access)), result);
    }
    append(additions(), result);
    return without_unused(std::move(result), [&](const Declaration& declaration) {
      const std::string& name = declaration.variable.name;
      const auto has = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), name) != names.end();
      };
      return has(value_names_) || has(digit_names_) ||
             std::any_of(common_names_.begin(), common_names_.end(),
                         [&](const auto& names) { return names.second == name; });
    });
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
    code = with_sums(code, number);
    const ExprRewrite common = renaming(common_names_);
    const ExprRewrite rewrite = [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      if (is_named(expr, plan_.element)) return element_number(number);
      if (is<VariableReference>(expr)) return common(expr);
      if (auto value = common_value(expr, number)) return value;
      return component_of(expr, number);
    };
    // Index arithmetic that only the widened accesses needed goes.
    return without_unused(rewrite_expressions(code, rewrite), [&](const Declaration& declaration) {
      return declaration.value && !analysis_.reads_memory(declaration.value);
    });
  }

  // The part of a vector that stands for the access of element `number`; nothing for others.
  [[nodiscard]] std::optional<ExprPtr> component_of(const ExprPtr& expr, int number) const {
    const auto* element = as<Subscript>(expr);
    const auto* array = element != nullptr ? as<VariableReference>(element->base) : nullptr;
    if (array == nullptr) return std::nullopt;
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i) {
      const VectorAccess& access = plan_.accesses[i];
      if (access.array != array->name) continue;
      const auto place = std::find_if(
          access.places.begin(), access.places.end(),
          [&](const VectorAccess::Place& one) { return equal(one.index, element->index); });
      if (place == access.places.end()) continue;
      return vector_component(vectors_[i], access.shape(width_),
                              access.component(number, place->number));
    }
    return std::nullopt;
  }

  // The elements of the block's threads one by one, a block extent apart, so that neighbouring
  // threads have neighbours.
  StmtPtr apart() {
    Variable counter = element_;
    counter.is_const = true;
    const std::string round = names_.fresh("round");
    ExprPtr block = builtin("blockIdx.x");
    if (element_.scalar && size_in_bytes(*element_.scalar) == 8) block = cast(element_.type, block);
    const ExprPtr first_of_round =
        multiply(source::add(multiply(block, integer(width_)), source::variable(round)),
                 builtin("blockDim.x"));
    Block body = {declare(counter, source::add(first_of_round, builtin("threadIdx.x")))};
    append(per_element_, body);
    return counted_loop(round, integer(0), integer(width_), 1, names_.renamed(body), kUnrollFully);
  }

  StmtPtr remainder() {
    Variable counter = element_;
    counter.is_const = false;
    const ExprPtr element = source::variable(plan_.element, element_.scalar);
    return loop(declare(counter, first()),
                source::less(element, source::add(first(), integer(width_))),
                assign(element, AssignmentOperator::add, integer(1)), per_element_);
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const VectorPlan& plan_;
  Names names_;
  int width_;
  std::string first_;
  Variable element_;
  std::vector<std::string> vectors_;                 // of the accesses
  std::vector<std::string> sums_;                    // of the atomics
  std::vector<std::string> places_;                  // where the first of the sums go
  CommonValues shared_;                              // what a vector has once, and knows
  std::map<std::string, std::string> common_names_;  // of its declarations
  std::vector<std::string> value_names_;             // of its expressions
  std::vector<std::string> digit_names_;             // of its digits, "" where nothing is computed
  std::set<std::string> dependent_;
  Block common_;  // once a vector
  Block per_element_;
  ExprPtr condition_;  // all elements of a vector exist
};

struct VectorPlace {
  VectorPlan plan;
  int width = 0;
  const KernelAnalysis* kernel = nullptr;  // that the plan is for; the kernel asked keeps it
};

class VectorizeGlobal final : public PlacedStep<VectorPlace> {
 public:
  std::string_view id() const override { return "vectorize_global"; }
  int position() const override { return 150; }
  std::vector<StepParameters> settings() const override {
    return {{{"width", "2"}},
            {{"width", "4"}},
            {{"width", "8"}},
            {{"width", "16"}},
            {{"form", "flat"}, {"width", "4"}},
            {{"form", "flat"}, {"width", "8"}}};
  }

 protected:
  Requirements requirements() const override {
    return {.distinct_buffers = "", .lone_threads = true, .known_calls = true};
  }
  Result<VectorPlace> find(const KernelAnalysis& asked,
                           const StepParameters& parameters) const override {
    auto width = integer_parameter(parameters, "width");
    if (!width) return width.error();
    if (*width != 2 && *width != 4 && *width != 8 && *width != 16) {
      return fail(ErrorCode::invalid_argument, "'width' must be 2, 4, 8 or 16");
    }
    const KernelAnalysis* kernel = &asked;
    if (const auto form = parameters.find("form"); form != parameters.end()) {
      if (form->second != "flat")
        return fail(ErrorCode::invalid_argument, "'form' must be flat where it is given");
      auto flat = with_short_rows_flat(asked, *width);
      if (!flat) return flat.error();
      kernel = *flat;
    }
    if (Status status = require_global_index(kernel->kernel(), kernel->analysis(), "x"); !status)
      return status.error();
    auto form = kernel->direct_normal();
    if (!form) return form.error();
    constexpr int kFirstWithFloatVectors = 90;
    const int architecture = architecture_number(kernel->limits().architecture);
    auto plan =
        find_vector_plan(**form, {.width = *width,
                                  .alignment = kernel->problem().assume.align,
                                  .has_float_vectors = architecture >= kFirstWithFloatVectors});
    if (!plan) return plan.error();
    if (Status status = require_full_grid(**form, **kernel->launch(), plan->limit); !status)
      return status.error();
    if (Status status = Widener(**form, *plan, *width).prepare(); !status) return status.error();
    return VectorPlace{std::move(*plan), *width, kernel};
  }

  KernelState rewrite(const KernelAnalysis&, const VectorPlace& place) const override {
    const KernelAnalysis& kernel = *place.kernel;
    KernelState result = kernel.state();
    Widener widener(**kernel.direct_normal(), place.plan, place.width);
    if (widener.prepare()) result.unit.kernel.body = widener.run();
    IntegerExpression& grid = result.plan.launches.front().grid[0];
    grid = IntegerExpression::ceil_divide(grid, IntegerExpression(place.width));
    rely_on(result, kNeedsDistinctBuffers);
    rely_on_alignment(result, kernel.problem().assume.align);
    return result;
  }

 private:
  // Rows of a grid's other axes, which leave threads of a block idle that have a vector each, as
  // one row. Error: refused, where linearize is, or where rows are longer.
  static Result<const KernelAnalysis*> with_short_rows_flat(const KernelAnalysis& kernel,
                                                            int width) {
    for (const Symbols& sizes : kernel.problem().bench) {
      auto launch = concretise(**kernel.launch(), sizes);
      if (!launch) return launch.error();
      if (launch->grid.x >= static_cast<std::uint32_t>(width))
        return refuse("rows are long enough for the vectors of a block");
    }
    const StepRewriter* const linearize = find_built_in_step("linearize");
    auto flat = kernel.after(linearize->id(), [&](const KernelAnalysis& before) {
      return linearize->apply(before, {});
    });
    if (!flat) return refuse("linearize: " + flat.error().message);
    return flat;
  }

  // The original has a thread for every element below the limit, so that no element is added.
  static Status require_full_grid(const KernelForm& form, const Launch& launch,
                                  const ExprPtr& limit) {
    for (const IntegerExpression& block :
         {IntegerExpression::symbol("bx"), IntegerExpression(launch.block.x)}) {
      const auto covered = dividend_of(launch.grid[0], block);
      if (!covered) continue;
      const ExprPtr in_kernel = size_in_kernel(*covered, form.kernel, form.analysis, false);
      const auto upper = in_kernel ? form.analysis.polynomial(in_kernel) : std::nullopt;
      const auto lower = form.analysis.polynomial(limit);
      if (!upper || !lower) continue;
      const auto surplus = (*upper - *lower).constant();
      if (surplus && *surplus >= 0) return {};
    }
    return refuse("the grid " + launch.grid[0].text() +
                  " is not known to have a thread for every element");
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_vectorize_global() {
  return std::make_unique<VectorizeGlobal>();
}

}  // namespace regraph::rewrite
