#include "rewrite/analysis/common_values.h"

#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::rewrite {

namespace {

class CommonFinder {
 public:
  explicit CommonFinder(const CommonValuesQuestion& question)
      : question_(question),
        values_(question.kernel, question.analysis, question.element, question.width) {
    values_.set_divisible(question.known);
  }

  CommonValues find() {
    for (const StmtPtr& stmt : question_.kernel.body) {
      if (const auto* declaration = as<Declaration>(stmt)) take(*declaration, true);
    }
    for (const StmtPtr& stmt : question_.branch.body) {
      if (const auto* declaration = as<Declaration>(stmt)) {
        take(*declaration, false);
        continue;
      }
      const ExprPtr& target = target_of(*stmt);
      const auto* element = target ? as<Subscript>(target) : nullptr;
      if (element != nullptr) collect(element->index, true);
      collect(value_of(*stmt), true);
      if (const auto* branch = as<Branch>(stmt)) {
        collect(branch->condition, true);
        for (const Block* block : {&branch->body, &branch->otherwise})
          collect_digits(*block);
      }
    }
    result_.divisible = values_.divisible();
    return std::move(result_);
  }

  std::vector<ExprPtr> guards(std::set<std::string>& divisible) {
    std::vector<ExprPtr> result;
    for (const ExprPtr& term : conjuncts(question_.branch.condition)) {
      if (follows_element(term) && values_.is_common(term)) result.push_back(term);
    }
    divisible = values_.divisible();
    return result;
  }

 private:
  // A declaration under the guard is evaluated once an element, one in front of it where it follows
  // the element.
  void take(const Declaration& declaration, bool in_front) {
    const std::string& name = declaration.variable.name;
    if (!declaration.value || name == question_.element) return;
    if (in_front && !follows_element(declaration.value)) return;
    const bool is_value =
        declaration.variable.extents.empty() && question_.analysis.definition(name) != nullptr;
    if (is_value && is_common(declaration.value)) {
      result_.declarations.push_back(&declaration);
    } else {
      collect(declaration.value, true);
    }
  }

  void collect(const ExprPtr& expr, bool is_certain) {
    if (!expr || addressed(*expr)) return;
    if (take_digit(expr, is_certain)) return;
    if (is_certain && expr->type && is_costly(expr) && follows_element(expr) && is_common(expr)) {
      add(expr);
      return;
    }
    if (const auto* choice = as<Conditional>(expr)) {
      collect(choice->condition, is_certain);
      collect(choice->then, false);
      collect(choice->otherwise, false);
      return;
    }
    if (const auto* binary = as<Binary>(expr);
        binary != nullptr &&
        (binary->op == BinaryOperator::logical_and || binary->op == BinaryOperator::logical_or)) {
      collect(binary->left, is_certain);
      collect(binary->right, false);
      return;
    }
    for_each_operand(*expr, [&](const ExprPtr& operand) { collect(operand, is_certain); });
  }

  // What stands under conditions of its own.
  void collect_digits(const Block& block) {
    for (const StmtPtr& stmt : block) {
      const ExprPtr& target = target_of(*stmt);
      const auto* element = target ? as<Subscript>(target) : nullptr;
      if (element != nullptr) collect(element->index, false);
      collect(value_of(*stmt), false);
      const auto* branch = as<Branch>(stmt);
      if (branch != nullptr) collect(branch->condition, false);
      collect_digits(body_of(*stmt));
      collect_digits(otherwise_of(*stmt));
    }
  }

  // Nothing is divided by what may be zero where the kernel does not.
  bool take_digit(const ExprPtr& expr, bool is_certain) {
    const auto* binary = as<Binary>(expr);
    if (binary == nullptr || !expr->type) return false;
    const auto divisor = question_.analysis.polynomial(binary->right);
    if (!is_certain && !(divisor && divisor->constant())) return false;
    const auto digit = values_.digit(expr);
    if (!digit) return false;
    const bool is_known =
        std::any_of(result_.digits.begin(), result_.digits.end(),
                    [&](const ElementDigit& known) { return equal(known.value, expr); });
    if (!is_known) result_.digits.push_back({expr, *digit});
    return true;
  }

  void add(const ExprPtr& expr) {
    const bool is_known = std::any_of(result_.expressions.begin(), result_.expressions.end(),
                                      [&](const ExprPtr& known) { return equal(known, expr); });
    if (!is_known) result_.expressions.push_back(expr);
  }

  bool is_common(const ExprPtr& value) {
    const std::set<std::string> before = values_.divisible();
    if (!values_.is_common(value)) return false;
    if (values_.divisible() == before || question_.analysis.reads_memory(value)) return true;
    values_.set_divisible(before);
    return false;
  }

  static bool is_costly(const ExprPtr& expr) {
    return any_expression(expr, [](const Expr& part) {
      const auto* binary = as<Binary>(part);
      const bool divides = binary != nullptr && (binary->op == BinaryOperator::divide ||
                                                 binary->op == BinaryOperator::remainder);
      return divides || is<Subscript>(part) || is<Call>(part);
    });
  }

  [[nodiscard]] bool follows_element(const ExprPtr& value) const {
    const auto names = variables_of(value);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      if (name == question_.element) return true;
      const ExprPtr definition = question_.analysis.definition(name);
      return definition && follows_element(definition);
    });
  }

  const CommonValuesQuestion& question_;
  NeighbourValues values_;
  CommonValues result_;
};

}  // namespace

CommonValues find_common_values(const CommonValuesQuestion& question) {
  CommonValues result = CommonFinder(question).find();
  if (result.divisible == question.known) return result;
  // What is asked for the sake of one value may do for others.
  const std::set<std::string> known = result.divisible;
  return CommonFinder({question.kernel, question.analysis, question.element, question.branch,
                       question.width, known})
      .find();
}

std::vector<ExprPtr> common_guards(const CommonValuesQuestion& question,
                                   std::set<std::string>& divisible) {
  return CommonFinder(question).guards(divisible);
}

}  // namespace regraph::rewrite
