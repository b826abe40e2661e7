#include "rewrite/analysis/loop_value.h"

#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace regraph::rewrite {

namespace {

using BodyNames = std::map<std::string, std::string>;

class BodyRenamer final : public Mutator {
 public:
  explicit BodyRenamer(const BodyNames& renaming) : renaming_(renaming) {}

 private:
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const VariableReference& variable) override {
    const auto found = renaming_.find(variable.name);
    return found == renaming_.end() ? expr : source::variable(found->second, expr->type);
  }

  StmtPtr mutate(const StmtPtr&, const Declaration& declaration) override {
    auto copy = std::make_shared<Declaration>(declaration);
    const auto found = renaming_.find(declaration.variable.name);
    if (found != renaming_.end()) copy->variable.name = found->second;
    copy->value = run(declaration.value);
    return copy;
  }

  const BodyNames& renaming_;
};

class ValueSlicer {
 public:
  ValueSlicer(const Block& body, std::size_t position, const Analysis& analysis)
      : body_(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(position)),
        analysis_(analysis) {
    for (const StmtPtr& stmt : body_) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr) continue;
      declared_.insert(declaration->variable.name);
      if (stands_for_value(*declaration))
        values_.emplace(declaration->variable.name, declaration->value);
    }
  }

  LoopValue run(const ExprPtr& expr, const std::string& counter) {
    LoopValue result;
    result.value = opened(expr);
    std::set<std::string> wanted;
    want(result.value, wanted);
    Block backwards;
    for (auto at = body_.rbegin(); at != body_.rend(); ++at) {
      const Block alone = {*at};
      if (!share_a_name(given_values_in(alone), wanted)) continue;
      const Block plain = opened(alone);
      walk(plain, [&](const Stmt& stmt) {
        want(target_of(stmt), wanted);
        want(value_of(stmt), wanted);
      });
      backwards.push_back(plain.front());
    }
    result.statements.assign(backwards.rbegin(), backwards.rend());
    result.needs = wanted;
    number(result, counter);
    return result;
  }

 private:
  bool stands_for_value(const Declaration& declaration) const {
    const Variable& variable = declaration.variable;
    return declaration.value && variable.extents.empty() && variable.scalar &&
           declaration.value->type == variable.scalar &&
           analysis_.is_single_definition(variable.name);
  }

  ExprPtr opened(const ExprPtr& expr) const {
    return rewrite_expr(expr, [&](const ExprPtr& node) { return value_for(node); });
  }
  Block opened(const Block& block) const {
    return rewrite_expressions(block, [&](const ExprPtr& node) { return value_for(node); });
  }
  std::optional<ExprPtr> value_for(const ExprPtr& node) const {
    const auto* variable = as<VariableReference>(node);
    const auto found = variable != nullptr ? values_.find(variable->name) : values_.end();
    return found == values_.end() ? std::nullopt : std::optional(opened(found->second));
  }

  void want(const ExprPtr& expr, std::set<std::string>& wanted) const {
    for (const std::string& name : variables_of(expr)) {
      if (declared_.contains(name)) wanted.insert(name);
    }
  }

  static void number(LoopValue& result, const std::string& counter) {
    BodyNames renaming = {{counter, "#counter"}};
    walk(result.statements, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr) return;
      const std::string name = "#" + std::to_string(renaming.size());
      renaming.emplace(declaration->variable.name, name);
    });
    const auto note = [&](const Expr& expr) {
      const auto* variable = as<VariableReference>(expr);
      if (variable != nullptr && !renaming.contains(variable->name))
        result.reads.insert(variable->name);
    };
    walk(result.value, note);
    walk_expressions(result.statements, note);
    BodyRenamer renamer(renaming);
    result.statements = renamer.run(result.statements);
    result.value = renamer.run(result.value);
  }

  Block body_;
  const Analysis& analysis_;
  std::set<std::string> declared_;
  std::map<std::string, ExprPtr> values_;
};

}  // namespace

LoopValue loop_value(const Block& body, std::size_t position, const ExprPtr& expr,
                     const std::string& counter, const Analysis& analysis) {
  return ValueSlicer(body, position, analysis).run(expr, counter);
}

bool equal(const LoopValue& a, const LoopValue& b) {
  return source::equal(a.value, b.value) && source::equal(a.statements, b.statements);
}

bool is_same_value(const ExprPtr& a, const ExprPtr& b, const Analysis& analysis) {
  if (source::equal(a, b)) return true;
  if (const auto left = analysis.polynomial(a)) {
    const auto right = analysis.polynomial(b);
    return right && *left == *right;
  }
  if (!a || !b || a->kind() != b->kind()) return false;
  // Alike but for what stands below.
  std::vector<ExprPtr> left;
  std::vector<ExprPtr> right;
  for_each_operand(*a, [&](const ExprPtr& operand) { left.push_back(operand); });
  for_each_operand(*b, [&](const ExprPtr& operand) { right.push_back(operand); });
  if (left.empty() || left.size() != right.size()) return false;
  std::size_t next = 0;
  const ExprPtr with_left = rewrite_expr(b, [&](const ExprPtr& node) {
    const bool is_operand = next < right.size() && node == right[next];
    return is_operand ? std::optional(left[next++]) : std::nullopt;
  });
  if (!source::equal(a, with_left)) return false;
  return std::equal(
      left.begin(), left.end(), right.begin(),
      [&](const ExprPtr& x, const ExprPtr& y) { return is_same_value(x, y, analysis); });
}

}  // namespace regraph::rewrite
