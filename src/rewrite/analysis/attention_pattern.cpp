#include "rewrite/analysis/attention_pattern.h"

#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/online_loops.h"
#include "rewrite/analysis/online_updates.h"
#include "rewrite/analysis/product_coordinates.h"
#include "rewrite/analysis/vector_copy.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>

namespace regraph::rewrite {

namespace {

constexpr int kVectorBytes = 16;

bool is_minus_infinity(const ExprPtr& expr) {
  const auto* minus = as_unary(expr, UnaryOperator::minus);
  const auto* literal = minus != nullptr ? as<FloatingLiteral>(minus->operand) : nullptr;
  return literal != nullptr && literal->spelling == "INFINITY";
}

bool is_factor_type(const std::optional<ScalarType>& type) {
  return type == ScalarType::f16 || type == ScalarType::bf16;
}

// An array of a thread's own, as a loop over its elements fills it.
struct Fill {
  std::string counter;
  std::int64_t elements = 0;
  ExprPtr value;
};

// The one assignment of a loop over 0, 1, 2, ... that consists of it and of declarations.
struct ElementLoop {
  CountedLoop counted;
  std::int64_t elements = 0;
  const Assignment* assignment = nullptr;
};

std::optional<ElementLoop> element_loop(const Stmt& stmt) {
  const auto counted = counted_loop_of(stmt);
  const auto trips = counted ? counted->trips_from_zero() : std::nullopt;
  if (!trips) return std::nullopt;
  ElementLoop result{*counted, *trips, nullptr};
  for (const StmtPtr& inner : body_of(stmt)) {
    if (is<Declaration>(inner)) continue;
    const auto* assignment = as<Assignment>(inner);
    if (assignment == nullptr || result.assignment != nullptr) return std::nullopt;
    result.assignment = assignment;
  }
  return result.assignment != nullptr ? std::optional(result) : std::nullopt;
}

// The array of which the assignment changes the element that the loop is at; empty for others.
std::string element_of(const ElementLoop& loop) {
  const auto indices = indices_of(*loop.assignment->target);
  const auto* base = base_variable(*loop.assignment->target);
  return base != nullptr && indices.size() == 1 && is_named(indices[0], loop.counted.name)
             ? base->name
             : "";
}

class AttentionFinder {
 public:
  AttentionFinder(const KernelAnalysis& kernel, const Launch& launch)
      : kernel_(kernel), launch_(launch) {}

  Result<AttentionPattern> find() {
    for (const auto step :
         {&AttentionFinder::place_threads, &AttentionFinder::find_loop,
          &AttentionFinder::read_before, &AttentionFinder::read_loop, &AttentionFinder::place_rows,
          &AttentionFinder::place_keys, &AttentionFinder::take_behind}) {
      if (Status status = (this->*step)(); !status) return status.error();
    }
    return std::move(result_);
  }

 private:
  const Analysis& analysis() const { return result_.form->analysis; }

  // The kernel over a coordinate for the thread's place along the only axis that blocks have.
  Status place_threads() {
    const auto form = kernel_.single_exit();
    if (!form) return form.error();
    result_.axis.axis = -1;
    for (int axis = 0; axis < 3; ++axis) {
      if (extent(launch_.block, axis) == 1) continue;
      if (result_.axis.axis >= 0) return refuse("the blocks have more than one axis of threads");
      result_.axis.axis = axis;
    }
    if (result_.axis.axis < 0) return refuse("the blocks have one thread");
    const int axis = result_.axis.axis;
    result_.axis.coordinate =
        fresh_name((*form)->kernel, std::string("at_") + kAxes[static_cast<std::size_t>(axis)]);
    if (grid_guard_obstacle((*form)->kernel, (*form)->analysis, launch_, axis)) {
      const ExprPtr blocks = grid_extent(launch_, axis, (*form)->kernel);
      if (!blocks) return refuse("threads past the end of the grid could not be told");
      result_.axis.limit = multiply(blocks, integer(extent(launch_.block, axis)));
    }
    Kernel kernel = (*form)->kernel;
    const std::array axes = {result_.axis};
    kernel.body =
        rewrite_expressions(kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          return in_coordinates(expr, **form, launch_, axes);
        });
    result_.form = std::make_shared<const KernelForm>(std::move(kernel));
    names_.emplace(result_.form->kernel);
    names_->take(result_.axis.coordinate);
    result_.dot = names_->fresh("dot");
    return {};
  }

  // The loop, with what stands in front of it and behind it.
  Status find_loop() {
    const Stmt* found = nullptr;
    walk(result_.form->kernel.body, [&](const Stmt& stmt) {
      if (found != nullptr || !is<ForLoop>(stmt)) return;
      auto updates = online_updates(body_of(stmt), analysis());
      if (!updates || updates->maximum.empty()) return;
      found = &stmt;
      updates_ = std::move(*updates);
    });
    if (found == nullptr)
      return refuse("no loop scales its sums when the largest value so far grows");
    result_.loop = found;
    const Block* block = &result_.form->kernel.body;
    while (block != nullptr) {
      const Block* inner = nullptr;
      for (auto stmt = block->begin(); stmt != block->end(); ++stmt) {
        if (stmt->get() == found) {
          result_.behind.assign(stmt + 1, block->end());
          return {};
        }
        const bool holds = any_statement({*stmt}, [&](const Stmt& each) { return &each == found; });
        if (!holds) {
          before_.push_back(*stmt);
          continue;
        }
        if (!is<Branch>(*stmt) && !is<Scope>(*stmt))
          return refuse("the loop over keys stands in another loop");
        if (stmt + 1 != block->end() || !otherwise_of(**stmt).empty())
          return refuse("something is done for rows that have no loop over keys");
        if (const auto* branch = as<Branch>(*stmt)) {
          const auto terms = conjuncts(branch->condition);
          row_guards_.insert(row_guards_.end(), terms.begin(), terms.end());
        }
        inner = &body_of(**stmt);
      }
      block = inner;
    }
    return refuse("the loop over keys stands in another loop");
  }

  // What thread-private arrays hold, and where sums begin.
  Status read_before() {
    for (const StmtPtr& stmt : before_) {
      if (Status status = read_before(stmt); !status) return status;
    }
    const ExprPtr at_first = first_value(updates_.maximum);
    if (!at_first) return refuse("where '" + updates_.maximum + "' begins is not known");
    result_.maximum_at_first = at_first;
    result_.maximum = updates_.maximum;
    for (const Variable& sum : updates_.sums) {
      const ExprPtr value = first_value(sum.name);
      if (!value || !is_zero(value) || sum.scalar != ScalarType::f32)
        return refuse("'" + sum.name + "' does not start from zero in single precision");
    }
    return {};
  }

  Status read_before(const StmtPtr& stmt) {
    if (const auto* declaration = as<Declaration>(stmt)) {
      const auto* list = as<InitializerList>(declaration->value);
      const auto& extents = declaration->variable.extents;
      if (list != nullptr && extents.size() == 1 &&
          std::all_of(list->values.begin(), list->values.end(), is_zero))
        fills_[declaration->variable.name] = {"", extents[0], floating("0.0f")};
      else if (extents.empty() && declaration->value)
        starts_[declaration->variable.name] = declaration->value;
      return {};
    }
    if (const auto* scope = as<Scope>(stmt)) {
      for (const StmtPtr& inner : scope->body) {
        if (Status status = read_before(inner); !status) return status;
      }
      return {};
    }
    const auto loop = element_loop(*stmt);
    const std::string array = loop ? element_of(*loop) : "";
    const Variable* variable = array.empty() ? nullptr : analysis().local(array);
    if (variable == nullptr || variable->extents.size() != 1 ||
        variable->extents[0] != loop->elements)
      return refuse("what stands in front of the loop over keys is more than rows of queries");
    const Assignment& assignment = *loop->assignment;
    const auto known = fills_.find(array);
    if (assignment.op == AssignmentOperator::assign && known == fills_.end()) {
      fills_[array] = {loop->counted.name, loop->elements, assignment.value};
    } else if (assignment.op == AssignmentOperator::multiply && known != fills_.end()) {
      const ExprPtr before =
          at_element(known->second, variable_of(loop->counted.name, ScalarType::i32));
      known->second = {loop->counted.name, loop->elements,
                       with_type(multiply(before, assignment.value), variable->scalar)};
    } else {
      return refuse("'" + array + "' is filled in more than one way");
    }
    return {};
  }

  static ExprPtr variable_of(const std::string& name, std::optional<ScalarType> type) {
    return source::variable(name, type);
  }
  static ExprPtr at_element(const Fill& fill, const ExprPtr& index) {
    if (fill.counter.empty()) return fill.value;
    return rewrite_expr(fill.value, replace_variable(fill.counter, index));
  }

  // What the scalar, or every element of the array, holds in front of the loop; null: not known.
  ExprPtr first_value(const std::string& name) const {
    if (const auto fill = fills_.find(name); fill != fills_.end()) return fill->second.value;
    const auto start = starts_.find(name);
    return start != starts_.end() ? start->second : nullptr;
  }

  using Values = std::map<std::string, ExprPtr>;

  // The value as a declaration of the type takes it.
  static ExprPtr converted(const ExprPtr& value, const std::optional<ScalarType>& type) {
    if (!type || !value->type || *type == *value->type) return value;
    return with_type(cast(std::string(cuda_name(*type)), value), type);
  }

  // With the values of names that have one in `known`, or but one in the kernel.
  ExprPtr inlined(const ExprPtr& expr, const Values& known,
                  const std::set<std::string>& kept = {}) const {
    return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const auto* variable = as<VariableReference>(node);
      if (variable == nullptr || kept.contains(variable->name)) return std::nullopt;
      if (const auto found = known.find(variable->name); found != known.end()) return found->second;
      const Variable* local = analysis().local(variable->name);
      const ExprPtr definition = local != nullptr && local->extents.empty()
                                     ? analysis().definition(variable->name)
                                     : nullptr;
      if (!definition || analysis().loop(variable->name) != nullptr) return std::nullopt;
      return converted(inlined(definition, known, kept), local->scalar);
    });
  }

  // The loop's body: the score, then what it weights.
  Status read_loop() {
    const auto counted = counted_loop_of(*result_.loop);
    if (!counted || counted->stride != 1)
      return refuse("the loop over keys does not count in ones");
    counted_ = *counted;
    result_.key = counted->name;
    const auto* header = to<ForLoop>(*result_.loop).declaration();
    if (header == nullptr || !header->variable.scalar ||
        size_in_bytes(*header->variable.scalar) != 4)
      return refuse("the loop over keys does not count in 32 bits");
    Values values;
    return read_score(body_of(*result_.loop), values);
  }

  Status read_score(const Block& block, Values& values) {
    for (std::size_t at = 0; at < block.size(); ++at) {
      const Stmt& stmt = *block[at];
      if (const auto* declaration = as<Declaration>(stmt)) {
        if (!declaration->variable.extents.empty())
          return refuse("the loop over keys has an array of its own");
        if (declaration->value)
          values[declaration->variable.name] =
              converted(inlined(declaration->value, values), declaration->variable.scalar);
      } else if (const auto* assignment = as<Assignment>(stmt)) {
        if (Status status = assign_value(*assignment, values); !status) return status;
      } else if (is<ForLoop>(stmt)) {
        if (Status status = read_dot(stmt, values); !status) return status;
      } else if (const auto* branch = as<Branch>(stmt);
                 branch != nullptr && branch->otherwise.empty()) {
        std::string value;
        if (matches(branch->condition, operation(BinaryOperator::greater, some_variable(value),
                                                 named(updates_.maximum)))) {
          return take_score(block, at, value, values);
        }
        if (at + 1 != block.size())
          return refuse("the loop over keys does more than weight values");
        for (const ExprPtr& term : conjuncts(branch->condition))
          key_conditions_.push_back(inlined(term, values));
        return read_score(branch->body, values);
      } else {
        return refuse("the loop over keys does more than weight values");
      }
    }
    return refuse("the loop over keys does more than weight values");
  }

  Status assign_value(const Assignment& assignment, Values& values) const {
    const auto* target = as<VariableReference>(assignment.target);
    const auto found = target != nullptr ? values.find(target->name) : values.end();
    if (found == values.end()) return refuse("the loop over keys changes more than its sums");
    const ExprPtr value = inlined(assignment.value, values);
    const std::optional<ScalarType> type = found->second->type;
    switch (assignment.op) {
      case AssignmentOperator::assign:
        found->second = value;
        return {};
      case AssignmentOperator::multiply:
        found->second = with_type(multiply(found->second, value), type);
        return {};
      case AssignmentOperator::divide:
        found->second = with_type(divide(found->second, value), type);
        return {};
      case AssignmentOperator::add:
        found->second = with_type(add(found->second, value), type);
        return {};
      case AssignmentOperator::subtract:
        found->second = with_type(subtract(found->second, value), type);
        return {};
      default:
        return refuse("the loop over keys changes a value in an unknown way");
    }
  }

  // The product of a row of queries and one of keys, times what does not depend on the element.
  Status read_dot(const Stmt& stmt, Values& values) {
    const auto loop = element_loop(stmt);
    const auto added = loop ? added_term(*loop->assignment) : std::nullopt;
    const auto* sum = loop ? as<VariableReference>(loop->assignment->target) : nullptr;
    const auto start = sum != nullptr ? values.find(sum->name) : values.end();
    const Variable* variable = sum != nullptr ? analysis().local(sum->name) : nullptr;
    if (!added || added->is_subtracted || start == values.end() || !is_zero(start->second) ||
        variable == nullptr || variable->scalar != ScalarType::f32 || !elements_.empty())
      return refuse("the loop over keys adds up other things than one product of two rows");
    dot_counter_ = loop->counted.name;
    dot_elements_ = loop->elements;
    std::vector<ExprPtr> factors;
    if (Status status = take_factors(added->term, values, factors); !status) return status;
    if (elements_.size() != 2)
      return refuse("the scores are no products of two rows of half or bfloat16");
    ExprPtr value = variable_of(result_.dot, ScalarType::f32);
    for (const ExprPtr& factor : factors)
      value = with_type(multiply(value, factor), ScalarType::f32);
    start->second = value;
    return {};
  }

  // `is_widened`: the value is taken to single precision where it is read.
  Status take_factors(const ExprPtr& expr, const Values& values, std::vector<ExprPtr>& factors,
                      bool is_widened = false) {
    ExprPtr term = inlined(expr, values);
    const bool is_single = is_widened || term->type.value_or(ScalarType::f32) == ScalarType::f32;
    for (ExprPtr inner = widened(term); inner != term; inner = widened(term))
      term = inner;
    if (const auto* product = as_binary(term, BinaryOperator::multiply);
        product != nullptr && is_single &&
        term->type.value_or(ScalarType::f32) == ScalarType::f32) {
      Status status = take_factors(product->left, values, factors);
      return status ? take_factors(product->right, values, factors) : status;
    }
    const auto* base = is<Subscript>(term) ? base_variable(*term) : nullptr;
    const auto indices = indices_of(*term);
    const KernelParameter* parameter =
        base != nullptr ? result_.form->kernel.parameter(base->name) : nullptr;
    if (parameter != nullptr && is_factor_type(parameter->scalar) && is_single) {
      elements_.push_back(term);
      return {};
    }
    const auto fill = base != nullptr ? fills_.find(base->name) : fills_.end();
    if (fill != fills_.end() && indices.size() == 1 && is_named(indices[0], dot_counter_) &&
        fill->second.elements == dot_elements_) {
      // As it is read, of whatever type it is kept.
      const Variable* array = analysis().local(base->name);
      const ExprPtr value = at_element(fill->second, indices[0]);
      if (array->scalar != ScalarType::f32 &&
          array->scalar.value_or(ScalarType::f32) != value->type.value_or(ScalarType::f32))
        return refuse("'" + base->name + "' rounds what it is filled with");
      return take_factors(value, values, factors, is_single);
    }
    if (!is_single || is_mentioned(term, dot_counter_))
      return refuse("the scores are no products of two rows of half or bfloat16");
    factors.push_back(term);
    return {};
  }

  // `at`: the branch that scales the sums.
  Status take_score(const Block& block, std::size_t at, const std::string& value,
                    const Values& values) {
    const auto score = values.find(value);
    if (score == values.end() || elements_.empty())
      return refuse("the scores are no products of two rows of half or bfloat16");
    result_.score = score->second;
    std::string reference = updates_.maximum;
    bool has_sum = false;
    for (std::size_t next = at + 2; next < block.size(); ++next) {
      const Stmt& stmt = *block[next];
      if (const auto* declaration = as<Declaration>(stmt)) {
        // What weights are taken from while there is nothing but minus infinity.
        if (is<Conditional>(declaration->value) &&
            is_mentioned(declaration->value, updates_.maximum))
          reference = declaration->variable.name;
      } else if (const auto* assignment = as<Assignment>(stmt)) {
        const auto added = added_term(*assignment);
        const auto* sum = as<VariableReference>(assignment->target);
        if (!added || added->is_subtracted || sum == nullptr ||
            !is_weight(resolved(added->term), reference))
          return refuse("the loop over keys adds up more than weights and weighted values");
        has_sum = true;
      } else if (Status status = take_mix(stmt, reference); !status) {
        return status;
      }
    }
    if (result_.mix.name.empty() || !has_sum)
      return refuse("the loop over keys adds up no weights or no weighted values");
    for (const Variable& sum : updates_.sums) {
      if (sum.name == result_.mix.name) continue;
      if (!sum.extents.empty()) return refuse("the loop over keys has two arrays of sums");
      result_.sums.push_back(sum);
    }
    result_.first_score_spoils =
        reference == updates_.maximum && is_minus_infinity(result_.maximum_at_first);
    return {};
  }

  ExprPtr resolved(ExprPtr value) const {
    while (const auto* variable = as<VariableReference>(value)) {
      const ExprPtr definition = analysis().definition(variable->name);
      if (!definition) break;
      value = definition;
    }
    return value;
  }

  // mix[d] += weight * values[t][d]
  Status take_mix(const Stmt& stmt, const std::string& reference) {
    const auto loop = element_loop(stmt);
    const auto added = loop ? added_term(*loop->assignment) : std::nullopt;
    const std::string array = loop ? element_of(*loop) : "";
    const Variable* variable = array.empty() ? nullptr : analysis().local(array);
    const ExprPtr term = added && !added->is_subtracted ? resolved(added->term) : nullptr;
    const auto* product = term ? as_binary(term, BinaryOperator::multiply) : nullptr;
    if (product == nullptr || variable == nullptr || !result_.mix.name.empty() ||
        variable->extents.size() != 1 || variable->extents[0] != loop->elements)
      return refuse("the loop over keys adds up more than weights and weighted values");
    ExprPtr other;
    for (const auto& [one, another] :
         {std::pair(product->left, product->right), std::pair(product->right, product->left)}) {
      if (is_weight(resolved(one), reference)) other = resolved(another);
    }
    if (!other) return refuse("what is added to '" + array + "' is no weighted value");
    for (ExprPtr inner = resolved(widened(other)); inner != other; inner = resolved(widened(other)))
      other = inner;
    const auto* base = is<Subscript>(other) ? base_variable(*other) : nullptr;
    const KernelParameter* parameter =
        base != nullptr ? result_.form->kernel.parameter(base->name) : nullptr;
    if (parameter == nullptr || !is_factor_type(parameter->scalar))
      return refuse("the values are no elements of an array of half or bfloat16");
    result_.mix = *variable;
    value_element_ = inlined(other, {});
    value_counter_ = loop->counted.name;
    return {};
  }

  // Whether the value is the same for all threads of a block and all keys.
  bool is_of_block(const ExprPtr& expr) const {
    return all_expressions(expr, [&](const Expr& node) {
      if (is<OpaqueExpression>(node) || is<InitializerList>(node)) return false;
      if (const auto* name = as<VariableReference>(node)) {
        const KernelParameter* parameter = result_.form->kernel.parameter(name->name);
        return parameter != nullptr &&
               (!parameter->is_pointer || !analysis().is_written(name->name));
      }
      return true;
    });
  }

  // With what is the same for all threads of a block and no polynomial as variables.
  ExprPtr with_values_of_block(const ExprPtr& expr) {
    return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const auto* binary = as<Binary>(node);
      const bool is_polynomial =
          binary == nullptr
              ? !is<Call>(node) && !is<Conditional>(node) && !is<Subscript>(node)
              : binary->op == BinaryOperator::add || binary->op == BinaryOperator::subtract ||
                    binary->op == BinaryOperator::multiply || is_comparison(binary->op) ||
                    binary->op == BinaryOperator::logical_and ||
                    binary->op == BinaryOperator::logical_or;
      if (is_polynomial || !node->type || !is_of_block(node)) return std::nullopt;
      for (const auto& [name, value] : result_.values_of_block) {
        if (equal(value, node)) return variable_of(name, node->type);
      }
      const std::string name = names_->fresh("of_block");
      result_.values_of_block.emplace_back(name, node);
      return variable_of(name, node->type);
    });
  }

  std::optional<Polynomial> placed(const ExprPtr& expr) {
    const ExprPtr value = with_values_of_block(inlined(expr, {}));
    const SymbolMeaning known = analysis().meaning();
    return to_polynomial(value, [&](const std::string& name) -> std::optional<Polynomial> {
      const bool is_new =
          name == result_.axis.coordinate ||
          std::any_of(result_.values_of_block.begin(), result_.values_of_block.end(),
                      [&](const auto& one) { return one.first == name; });
      return is_new ? Polynomial::symbol(name) : known(name);
    });
  }

  // A row of the element's array, whose elements `counter` counts.
  Result<AttentionRows> rows_of(const ExprPtr& element, const std::string& counter,
                                std::int64_t elements) {
    const auto& access = to<Subscript>(element);
    AttentionRows rows;
    rows.array = base_variable(access)->name;
    const ScalarType type = *result_.form->kernel.parameter(rows.array)->scalar;
    if (analysis().is_written(rows.array) || analysis().is_viewed(rows.array))
      return refuse("'" + rows.array + "' is written in the kernel, or read as another type");
    rows.is_wide = access.index->type && size_in_bytes(*access.index->type) == 8;
    const auto index = indices_of(access).size() == 1 ? placed(access.index) : std::nullopt;
    const auto step = index ? index->coefficient(counter) : std::nullopt;
    if (!step || step->constant() != 1)
      return refuse("the index of '" + rows.array + "' is not one of neighbours in a row");
    rows.index = index->substitute(counter, Polynomial());
    rows.elements = static_cast<int>(elements);
    for (const std::string& symbol : {result_.axis.coordinate, result_.key}) {
      const auto along = rows.index.coefficient(symbol);
      if (!along || along->mentions(result_.axis.coordinate) || along->mentions(result_.key))
        return refuse("rows of '" + rows.array + "' are not evenly apart");
    }
    constexpr int kStep = 16;
    constexpr int kMost = 256;
    if (elements % kStep != 0 || elements > kMost)
      return refuse("rows of '" + rows.array + "' have " + std::to_string(elements) +
                    " elements: tensor cores take multiples of 16 up to 256");
    if (element_type_ && *element_type_ != type)
      return refuse("queries, keys and values are of two types");
    element_type_ = type;
    result_.element = type;
    std::set<std::string> divisible;
    if (kernel_.problem().assume.align >= kVectorBytes &&
        require_divisible(rows.index, kVectorBytes / 2, facts_of(result_.form->kernel), divisible))
      rows.divisible = std::move(divisible);
    return rows;
  }

  Status place_rows() {
    for (const ExprPtr& element : elements_) {
      auto rows = rows_of(element, dot_counter_, dot_elements_);
      if (!rows) return rows.error();
      const bool is_key = rows->index.mentions(result_.key);
      if (is_key == rows->index.mentions(result_.axis.coordinate))
        return refuse("'" + rows->array + "' is read neither by queries alone nor by keys alone");
      (is_key ? result_.keys : result_.query) = std::move(*rows);
    }
    if (result_.keys.array.empty() || result_.query.array.empty())
      return refuse("the scores are no products of a row of queries and one of keys");
    auto values = rows_of(value_element_, value_counter_, result_.mix.extents[0]);
    if (!values) return values.error();
    result_.values = std::move(*values);
    if (!result_.values.index.mentions(result_.key) ||
        result_.values.index.mentions(result_.axis.coordinate))
      return refuse("'" + result_.values.array + "' is not read by keys alone");
    for (const ExprPtr& guard : row_guards_) {
      if (Status status = take_row_guard(guard); !status) return status;
    }
    if (result_.axis.limit) {
      const auto limit = placed(result_.axis.limit);
      if (!limit) return refuse("how many rows there are is not known");
      result_.row_limits.push_back(*limit);
    }
    if (result_.row_limits.empty()) return refuse("how many rows there are is not known");
    return {};
  }

  Status take_row_guard(const ExprPtr& guard) {
    const ExprPtr known = inlined(guard, {});
    if (is_of_block(known)) {
      result_.conditions.push_back(known);
      return {};
    }
    const auto slack = slack_of(known, [&](const ExprPtr& side) { return placed(side); });
    const auto slope = slack ? slack->coefficient(result_.axis.coordinate) : std::nullopt;
    if (!slope || slope->constant() != -1) return refuse("a guard of the rows is no limit of them");
    result_.row_limits.push_back(*slack + Polynomial::symbol(result_.axis.coordinate) +
                                 Polynomial(1));
    return {};
  }

  Status place_keys() {
    for (const auto& [bound, is_upper] :
         {std::pair(counted_.first, false), std::pair(counted_.limit, true)}) {
      for (const ExprPtr& part : parts_of_bound(inlined(bound, {}), is_upper)) {
        const auto value = placed(part);
        if (!value) return refuse("a bound of the keys is not a known expression");
        if (Status status = add_bound(*value, is_upper); !status) return status;
      }
    }
    for (const ExprPtr& condition : key_conditions_) {
      if (Status status = add_condition(condition); !status) return status;
    }
    result_.score = inlined(result_.score, {});
    if (Status status = take_masks(); !status) return status;
    result_.score = with_values_of_block(result_.score);
    if (Status status = check_bounds(); !status) return status;
    return check_score();
  }

  // min(a, b) bounds from above like both.
  std::vector<ExprPtr> parts_of_bound(const ExprPtr& bound, bool is_upper) const {
    const auto* call = as<Call>(bound);
    const bool is_extremum = call != nullptr && call->arguments.size() == 2 &&
                             call->function == (is_upper ? "min" : "max");
    if (const auto* choice = as<Conditional>(bound)) {
      // a < b ? a : b
      const auto* asked = as<Binary>(choice->condition);
      const bool orders =
          asked != nullptr &&
          ((asked->op == BinaryOperator::less || asked->op == BinaryOperator::less_equal));
      const bool is_least =
          orders && equal(asked->left, choice->then) && equal(asked->right, choice->otherwise);
      const bool is_largest =
          orders && equal(asked->right, choice->then) && equal(asked->left, choice->otherwise);
      if (is_upper ? is_least : is_largest) return {choice->then, choice->otherwise};
    }
    if (!is_extremum) return {bound};
    return {call->arguments[0], call->arguments[1]};
  }

  Status add_bound(const Polynomial& value, bool is_upper) {
    const auto slope = value.coefficient(result_.axis.coordinate);
    if (!slope || !slope->constant() || value.mentions(result_.key))
      return refuse("a bound of the keys does not follow the rows evenly");
    (is_upper ? result_.uppers : result_.lowers).push_back(value);
    return {};
  }

  static bool has_negative_term(const Polynomial& side) {
    return std::any_of(side.terms().begin(), side.terms().end(),
                       [](const auto& term) { return term.second < 0; });
  }

  Status add_condition(const ExprPtr& condition) {
    const Polynomial key = Polynomial::symbol(result_.key);
    const auto slack = slack_of(condition, [&](const ExprPtr& side) { return placed(side); });
    const auto along = slack ? slack->coefficient(result_.key) : std::nullopt;
    const auto slope = slack ? slack->coefficient(result_.axis.coordinate) : std::nullopt;
    if (!along || !slope || !slope->constant() || !along->constant())
      return refuse("a condition on keys is no comparison of known expressions");
    if (compares_unsigned(condition)) {
      const auto& comparison = to<Binary>(condition);
      const auto left = placed(comparison.left);
      const auto right = placed(comparison.right);
      if (!left || !right || has_negative_term(*left) || has_negative_term(*right))
        return refuse("a condition on keys compares without signs what may be negative");
    }
    if (along->constant() == -1) return add_bound(*slack + key + Polynomial(1), true);
    if (along->constant() == 1) return add_bound(key - *slack, false);
    if (slope->constant() != 0) return refuse("a condition on keys is no bound of those of a row");
    result_.others.push_back(TileGuard::not_negative(*slack));
    return {};
  }

  // The keys of a block's rows have to follow each other: all between the first and the last are
  // read by one of them.
  Status check_bounds() const {
    const auto slope = [&](const Polynomial& bound) {
      return *bound.coefficient(result_.axis.coordinate)->constant();
    };
    for (const auto* bounds : {&result_.uppers, &result_.lowers}) {
      bool grows = false;
      bool shrinks = false;
      for (const Polynomial& bound : *bounds)
        (slope(bound) < 0 ? shrinks : grows) |= slope(bound) != 0;
      if (grows && shrinks) return refuse("bounds of the keys go different ways along the rows");
    }
    for (const Polynomial& upper : result_.uppers) {
      for (const Polynomial& lower : result_.lowers) {
        if (slope(upper) != 0 && slope(lower) != 0 &&
            (slope(upper) != slope(lower) || std::abs(slope(upper)) != 1))
          return refuse("bounds of the keys go different ways along the rows");
      }
    }
    return {};
  }

  // Scores that are minus infinity under a condition, as conditions on keys. What is weighted by
  // zero, the original multiplies; that it is finite has to be granted.
  Status take_masks() {
    while (kernel_.problem().assume.finite) {
      const auto* choice = as<Conditional>(result_.score);
      if (choice == nullptr) break;
      const bool masks_else = is_minus_infinity(choice->otherwise);
      if (!masks_else && !is_minus_infinity(choice->then)) break;
      const auto terms = conjuncts(masks_else ? choice->condition : negate(choice->condition));
      const AttentionPattern before = result_;
      Status status;
      for (const ExprPtr& term : terms) {
        if (status) status = add_condition(term);
      }
      // The first score would spoil the sums where a row's first keys are masked.
      const bool begins_later =
          result_.first_score_spoils && (result_.lowers.size() != before.lowers.size() ||
                                         result_.others.size() != before.others.size());
      if (!status || begins_later) {
        result_ = before;
        break;
      }
      result_.score = masks_else ? choice->then : choice->otherwise;
    }
    const bool begins_by_row = std::any_of(
        result_.lowers.begin(), result_.lowers.end(),
        [&](const Polynomial& bound) { return bound.mentions(result_.axis.coordinate); });
    if (result_.first_score_spoils && (begins_by_row || !result_.others.empty()) &&
        !kernel_.problem().assume.finite) {
      return refuse(
          "the problem does not grant 'assume: {finite: true}', and rows begin with different "
          "keys, of which the first must not have a score of minus infinity");
    }
    return {};
  }

  Status check_score() const {
    if (result_.score->type.value_or(ScalarType::f32) != ScalarType::f32)
      return refuse("the scores are not of single precision");
    Status status;
    walk(result_.score, [&](const Expr& node) {
      const auto* name = as<VariableReference>(node);
      const bool is_unknown =
          name != nullptr && name->name != result_.dot && name->name != result_.key &&
          name->name != result_.axis.coordinate &&
          result_.form->kernel.parameter(name->name) == nullptr &&
          std::none_of(result_.values_of_block.begin(), result_.values_of_block.end(),
                       [&](const auto& one) { return one.first == name->name; });
      if (is_unknown) status = refuse("what '" + name->name + "' is for a score is not known");
      if (is<OpaqueExpression>(node)) status = refuse("the scores are not understood");
    });
    return status;
  }

  // What is done with the sums, over names that are declared there, and those of the sums.
  Status take_behind() {
    std::set<std::string> kept = declared_names(result_.behind);
    kept.insert(result_.maximum);
    for (const Variable& sum : updates_.sums)
      kept.insert(sum.name);
    Status status;
    walk(result_.behind, [&](const Stmt& stmt) {
      switch (stmt.kind()) {
        case StmtKind::declaration:
        case StmtKind::assignment:
        case StmtKind::branch:
        case StmtKind::for_loop:
        case StmtKind::scope:
          return;
        default:
          status = refuse("what is done with the sums is more than to store them");
      }
    });
    if (!status) return status;
    result_.behind = rewrite_expressions(
        result_.behind,
        [&](const ExprPtr& expr) -> std::optional<ExprPtr> { return inlined(expr, {}, kept); });
    const auto all = [&](const Expr& node) {
      const auto* name = as<VariableReference>(node);
      return name == nullptr || kept.contains(name->name) ||
             name->name == result_.axis.coordinate ||
             result_.form->kernel.parameter(name->name) != nullptr;
    };
    if (!all_expressions(result_.behind, all))
      return refuse("what is done with the sums mentions other values of the thread");
    return check_mix(result_.behind);
  }

  // Elements of the weighted sums are met one by one, in loops over all of them.
  Status check_mix(const Block& block) const {
    for (const StmtPtr& stmt : block) {
      if (is<ForLoop>(stmt)) {
        const auto counted = counted_loop_of(*stmt);
        const auto trips = counted ? counted->trips_from_zero() : std::nullopt;
        if (trips != result_.mix.extents[0])
          return refuse("what is done with the sums has a loop over something else");
        const std::string& name = result_.mix.name;
        int mentions = 0;
        int elements = 0;
        walk_expressions(body_of(*stmt), [&](const Expr& node) {
          if (is_named(node, name)) ++mentions;
          const auto* access = as<Subscript>(node);
          if (access != nullptr && is_named(access->base, name) &&
              is_named(access->index, counted->name))
            ++elements;
        });
        const bool has_loop = any_statement(body_of(*stmt), [](const Stmt& inner) {
          return is<ForLoop>(inner) || is<Branch>(inner);
        });
        if (mentions != elements || has_loop)
          return refuse("what is done with the sums takes them out of order");
        continue;
      }
      for (const Block* inner : {&body_of(*stmt), &otherwise_of(*stmt)}) {
        if (Status status = check_mix(*inner); !status) return status;
      }
      if (any_own_expression(*stmt,
                             [&](const Expr& node) { return is_named(node, result_.mix.name); }))
        return refuse("what is done with the sums takes them out of order");
    }
    return {};
  }

  const KernelAnalysis& kernel_;
  const Launch& launch_;
  AttentionPattern result_;
  std::optional<Names> names_;
  OnlineUpdates updates_;
  Block before_;
  std::vector<ExprPtr> row_guards_;
  std::vector<ExprPtr> key_conditions_;
  std::map<std::string, Fill> fills_;
  std::map<std::string, ExprPtr> starts_;
  CountedLoop counted_;
  std::vector<ExprPtr> elements_;  // of the rows of queries and keys
  std::string dot_counter_;
  std::int64_t dot_elements_ = 0;
  ExprPtr value_element_;
  std::string value_counter_;
  std::optional<ScalarType> element_type_;
};

}  // namespace

bool AttentionPattern::is_masked() const {
  const auto follows_row = [&](const Polynomial& bound) { return bound.mentions(axis.coordinate); };
  return !others.empty() || std::any_of(uppers.begin(), uppers.end(), follows_row) ||
         std::any_of(lowers.begin(), lowers.end(), follows_row);
}

Result<AttentionPattern> find_attention(const KernelAnalysis& kernel) {
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  return AttentionFinder(kernel, **launch).find();
}

}  // namespace regraph::rewrite
