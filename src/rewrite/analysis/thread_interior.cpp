#include "affine/guard_terms.h"
#include "rewrite/analysis/interior.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// More conditions than this are no test that pays for what it saves.
constexpr std::size_t kMostOfThread = 16;

class ThreadInteriorFinder {
 public:
  ThreadInteriorFinder(const Kernel& kernel, const Analysis& analysis, const Dim3& block)
      : kernel_(kernel), analysis_(analysis), reader_(kernel, analysis, block, false) {}

  Result<Interior> find() {
    walk(kernel_.body, [&](const Stmt& stmt) {
      if (const auto* branch = as<Branch>(stmt)) note_terms(branch->condition, decides_more(stmt));
      walk_own_expressions(stmt, [&](const Expr& node) {
        if (const auto* choice = as<Conditional>(node)) note_terms(choice->condition, false);
      });
    });
    std::map<std::size_t, std::vector<const Term*>> groups;
    for (const Term& term : terms_)
      groups[group_of(term.varying)].push_back(&term);
    for (const auto& [number, terms] : groups)
      settle(terms);
    if (result_.conditions.size() > kMostOfThread) {
      return refuse("a thread would have to ask " + std::to_string(result_.conditions.size()) +
                    " conditions to know that it lies inside");
    }
    return std::move(result_);
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
    bool found = false;
    for (const Block* block : {&body_of(branch), &otherwise_of(branch)}) {
      walk(*block, [&](const Stmt& stmt) {
        const ExprPtr& target = target_of(stmt);
        const auto* base = target ? base_variable(*target) : nullptr;
        const bool is_local = base != nullptr && analysis_.local(base->name) != nullptr &&
                              !analysis_.local(base->name)->is_pointer;
        found = found || (target && !is_local) || is<source::Evaluation>(stmt);
      });
    }
    return found;
  }

  void note_terms(const ExprPtr& condition, bool decides_more) {
    for (const ExprPtr& part : conjuncts(condition)) {
      auto term = reader_.term_of(*part);
      if (!term || !reader_.depends_on_threads(term->left - term->right)) continue;
      const bool is_lower =
          term->order == BinaryOperator::greater || term->order == BinaryOperator::greater_equal;
      if (is_lower) std::swap(term->left, term->right);
      const bool may_be_equal =
          term->order == BinaryOperator::less_equal || term->order == BinaryOperator::greater_equal;
      const Polynomial difference = term->left - term->right - Polynomial(may_be_equal ? 1 : 0);
      std::vector<std::pair<const Expr*, Polynomial>> asked = {{part.get(), difference}};
      // Compared without signs: what would be negative is large then.
      if (term->is_unsigned) {
        for (const Polynomial& side : {term->left, term->right}) {
          if (!is_never_negative(side))
            asked.emplace_back(nullptr, Polynomial() - side - Polynomial(1));
        }
      }
      std::vector<Term> found;
      for (const auto& [of, value] : asked) {
        const auto worst = reader_.extreme(value, true);
        if (!worst) break;
        const auto constant = worst->terms().find({});
        const std::int64_t number = constant == worst->terms().end() ? 0 : constant->second;
        found.push_back({of, *worst - Polynomial(number), number, term->is_wide,
                         decides_more || of == nullptr});
      }
      if (found.size() == asked.size()) terms_.insert(terms_.end(), found.begin(), found.end());
    }
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

Result<Interior> interior_of_threads(const Kernel& kernel, const Analysis& analysis,
                                     const Dim3& block) {
  return ThreadInteriorFinder(kernel, analysis, block).find();
}

}  // namespace regraph::rewrite
