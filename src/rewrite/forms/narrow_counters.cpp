#include "rewrite/forms/narrow_counters.h"

#include "source/analysis.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <limits>
#include <memory>
#include <string>

namespace regraph::rewrite {

using source::as;
using source::ExprPtr;
using source::ForLoop;
using source::StmtPtr;

namespace {

bool is_wide(ScalarType type) {
  return type == ScalarType::i64 || type == ScalarType::u64;
}

class CounterNarrower final : public source::Mutator {
 public:
  explicit CounterNarrower(const source::Kernel& kernel) : analysis_(kernel) {}

 private:
  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    StmtPtr inner = source::Mutator::mutate(stmt, loop);
    const auto* header = loop.declaration();
    const auto counted = source::counted_loop_of(*inner);
    if (header == nullptr || !counted || !header->variable.scalar ||
        !is_wide(*header->variable.scalar) || counted->stride < 1) {
      return inner;
    }
    const ExprPtr first =
        source::is<source::IntegerLiteral>(counted->first) ? as_int(counted->first) : nullptr;
    const ExprPtr limit = as_int(counted->limit);
    // Rounds beyond the limit must not pass the largest int.
    const bool is_safe = counted->stride == 1 || source::is<source::IntegerLiteral>(limit);
    if (!first || !limit || !is_safe) return inner;
    const auto& repeat = source::to<ForLoop>(inner);
    const std::string old_type = header->variable.type;
    const ScalarType old_scalar = *header->variable.scalar;
    const ExprPtr counter = source::variable(counted->name);
    const ExprPtr seen = source::with_type(source::cast(old_type, counter), old_scalar);
    auto result = std::make_shared<ForLoop>(repeat);
    source::Variable variable = header->variable;
    variable.type = "int";
    variable.scalar = ScalarType::i32;
    result->init = source::declare(variable, first);
    result->condition = source::less(counter, limit);
    result->step =
        source::assign(counter, source::AssignmentOperator::add, source::integer(counted->stride));
    result->body =
        source::rewrite_expressions(repeat.body, source::replace_variable(counted->name, seen));
    return result;
  }

  // The value as an int where it is one, or a literal that fits; null for others.
  ExprPtr as_int(const ExprPtr& value) const {
    if (const auto* literal = as<source::IntegerLiteral>(value)) {
      const bool fits =
          literal->value >= 0 && literal->value <= std::numeric_limits<std::int32_t>::max() / 2;
      return fits ? source::integer(literal->value) : nullptr;
    }
    if (value->type == ScalarType::i32) return value;
    if (const auto* cast = as<source::Cast>(value)) {
      return value->type && is_wide(*value->type) ? as_int(cast->operand) : nullptr;
    }
    const auto* variable = as<source::VariableReference>(value);
    const ExprPtr definition = variable != nullptr ? analysis_.definition(variable->name) : nullptr;
    // What it is made of must not have changed since: a parameter or a literal.
    const ExprPtr made = definition ? as_int(definition) : nullptr;
    const auto* parameter = made ? as<source::VariableReference>(made) : nullptr;
    const bool is_fixed = made && (source::is<source::IntegerLiteral>(made) ||
                                   (parameter != nullptr && analysis_.meaning()(parameter->name) &&
                                    analysis_.local(parameter->name) == nullptr));
    return is_fixed ? made : nullptr;
  }

  const source::Analysis analysis_;
};

}  // namespace

source::Block with_narrow_counters(const source::Kernel& kernel) {
  bool has_wide = false;
  source::walk(kernel.body, [&](const source::Stmt& stmt) {
    const auto* loop = as<ForLoop>(stmt);
    const auto* header = loop != nullptr ? loop->declaration() : nullptr;
    has_wide = has_wide ||
               (header != nullptr && header->variable.scalar && is_wide(*header->variable.scalar));
  });
  if (!has_wide) return kernel.body;
  return CounterNarrower(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
