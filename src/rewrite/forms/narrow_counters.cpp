#include "rewrite/forms/narrow_counters.h"

#include "source/analysis.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <limits>
#include <memory>
#include <string>

namespace regraph::rewrite {

namespace {

bool is_wide(ScalarType type) {
  return type == ScalarType::i64 || type == ScalarType::u64;
}

class CounterNarrower final : public Mutator {
 public:
  explicit CounterNarrower(const Kernel& kernel) : analysis_(kernel) {}

 private:
  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    StmtPtr inner = Mutator::mutate(stmt, loop);
    const auto* header = loop.declaration();
    const auto counted = counted_loop_of(*inner);
    if (header == nullptr || !counted || !header->variable.scalar ||
        !is_wide(*header->variable.scalar) || counted->stride < 1) {
      return inner;
    }
    const ExprPtr first = is<IntegerLiteral>(counted->first) ? as_int(counted->first) : nullptr;
    const ExprPtr limit = as_int(counted->limit);
    // Rounds beyond the limit must not pass the largest int.
    const bool is_safe = counted->stride == 1 || is<IntegerLiteral>(limit);
    if (!first || !limit || !is_safe) return inner;
    const auto& repeat = to<ForLoop>(inner);
    const std::string old_type = header->variable.type;
    const ScalarType old_scalar = *header->variable.scalar;
    const ExprPtr counter = source::variable(counted->name);
    const ExprPtr seen = with_type(source::cast(old_type, counter), old_scalar);
    auto result = std::make_shared<ForLoop>(repeat);
    Variable variable = header->variable;
    variable.type = "int";
    variable.scalar = ScalarType::i32;
    result->init = declare(variable, first);
    result->condition = less(counter, limit);
    result->step = assign(counter, AssignmentOperator::add, integer(counted->stride));
    result->body = rewrite_expressions(repeat.body, replace_variable(counted->name, seen));
    return result;
  }

  // The value as an int where it is one, or a literal that fits; null for others.
  ExprPtr as_int(const ExprPtr& value) const {
    if (const auto* literal = as<IntegerLiteral>(value)) {
      const bool fits =
          literal->value >= 0 && literal->value <= std::numeric_limits<std::int32_t>::max() / 2;
      return fits ? integer(literal->value) : nullptr;
    }
    if (value->type == ScalarType::i32) return value;
    if (const auto* cast = as<Cast>(value)) {
      return value->type && is_wide(*value->type) ? as_int(cast->operand) : nullptr;
    }
    const auto* variable = as<VariableReference>(value);
    const ExprPtr definition = variable != nullptr ? analysis_.definition(variable->name) : nullptr;
    // What it is made of must not have changed since: a parameter or a literal.
    const ExprPtr made = definition ? as_int(definition) : nullptr;
    const auto* parameter = made ? as<VariableReference>(made) : nullptr;
    const bool is_fixed = made && (is<IntegerLiteral>(made) ||
                                   (parameter != nullptr && analysis_.meaning()(parameter->name) &&
                                    analysis_.local(parameter->name) == nullptr));
    return is_fixed ? made : nullptr;
  }

  const Analysis analysis_;
};

}  // namespace

Block with_narrow_counters(const Kernel& kernel) {
  const bool has_wide = any_statement(kernel.body, [&](const Stmt& stmt) {
    const auto* loop = as<ForLoop>(stmt);
    const auto* header = loop != nullptr ? loop->declaration() : nullptr;
    return header != nullptr && header->variable.scalar && is_wide(*header->variable.scalar);
  });
  if (!has_wide) return kernel.body;
  return CounterNarrower(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
