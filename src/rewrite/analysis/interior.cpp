#include "rewrite/analysis/interior.h"

#include "affine/guard_terms.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// More conditions than this are no test that pays for what it saves.
constexpr std::size_t kMostConditions = 16;

class InteriorFinder {
 public:
  InteriorFinder(const Kernel& kernel, const Analysis& analysis, const Dim3& block)
      : kernel_(kernel), terms_(kernel, analysis, block, true) {}

  Result<Interior> find() {
    walk(kernel_.body, [&](const Stmt& stmt) {
      if (const auto* branch = as<Branch>(stmt)) take(branch->condition);
      walk_own_expressions(stmt, [&](const Expr& node) {
        if (const auto* choice = as<Conditional>(node)) take(choice->condition);
      });
    });
    if (result_.implied.empty()) {
      return refuse(
          "no condition compares places of threads or iterations with the bounds of the "
          "whole");
    }
    if (result_.conditions.size() > kMostConditions) {
      return refuse("a block would have to ask " + std::to_string(result_.conditions.size()) +
                    " conditions to know that it lies inside");
    }
    return std::move(result_);
  }

 private:
  void take(const ExprPtr& condition) {
    for (const ExprPtr& part : conjuncts(condition)) {
      const auto term = terms_.term_of(*part);
      const auto conditions = term ? block_conditions(*term) : std::nullopt;
      if (!conditions) continue;
      for (const ExprPtr& one : *conditions)
        add(one);
      result_.implied.insert(part.get());
    }
  }

  void add(const ExprPtr& condition) {
    const bool is_known =
        std::any_of(result_.conditions.begin(), result_.conditions.end(),
                    [&](const ExprPtr& known) { return equal(known, condition); });
    if (!is_known) result_.conditions.push_back(condition);
  }

  // What the block has to meet for the comparison to hold everywhere; nothing where that cannot be
  // told, or where the comparison is the same for the whole block anyway.
  std::optional<std::vector<ExprPtr>> block_conditions(const GuardTerm& term) const {
    if (!terms_.varies(term.left - term.right)) return std::nullopt;
    const bool is_upper =
        term.order == BinaryOperator::less || term.order == BinaryOperator::less_equal;
    const auto worst = terms_.extreme(term.left - term.right, is_upper);
    if (!worst) return std::nullopt;
    std::vector<ExprPtr> conditions = {terms_.ordered(*worst, term.order, term.is_wide)};
    // Compared without signs: what would be negative is large then.
    if (!term.is_unsigned) return conditions;
    for (const Polynomial& side : {term.left, term.right}) {
      if (is_never_negative(side)) continue;
      const auto lowest = terms_.extreme(side, false);
      if (!lowest) return std::nullopt;
      conditions.push_back(terms_.ordered(*lowest, BinaryOperator::greater_equal, term.is_wide));
    }
    return conditions;
  }

  const Kernel& kernel_;
  GuardTerms terms_;
  Interior result_;
};

}  // namespace

bool has_interior_version(const Block& body) {
  const Stmt* code = nullptr;
  for (const StmtPtr& stmt : body) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration != nullptr && declaration->variable.storage != Storage::automatic) continue;
    if (code != nullptr) return false;
    code = stmt.get();
  }
  return code != nullptr && is<Branch>(*code) && !otherwise_of(*code).empty();
}

Result<Interior> interior_of(const Kernel& kernel, const Analysis& analysis, const Dim3& block) {
  return InteriorFinder(kernel, analysis, block).find();
}

}  // namespace regraph::rewrite
