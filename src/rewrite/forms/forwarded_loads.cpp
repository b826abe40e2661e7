#include "rewrite/forms/forwarded_loads.h"

#include "source/build.h"
#include "source/known_functions.h"
#include "source/walk.h"

#include <string>

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::is;

namespace {

int uses_of(const std::string& name, const Block& block) {
  int uses = 0;
  source::walk_expressions(block, [&](const Expr& expr) {
    const auto* variable = as<source::VariableReference>(expr);
    uses += variable != nullptr && variable->name == name ? 1 : 0;
  });
  return uses;
}

bool calls(const ExprPtr& expr) {
  bool result = false;
  source::walk(expr, [&](const Expr& part) {
    result = result || is<source::Call>(part) || is<source::OpaqueExpression>(part);
  });
  return result;
}

// The value as the variable has it.
ExprPtr as_held(const Declaration& declaration) {
  const ExprPtr& value = declaration.value;
  const auto* choice = as<source::Conditional>(value);
  const auto type = choice != nullptr && choice->then->type == choice->otherwise->type
                        ? choice->then->type
                        : value->type;
  if (type == declaration.variable.scalar) return value;
  return source::with_type(source::cast(declaration.variable.type, value),
                           declaration.variable.scalar);
}

// Whether the statement may change memory by a call: a value must not be read behind it instead.
bool may_change(const source::StmtPtr& stmt) {
  bool result = false;
  source::walk_expressions({stmt}, [&](const Expr& part) {
    const auto* call = as<source::Call>(part);
    result = result || is<source::OpaqueExpression>(part) ||
             (call != nullptr && !source::is_pure(*call));
  });
  return result;
}

// Whether the statement does nothing but to change a variable, or an array of the thread's own,
// that the value does not name.
bool leaves_alone(const source::StmtPtr& stmt, const ExprPtr& value,
                  const source::Analysis& analysis) {
  const ExprPtr& target = source::is<source::Assignment>(stmt) ? target_of(*stmt) : nullptr;
  const auto* base = target ? source::base_variable(*target) : nullptr;
  const source::Variable* local = base != nullptr ? analysis.local(base->name) : nullptr;
  return local != nullptr && local->storage == source::Storage::automatic && !local->is_pointer &&
         !source::variables_of(value).contains(base->name);
}

// Where the value may be moved to: the one use of it, after nothing that could change it; else the
// block's end.
std::size_t place_of_use(const Block& block, std::size_t from, const source::Analysis& analysis) {
  const auto& declaration = source::to<Declaration>(block[from]);
  const std::string& name = declaration.variable.name;
  for (std::size_t at = from + 1; at < block.size() && !may_change(block[at]); ++at) {
    const int uses = uses_of(name, {block[at]});
    if (uses > 0) {
      const bool is_simple = is<source::Assignment>(block[at]) || is<Declaration>(block[at]);
      const Block rest(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end());
      return is_simple && uses == 1 && uses_of(name, rest) == 0 ? at : block.size();
    }
    if (!is<Declaration>(block[at]) && !leaves_alone(block[at], declaration.value, analysis)) break;
  }
  return block.size();
}

}  // namespace

Block with_loads_forwarded(const Block& block, const source::Analysis& analysis,
                           const std::function<bool(const ExprPtr&)>& is_wanted) {
  Block result = block;
  for (std::size_t at = 0; at < result.size();) {
    const auto* declaration = as<Declaration>(result[at]);
    const bool is_load = declaration != nullptr && declaration->value &&
                         declaration->variable.scalar && declaration->variable.extents.empty() &&
                         !declaration->variable.is_pointer &&
                         analysis.definition(declaration->variable.name) &&
                         !calls(declaration->value) && is_wanted(declaration->value);
    const std::size_t use = is_load ? place_of_use(result, at, analysis) : result.size();
    if (use == result.size()) {
      ++at;
      continue;
    }
    const Block used = source::rewrite_expressions(
        {result[use]}, source::replace_variable(declaration->variable.name, as_held(*declaration)));
    result[use] = used.front();
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return result;
}

}  // namespace regraph::rewrite
