#include "rewrite/analysis/interior.h"

#include "affine/guard_terms.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// More conditions than this are no test that pays for what it saves.
constexpr std::size_t kMostConditions = 16;

// Calls `visit` with every comparison that branches and ?: of the kernel ask, and the branch or
// null.
template <typename Visit>
void for_each_comparison(const Kernel& kernel, const Visit& visit) {
  const auto take = [&](const ExprPtr& condition, const Stmt* branch) {
    for (const ExprPtr& part : conjuncts(condition))
      visit(part, branch);
  };
  walk(kernel.body, [&](const Stmt& stmt) {
    if (const auto* branch = as<Branch>(stmt)) take(branch->condition, branch);
    walk_own_expressions(stmt, [&](const Expr& node) {
      if (const auto* choice = as<Conditional>(node)) take(choice->condition, nullptr);
    });
  });
}

Result<Interior> of_few_conditions(Interior interior, const std::string& who) {
  if (interior.conditions.size() <= kMostConditions) return interior;
  return refuse(who + " would have to ask " + std::to_string(interior.conditions.size()) +
                " conditions to know that it lies inside");
}

// The sides that may be negative of a comparison without signs: these would be large then.
std::vector<Polynomial> sides_with_signs(const GuardTerm& term) {
  std::vector<Polynomial> sides;
  for (const Polynomial& side : {term.left, term.right}) {
    if (term.is_unsigned && !is_never_negative(side)) sides.push_back(side);
  }
  return sides;
}

class InteriorFinder {
 public:
  InteriorFinder(const Kernel& kernel, const Analysis& analysis, const Dim3& block)
      : kernel_(kernel), terms_(kernel, analysis, block, true) {}

  Result<Interior> find() {
    for_each_comparison(kernel_, [&](const ExprPtr& part, const Stmt*) { take(part); });
    if (result_.implied.empty()) {
      return refuse(
          "no condition compares places of threads or iterations with the bounds of the "
          "whole");
    }
    return of_few_conditions(std::move(result_), "a block");
  }

 private:
  void take(const ExprPtr& part) {
    const auto term = terms_.term_of(*part);
    const auto conditions = term ? block_conditions(*term) : std::nullopt;
    if (!conditions) return;
    for (const ExprPtr& one : *conditions)
      add(one);
    result_.implied.insert(part.get());
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
    for (const Polynomial& side : sides_with_signs(term)) {
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

class ThreadInteriorFinder {
 public:
  ThreadInteriorFinder(const Kernel& kernel, const Analysis& analysis, const Dim3& block)
      : kernel_(kernel), analysis_(analysis), reader_(kernel, analysis, block, false) {}

  Result<Interior> find() {
    for_each_comparison(kernel_, [&](const ExprPtr& part, const Stmt* branch) {
      note_term(part, branch != nullptr && decides_more(*branch));
    });
    std::map<std::size_t, std::vector<const Term*>> groups;
    for (const Term& term : terms_)
      groups[group_of(term.varying)].push_back(&term);
    for (const auto& [number, terms] : groups)
      settle(terms);
    return of_few_conditions(std::move(result_), "a thread");
  }

 private:
  // varying + constant < 0 has to hold for the comparison to hold; without one, it is asked for the
  // sake of another.
  struct Term {
    const Expr* comparison;
    Polynomial varying;
    std::int64_t constant;
    bool wide;
    bool decides_more;  // than a value
  };

  // Whether memory is changed under the condition.
  bool decides_more(const Stmt& branch) const {
    const auto changes_memory = [&](const Stmt& stmt) {
      const ExprPtr& target = target_of(stmt);
      const auto* base = target ? base_variable(*target) : nullptr;
      const bool is_local = base != nullptr && analysis_.local(base->name) != nullptr &&
                            !analysis_.local(base->name)->is_pointer;
      return (target && !is_local) || is<source::Evaluation>(stmt);
    };
    return any_statement(body_of(branch), changes_memory) ||
           any_statement(otherwise_of(branch), changes_memory);
  }

  void note_term(const ExprPtr& part, bool decides_more) {
    auto term = reader_.term_of(*part);
    if (!term || !reader_.depends_on_threads(term->left - term->right)) return;
    const bool is_lower =
        term->order == BinaryOperator::greater || term->order == BinaryOperator::greater_equal;
    if (is_lower) std::swap(term->left, term->right);
    const bool may_be_equal =
        term->order == BinaryOperator::less_equal || term->order == BinaryOperator::greater_equal;
    const Polynomial difference = term->left - term->right - Polynomial(may_be_equal ? 1 : 0);
    std::vector<std::pair<const Expr*, Polynomial>> asked = {{part.get(), difference}};
    for (const Polynomial& side : sides_with_signs(*term))
      asked.emplace_back(nullptr, Polynomial() - side - Polynomial(1));
    std::vector<Term> found;
    for (const auto& [of, value] : asked) {
      const auto worst = reader_.extreme(value, true);
      if (!worst) return;
      const auto constant = worst->terms().find({});
      const std::int64_t number = constant == worst->terms().end() ? 0 : constant->second;
      found.push_back(
          {of, *worst - Polynomial(number), number, term->is_wide, decides_more || of == nullptr});
    }
    terms_.insert(terms_.end(), found.begin(), found.end());
  }

  std::size_t group_of(const Polynomial& varying) {
    const auto found = std::find(groups_.begin(), groups_.end(), varying);
    if (found != groups_.end()) return static_cast<std::size_t>(found - groups_.begin());
    groups_.push_back(varying);
    return groups_.size() - 1;
  }

  // Asks for the comparison of a group that is the hardest to meet, of those that are asked.
  void settle(const std::vector<const Term*>& terms) {
    const Polynomial& varying = terms.front()->varying;
    const auto along_x = varying.coefficient("threadIdx.x");
    const std::int64_t pitch = along_x ? along_x->constant().value_or(0) : 0;
    const bool holds_at_zero = is_never_negative(Polynomial() - varying);
    std::int64_t lowest = terms.front()->constant;
    for (const Term* term : terms)
      lowest = std::min(lowest, term->constant);
    std::optional<std::int64_t> asked;
    bool wide = false;
    for (const Term* term : terms) {
      wide = wide || term->wide;
      const bool is_free = holds_at_zero && term->constant < 0;
      const bool is_first = pitch < 0 && holds_at_zero && term->constant < -pitch;
      const bool is_last = pitch > 0 && term->constant >= std::max<std::int64_t>(lowest, 0) + pitch;
      const bool stays = !term->decides_more && (is_first || is_last);
      if (!is_free && !stays) asked = std::max(asked.value_or(term->constant), term->constant);
    }
    if (asked)
      result_.conditions.push_back(
          reader_.ordered(varying + Polynomial(*asked), BinaryOperator::less, wide));
    for (const Term* term : terms) {
      const bool is_free = holds_at_zero && term->constant < 0;
      if (term->comparison != nullptr && (is_free || (asked && term->constant <= *asked)))
        result_.implied.insert(term->comparison);
    }
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  GuardTerms reader_;
  std::vector<Term> terms_;
  std::vector<Polynomial> groups_;  // what varies in terms, each once
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

Result<Interior> interior_of_threads(const Kernel& kernel, const Analysis& analysis,
                                     const Dim3& block) {
  return ThreadInteriorFinder(kernel, analysis, block).find();
}

}  // namespace regraph::rewrite
