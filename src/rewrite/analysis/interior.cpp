#include "rewrite/analysis/interior.h"

#include "rewrite/analysis/block_geometry.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Binary;
using source::BinaryOperator;
using source::Branch;
using source::Expr;
using source::ExprPtr;
using source::Kernel;
using source::Polynomial;
using source::Stmt;

namespace {

// low <= symbol <= high
struct Ends {
  Polynomial low;
  Polynomial high;
};

bool is_order(BinaryOperator op) {
  return op == BinaryOperator::less || op == BinaryOperator::less_equal ||
         op == BinaryOperator::greater || op == BinaryOperator::greater_equal;
}

bool is_unsigned(const ExprPtr& expr) {
  return !expr->type || *expr->type == ScalarType::u32 || *expr->type == ScalarType::u64;
}

bool is_wide(const ExprPtr& expr) {
  return expr->type && size_in_bytes(*expr->type) == sizeof(std::int64_t);
}

// More conditions than this are no test that pays for what it saves.
constexpr std::size_t kMostConditions = 16;

class InteriorFinder {
 public:
  InteriorFinder(const Kernel& kernel, const Analysis& analysis, const Dim3& block,
                 bool of_threads = false)
      : kernel_(kernel), analysis_(analysis), block_(block) {
    for (int axis = 0; axis < 3 && !of_threads; ++axis) {
      ends_["threadIdx." + std::string(kAxes[static_cast<std::size_t>(axis)])] = {
          Polynomial(0), Polynomial(static_cast<std::int64_t>(extent(block, axis)) - 1)};
    }
    source::walk(kernel.body, [&](const Stmt& stmt) { note_loop(stmt); });
  }

  Result<Interior> find() {
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      if (const auto* branch = as<Branch>(stmt)) take(branch->condition);
      source::walk_own_expressions(stmt, [&](const Expr& node) {
        if (const auto* choice = as<source::Conditional>(node)) take(choice->condition);
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

  // Of a thread.
  Result<Interior> find_of_threads() {
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      if (const auto* branch = as<Branch>(stmt)) note_terms(branch->condition, decides_more(stmt));
      source::walk_own_expressions(stmt, [&](const Expr& node) {
        if (const auto* choice = as<source::Conditional>(node))
          note_terms(choice->condition, false);
      });
    });
    std::map<std::size_t, std::vector<const Term*>> groups;
    for (const Term& term : terms_)
      groups[group_of(term.varying)].push_back(&term);
    for (const auto& [number, terms] : groups)
      settle(terms);
    if (result_.conditions.size() > kMostConditions) {
      return refuse("a thread would have to ask " + std::to_string(result_.conditions.size()) +
                    " conditions to know that it lies inside");
    }
    return std::move(result_);
  }

 private:
  // varying + constant < 0 has to hold for the comparison to hold; without one, it is asked for the
  // sake of another.
  struct Term {
    const Binary* comparison;
    Polynomial varying;
    std::int64_t constant;
    bool wide;
    bool decides_more;  // than a value
  };

  // Whether memory is changed under the condition.
  bool decides_more(const Stmt& branch) const {
    bool found = false;
    for (const source::Block* block : {&body_of(branch), &otherwise_of(branch)}) {
      source::walk(*block, [&](const Stmt& stmt) {
        const source::ExprPtr& target = target_of(stmt);
        const auto* base = target ? source::base_variable(*target) : nullptr;
        const bool is_local = base != nullptr && analysis_.local(base->name) != nullptr &&
                              !analysis_.local(base->name)->is_pointer;
        found = found || (target && !is_local) || source::is<source::Evaluation>(stmt);
      });
    }
    return found;
  }

  void note_terms(const ExprPtr& condition, bool decides_more) {
    for (const ExprPtr& term : source::conjuncts(condition)) {
      const auto* comparison = as<Binary>(term);
      if (comparison == nullptr || !is_order(comparison->op)) continue;
      const bool wide = is_wide(comparison->left) || is_wide(comparison->right);
      if (loses_bits(comparison->left, wide) || loses_bits(comparison->right, wide)) continue;
      auto left = polynomial(comparison->left);
      auto right = polynomial(comparison->right);
      if (!left || !right) continue;
      const bool is_lower = comparison->op == BinaryOperator::greater ||
                            comparison->op == BinaryOperator::greater_equal;
      if (is_lower) std::swap(left, right);
      const bool may_be_equal = comparison->op == BinaryOperator::less_equal ||
                                comparison->op == BinaryOperator::greater_equal;
      const Polynomial difference = *left - *right - Polynomial(may_be_equal ? 1 : 0);
      std::vector<std::pair<const Binary*, Polynomial>> asked = {{comparison, difference}};
      // Compared without signs: what would be negative is large then.
      if (is_unsigned(comparison->left) || is_unsigned(comparison->right)) {
        for (const Polynomial& side : {*left, *right}) {
          if (!is_never_negative(side))
            asked.emplace_back(nullptr, Polynomial() - side - Polynomial(1));
        }
      }
      std::vector<Term> found;
      for (const auto& [of, value] : asked) {
        const auto worst = extreme(value, true);
        if (!worst) break;
        const auto constant = worst->terms().find({});
        const std::int64_t number = constant == worst->terms().end() ? 0 : constant->second;
        found.push_back({of, *worst - Polynomial(number), number, wide, decides_more || !of});
      }
      if (found.size() == asked.size() && depends_on_threads(difference))
        terms_.insert(terms_.end(), found.begin(), found.end());
    }
  }

  bool depends_on_threads(const Polynomial& difference) const {
    const auto symbols = difference.symbols();
    return varies(difference) || std::any_of(symbols.begin(), symbols.end(), [](const auto& name) {
             return name.starts_with("threadIdx.") || name.starts_with("blockIdx.");
           });
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
    if (asked) add(ordered(varying + Polynomial(*asked), BinaryOperator::less, wide));
    for (const Term* term : terms) {
      const bool is_free = holds_at_zero && term->constant < 0;
      if (term->comparison != nullptr && (is_free || (asked && term->constant <= *asked)))
        result_.implied.insert(term->comparison);
    }
  }

  void note_loop(const Stmt& stmt) {
    const auto counted = source::counted_loop_of(stmt);
    if (!counted) return;
    const auto first = analysis_.polynomial(counted->first);
    const auto limit = analysis_.polynomial(counted->limit);
    if (!first || !limit) {
      unknown_.insert(counted->name);
      return;
    }
    const Ends ends{*first, *limit - Polynomial(1)};
    const auto [known, is_new] = ends_.emplace(counted->name, ends);
    // A name that stands for loops over different ranges.
    if (!is_new && (!(known->second.low == ends.low) || !(known->second.high == ends.high)))
      unknown_.insert(counted->name);
  }

  void take(const ExprPtr& condition) {
    for (const ExprPtr& term : source::conjuncts(condition)) {
      const auto* comparison = as<Binary>(term);
      if (comparison == nullptr || !is_order(comparison->op)) continue;
      const bool wide = is_wide(comparison->left) || is_wide(comparison->right);
      if (loses_bits(comparison->left, wide) || loses_bits(comparison->right, wide)) continue;
      if (const auto conditions = block_conditions(*comparison)) {
        for (const ExprPtr& one : *conditions)
          add(one);
        result_.implied.insert(comparison);
      }
    }
  }

  // Whether what is compared may be another number than its polynomial: cut to fewer bits than an
  // index has, or taken for a number without a sign and widened then.
  bool loses_bits(const ExprPtr& expr, bool wide) const {
    if (const auto* variable = as<source::VariableReference>(expr)) {
      const source::Variable* local = analysis_.local(variable->name);
      const ExprPtr value = analysis_.definition(variable->name);
      return (local != nullptr && is_short(local->scalar)) || (value && loses_bits(value, wide));
    }
    const bool is_cast = source::is<source::Cast>(expr);
    if (is_cast && is_short(expr->type)) return true;
    const bool computes = is_cast || source::is<Binary>(expr) || source::is<source::Unary>(expr);
    if (wide && computes && expr->type == ScalarType::u32) {
      const auto value = polynomial(expr);
      if (!value || !is_never_negative(*value)) return true;
    }
    bool loses = false;
    source::for_each_operand(*expr, [&](const ExprPtr& operand) {
      loses = loses || (operand && loses_bits(operand, wide));
    });
    return loses;
  }

  static bool is_short(const std::optional<ScalarType>& scalar) {
    return scalar && size_in_bytes(*scalar) < sizeof(std::int32_t);
  }

  void add(const ExprPtr& condition) {
    const bool is_known =
        std::any_of(result_.conditions.begin(), result_.conditions.end(),
                    [&](const ExprPtr& known) { return source::equal(known, condition); });
    if (!is_known) result_.conditions.push_back(condition);
  }

  // What the block has to meet for the comparison to hold everywhere; nothing where that cannot be
  // told, or where the comparison is the same for the whole block anyway.
  std::optional<std::vector<ExprPtr>> block_conditions(const Binary& comparison) const {
    const auto left = polynomial(comparison.left);
    const auto right = polynomial(comparison.right);
    if (!left || !right || !varies(*left - *right)) return std::nullopt;
    const bool is_upper =
        comparison.op == BinaryOperator::less || comparison.op == BinaryOperator::less_equal;
    const auto worst = extreme(*left - *right, is_upper);
    if (!worst) return std::nullopt;
    const bool wide = is_wide(comparison.left) || is_wide(comparison.right);
    std::vector<ExprPtr> conditions = {ordered(*worst, comparison.op, wide)};
    // Compared without signs: what would be negative is large then.
    if (is_unsigned(comparison.left) || is_unsigned(comparison.right)) {
      for (const Polynomial& side : {*left, *right}) {
        if (is_never_negative(side)) continue;
        const auto lowest = extreme(side, false);
        if (!lowest) return std::nullopt;
        conditions.push_back(ordered(*lowest, BinaryOperator::greater_equal, wide));
      }
    }
    return conditions;
  }

  // difference op 0, with what is subtracted on the right. Signed, whatever the parameters are.
  ExprPtr ordered(const Polynomial& difference, BinaryOperator op, bool wide) const {
    for (const std::string& symbol : difference.symbols()) {
      const source::KernelParameter* parameter = kernel_.parameter(symbol);
      wide = wide || (parameter != nullptr && parameter->scalar == ScalarType::u32);
    }
    Polynomial left;
    Polynomial right;
    for (const auto& [monomial, coefficient] : difference.terms()) {
      Polynomial term(coefficient < 0 ? -coefficient : coefficient);
      for (const std::string& symbol : monomial)
        term = term * Polynomial::symbol(symbol);
      (coefficient < 0 ? right : left) = (coefficient < 0 ? right : left) + term;
    }
    return spelt_out(
        source::binary(op, source::to_expression(left, wide), source::to_expression(right, wide)));
  }

  // With names of sizes written out: the condition for a block stands in front of all names that
  // the kernel gives.
  ExprPtr spelt_out(const ExprPtr& expr) const {
    return source::rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const auto* variable = as<source::VariableReference>(node);
      if (variable == nullptr || !is_own_name(variable->name)) return std::nullopt;
      const ExprPtr value = analysis_.definition(variable->name);
      return value ? std::optional(spelt_out(value)) : std::nullopt;
    });
  }

  bool is_own_name(const std::string& name) const {
    return analysis_.local(name) != nullptr && analysis_.loop(name) == nullptr;
  }

  // Whether the value can be asked for in front of the kernel's code.
  bool is_made_of_parameters(const std::string& name) const {
    const ExprPtr value = analysis_.definition(name);
    const source::Variable* local = analysis_.local(name);
    if (!value || local == nullptr || local->scalar != value->type) return false;
    bool result = true;
    source::walk(value, [&](const Expr& part) {
      const auto* variable = as<source::VariableReference>(part);
      if (variable != nullptr)
        result = result && (kernel_.parameter(variable->name) != nullptr ||
                            (is_own_name(variable->name) && is_made_of_parameters(variable->name)));
      result = result && !source::is<source::Subscript>(part) && !source::is<source::Call>(part) &&
               !source::is<source::Builtin>(part);
    });
    return result;
  }

  std::optional<Polynomial> polynomial(const ExprPtr& expr) const {
    const auto found = analysis_.polynomial(expr);
    if (found && std::ranges::any_of(found->symbols(), [&](const std::string& name) {
          return is_own_name(name) && !is_made_of_parameters(name);
        })) {
      return std::nullopt;
    }
    if (!found) return std::nullopt;
    return with_block_extents(*found, block_);
  }

  bool varies(const Polynomial& difference) const {
    const auto symbols = difference.symbols();
    return std::any_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
      return ends_.contains(symbol) || unknown_.contains(symbol);
    });
  }

  static bool is_never_negative(const Polynomial& side) {
    return std::all_of(side.terms().begin(), side.terms().end(), [](const auto& term) {
      const auto& [monomial, coefficient] = term;
      return coefficient >= 0 &&
             std::all_of(monomial.begin(), monomial.end(), [](const std::string& symbol) {
               return symbol.find('.') != std::string::npos;
             });
    });
  }

  // The largest (or smallest) value over all threads and iterations; nothing where the sign of a
  // coefficient is not known. Ends may mention what other symbols stand for: these come next.
  std::optional<Polynomial> extreme(Polynomial value, bool largest) const {
    constexpr int kMostRounds = 16;
    for (int round = 0; round < kMostRounds; ++round) {
      std::string symbol;
      for (const std::string& name : value.symbols()) {
        if (unknown_.contains(name)) return std::nullopt;
        // Inner loops first: their ends may be made of outer counters.
        if (ends_.contains(name) && (symbol.empty() || is_inside(name, symbol))) symbol = name;
      }
      if (symbol.empty()) return value;
      const auto coefficient = value.coefficient(symbol);
      const auto slope = coefficient ? coefficient->constant() : std::nullopt;
      if (!slope) return std::nullopt;
      const Ends& ends = ends_.at(symbol);
      value = value.substitute(symbol, (*slope > 0) == largest ? ends.high : ends.low);
    }
    return std::nullopt;
  }

  // Whether the ends of `name` mention `other`.
  bool is_inside(const std::string& name, const std::string& other) const {
    const Ends& ends = ends_.at(name);
    return ends.low.mentions(other) || ends.high.mentions(other);
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const Dim3& block_;
  std::map<std::string, Ends> ends_;
  std::set<std::string> unknown_;
  std::vector<Term> terms_;
  std::vector<Polynomial> groups_;  // what varies in terms, each once
  Interior result_;
};

}  // namespace

bool has_interior_version(const source::Block& body) {
  const source::Stmt* code = nullptr;
  for (const source::StmtPtr& stmt : body) {
    const auto* declaration = as<source::Declaration>(stmt);
    if (declaration != nullptr && declaration->variable.storage != source::Storage::automatic)
      continue;
    if (code != nullptr) return false;
    code = stmt.get();
  }
  return code != nullptr && source::is<Branch>(*code) && !otherwise_of(*code).empty();
}

Result<Interior> interior_of(const Kernel& kernel, const Analysis& analysis, const Dim3& block) {
  return InteriorFinder(kernel, analysis, block).find();
}

Result<Interior> interior_of_threads(const Kernel& kernel, const Analysis& analysis,
                                     const Dim3& block) {
  return InteriorFinder(kernel, analysis, block, true).find_of_threads();
}

}  // namespace regraph::rewrite
