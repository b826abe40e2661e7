#include "rewrite/analysis/attention_loop.h"

#include "rewrite/analysis/online_loops.h"
#include "rewrite/analysis/online_updates.h"
#include "rewrite/analysis/row_places.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace regraph::rewrite {

namespace {

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
class AttentionLoopFinder {
 public:
  AttentionLoopFinder(const KernelForm& form, std::string dot)
      : form_(form), dot_(std::move(dot)) {}

  Result<AttentionLoop> find() {
    Status status = find_loop();
    if (status) status = read_before();
    if (status) status = read_loop();
    if (!status) return status.error();
    return std::move(result_);
  }

 private:
  // The loop, with what stands in front of it and behind it.
  Status find_loop() {
    const Stmt* found = nullptr;
    walk(form_.kernel.body, [&](const Stmt& stmt) {
      if (found != nullptr || !is<ForLoop>(stmt)) return;
      auto updates = online_updates(body_of(stmt), form_.analysis);
      if (!updates || updates->maximum.empty()) return;
      found = &stmt;
      updates_ = std::move(*updates);
    });
    if (found == nullptr)
      return refuse("no loop scales its sums when the largest value so far grows");
    result_.loop = found;
    auto place = place_of_loop(form_.kernel.body, *found, "the loop over keys");
    if (!place) return place.error();
    before_ = std::move(place->before);
    result_.row_guards = std::move(place->guards);
    result_.behind = std::move(place->behind);
    return {};
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
    const Variable* variable = array.empty() ? nullptr : form_.analysis.local(array);
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

  ExprPtr inlined(const ExprPtr& expr, const ValuesByName& known) const {
    return rewrite::inlined(expr, known, {}, form_.analysis);
  }

  // The loop's body: the score, then what it weights.
  Status read_loop() {
    const auto counted = counted_loop_of(*result_.loop);
    if (!counted || counted->stride != 1)
      return refuse("the loop over keys does not count in ones");
    result_.counted = *counted;
    const auto* header = to<ForLoop>(*result_.loop).declaration();
    if (header == nullptr || !header->variable.scalar ||
        size_in_bytes(*header->variable.scalar) != 4)
      return refuse("the loop over keys does not count in 32 bits");
    ValuesByName values;
    return read_score(body_of(*result_.loop), values);
  }

  Status read_score(const Block& block, ValuesByName& values) {
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
          result_.key_conditions.push_back(inlined(term, values));
        return read_score(branch->body, values);
      } else {
        return refuse("the loop over keys does more than weight values");
      }
    }
    return refuse("the loop over keys does more than weight values");
  }

  Status assign_value(const Assignment& assignment, ValuesByName& values) const {
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
  Status read_dot(const Stmt& stmt, ValuesByName& values) {
    const auto loop = element_loop(stmt);
    const auto added = loop ? added_term(*loop->assignment) : std::nullopt;
    const auto* sum = loop ? as<VariableReference>(loop->assignment->target) : nullptr;
    const auto start = sum != nullptr ? values.find(sum->name) : values.end();
    const Variable* variable = sum != nullptr ? form_.analysis.local(sum->name) : nullptr;
    if (!added || added->is_subtracted || start == values.end() || !is_zero(start->second) ||
        variable == nullptr || variable->scalar != ScalarType::f32 || !result_.elements.empty())
      return refuse("the loop over keys adds up other things than one product of two rows");
    result_.element_counter = loop->counted.name;
    result_.element_count = loop->elements;
    std::vector<ExprPtr> factors;
    if (Status status = take_factors(added->term, values, factors); !status) return status;
    if (result_.elements.size() != 2)
      return refuse("the scores are no products of two rows of half or bfloat16");
    ExprPtr value = variable_of(dot_, ScalarType::f32);
    for (const ExprPtr& factor : factors)
      value = with_type(multiply(value, factor), ScalarType::f32);
    start->second = value;
    return {};
  }

  // `is_widened`: the value is taken to single precision where it is read.
  Status take_factors(const ExprPtr& expr, const ValuesByName& values,
                      std::vector<ExprPtr>& factors, bool is_widened = false) {
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
        base != nullptr ? form_.kernel.parameter(base->name) : nullptr;
    if (parameter != nullptr && is_factor_type(parameter->scalar) && is_single) {
      result_.elements.push_back(term);
      return {};
    }
    const auto fill = base != nullptr ? fills_.find(base->name) : fills_.end();
    if (fill != fills_.end() && indices.size() == 1 &&
        is_named(indices[0], result_.element_counter) &&
        fill->second.elements == result_.element_count) {
      // As it is read, of whatever type it is kept.
      const Variable* array = form_.analysis.local(base->name);
      const ExprPtr value = at_element(fill->second, indices[0]);
      if (array->scalar != ScalarType::f32 &&
          array->scalar.value_or(ScalarType::f32) != value->type.value_or(ScalarType::f32))
        return refuse("'" + base->name + "' rounds what it is filled with");
      return take_factors(value, values, factors, is_single);
    }
    if (!is_single || is_mentioned(term, result_.element_counter))
      return refuse("the scores are no products of two rows of half or bfloat16");
    factors.push_back(term);
    return {};
  }

  // `at`: the branch that scales the sums.
  Status take_score(const Block& block, std::size_t at, const std::string& value,
                    const ValuesByName& values) {
    const auto score = values.find(value);
    if (score == values.end() || result_.elements.empty())
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
      const ExprPtr definition = form_.analysis.definition(variable->name);
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
    const Variable* variable = array.empty() ? nullptr : form_.analysis.local(array);
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
        base != nullptr ? form_.kernel.parameter(base->name) : nullptr;
    if (parameter == nullptr || !is_factor_type(parameter->scalar))
      return refuse("the values are no elements of an array of half or bfloat16");
    result_.mix = *variable;
    result_.value = inlined(other, {});
    result_.value_counter = loop->counted.name;
    return {};
  }

  const KernelForm& form_;
  const std::string dot_;
  AttentionLoop result_;
  OnlineUpdates updates_;
  Block before_;
  std::map<std::string, Fill> fills_;
  std::map<std::string, ExprPtr> starts_;
};

}  // namespace

bool is_minus_infinity(const ExprPtr& expr) {
  const auto* minus = as_unary(expr, UnaryOperator::minus);
  const auto* literal = minus != nullptr ? as<FloatingLiteral>(minus->operand) : nullptr;
  return literal != nullptr && literal->spelling == "INFINITY";
}

Result<AttentionLoop> find_attention_loop(const KernelForm& form, const std::string& dot) {
  return AttentionLoopFinder(form, dot).find();
}

}  // namespace regraph::rewrite
