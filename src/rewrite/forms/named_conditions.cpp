#include "rewrite/forms/named_conditions.h"

#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <map>
#include <optional>
#include <string>

namespace regraph::rewrite {

namespace {

class ConditionReader {
 public:
  explicit ConditionReader(const Kernel& kernel) : analysis_(kernel) {}

  // What the expression says, with names of conditions written out; null where it is none.
  ExprPtr condition(const ExprPtr& expr) {
    if (const auto* variable = as<VariableReference>(expr)) return meaning(variable->name);
    if (const auto* negation = as_unary(expr, UnaryOperator::logical_not)) {
      const ExprPtr inner = condition(negation->operand);
      return inner ? negate(inner) : nullptr;
    }
    const auto* binary = as<Binary>(expr);
    if (binary == nullptr) return nullptr;
    // Wherever the name can be used, it says what it did at the declaration.
    if (is_comparison(binary->op)) return is_fixed(expr, analysis_) ? expr : nullptr;
    if (binary->op != BinaryOperator::logical_and && binary->op != BinaryOperator::logical_or)
      return nullptr;
    const ExprPtr left = condition(binary->left);
    const ExprPtr right = condition(binary->right);
    return left && right ? source::binary(binary->op, left, right) : nullptr;
  }

  // The condition that a local stands for, null for all others.
  ExprPtr meaning(const std::string& name) {
    if (const auto known = meanings_.find(name); known != meanings_.end()) return known->second;
    meanings_[name] = nullptr;  // while it is looked at: one that mentions itself is none
    const Variable* local = analysis_.local(name);
    const ExprPtr definition = analysis_.definition(name);
    if (local == nullptr || local->is_pointer || !local->extents.empty() || !definition)
      return nullptr;
    // As numbers, these are what a comparison is promoted to.
    if (local->scalar != ScalarType::boolean && local->scalar != ScalarType::i32) return nullptr;
    return meanings_[name] = condition(definition);
  }

 private:
  const Analysis analysis_;
  std::map<std::string, ExprPtr> meanings_;
};

}  // namespace

Block with_conditions_written_out(const Kernel& kernel) {
  ConditionReader reader(kernel);
  // Nothing asks for the names then.
  const Block unnamed =
      rewrite_statements(kernel.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
        const auto* declaration = as<Declaration>(stmt);
        const bool is_named =
            declaration != nullptr && reader.meaning(declaration->variable.name) != nullptr;
        return is_named ? std::optional(Block()) : std::nullopt;
      });
  return rewrite_expressions(unnamed, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* variable = as<VariableReference>(expr);
    const ExprPtr condition = variable != nullptr ? reader.meaning(variable->name) : nullptr;
    return condition ? std::optional(condition) : std::nullopt;
  });
}

}  // namespace regraph::rewrite
