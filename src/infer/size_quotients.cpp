#include "infer/size_quotients.h"

#include "source/analysis.h"
#include "source/counted_loop.h"
#include "source/walk.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace regraph::infer {

using source::as;
using source::BinaryOperator;
using source::Expr;
using source::ExprPtr;

namespace {

// The integer parameter that an expression is, through casts and names; empty: none.
std::string parameter_behind(const source::Kernel& kernel, const source::Analysis& analysis,
                             const Expr* expr) {
  constexpr int kMostNames = 4;
  for (int depth = 0; depth < kMostNames && expr != nullptr; ++depth) {
    while (const auto* cast = as<source::Cast>(expr))
      expr = cast->operand.get();
    const auto* variable = as<source::VariableReference>(expr);
    if (variable == nullptr) return "";
    const source::KernelParameter* parameter = kernel.parameter(variable->name);
    if (parameter != nullptr) return parameter->is_pointer ? "" : parameter->name;
    expr = analysis.definition(variable->name).get();
  }
  return "";
}

// Sums of a kernel, as far as they tell which sizes are those of a window that moves over others.
class WindowReader {
 public:
  explicit WindowReader(const source::Kernel& kernel) : kernel_(kernel), analysis_(kernel) {
    source::walk(kernel.body, [&](const source::Stmt& stmt) {
      const auto loop = source::counted_loop_of(stmt);
      if (loop) limits_[loop->name] = parameter_behind(kernel_, analysis_, loop->limit.get());
    });
  }

  std::vector<std::string> run() {
    source::walk_expressions(kernel_.body, [&](const Expr& expr) {
      const auto* binary = as<source::Binary>(expr);
      if (binary == nullptr) return;
      if (binary->op == BinaryOperator::add || binary->op == BinaryOperator::subtract)
        read_sum(*binary);
      if (binary->op == BinaryOperator::divide || binary->op == BinaryOperator::remainder)
        read_quotient(*binary);
    });
    std::set<std::string> result;
    std::ranges::set_difference(subtracted_, larger_, std::inserter(result, result.end()));
    result.insert(of_window_.begin(), of_window_.end());
    return {result.begin(), result.end()};
  }

 private:
  struct Term {
    bool is_negative = false;
    bool varies = false;             // between threads or iterations
    std::string size;                // a parameter alone
    std::set<std::string> factors;   // parameters of a product
    std::set<std::string> counters;  // of loops, alone or as factors
  };

  static ExprPtr without_casts(ExprPtr expr) {
    while (const auto* cast = as<source::Cast>(expr))
      expr = cast->operand;
    return expr;
  }

  [[nodiscard]] bool varies(const ExprPtr& expr, int depth = 0) const {
    bool result = false;
    source::walk(expr, [&](const Expr& one) {
      result = result || source::is<source::Builtin>(one);
      const auto* variable = as<source::VariableReference>(one);
      if (result || variable == nullptr || kernel_.parameter(variable->name) != nullptr) return;
      const auto definition = analysis_.definition(variable->name);
      result = !definition || depth > kMostNames || varies(definition, depth + 1);
    });
    return result;
  }

  void add_factors(const ExprPtr& factor, Term& term) const {
    const ExprPtr expr = without_casts(factor);
    const auto* product = as<source::Binary>(expr);
    if (product != nullptr && product->op == BinaryOperator::multiply) {
      add_factors(product->left, term);
      add_factors(product->right, term);
      return;
    }
    const auto* variable = as<source::VariableReference>(expr);
    if (variable != nullptr && limits_.contains(variable->name))
      term.counters.insert(variable->name);
    if (variable != nullptr || product == nullptr) {
      std::string name = parameter_behind(kernel_, analysis_, expr.get());
      if (!name.empty()) term.factors.insert(std::move(name));
      return;
    }
    // (filter - 1) * dilation
    for (const Term& inner : terms_of(expr)) {
      if (!inner.size.empty()) term.factors.insert(inner.size);
    }
  }

  [[nodiscard]] std::vector<Term> terms_of(const ExprPtr& sum) const {
    std::vector<Term> terms;
    add_terms(sum, false, 0, terms);
    return terms;
  }

  // Names of sums of sizes are followed; others are terms, or an index would be of one window with
  // the place in a row.
  void add_terms(const ExprPtr& part, bool is_negative, int depth, std::vector<Term>& terms) const {
    const ExprPtr expr = without_casts(part);
    ExprPtr meant = expr;
    if (const auto* variable = as<source::VariableReference>(expr);
        variable != nullptr && depth < kMostNames && !limits_.contains(variable->name)) {
      if (const auto definition = analysis_.definition(variable->name);
          definition && !varies(definition))
        meant = without_casts(definition);
    }
    const auto* sum = as<source::Binary>(meant);
    if (sum != nullptr && (sum->op == BinaryOperator::add || sum->op == BinaryOperator::subtract)) {
      const bool flips = sum->op == BinaryOperator::subtract;
      add_terms(sum->left, is_negative, depth + 1, terms);
      add_terms(sum->right, is_negative != flips, depth + 1, terms);
      return;
    }
    Term term;
    term.is_negative = is_negative;
    term.varies = varies(expr);
    const auto* product = as<source::Binary>(expr);
    if (product != nullptr && product->op != BinaryOperator::multiply) {
      terms.push_back(std::move(term));
      return;
    }
    add_factors(expr, term);
    if (product == nullptr && !term.factors.empty()) term.size = *term.factors.begin();
    terms.push_back(std::move(term));
  }

  // height - filter + 1 of sizes; row * stride - padding + k * dilation of what varies.
  void read_sum(const source::Binary& sum) {
    std::vector<Term> terms = terms_of(sum.left);
    for (Term& term : terms_of(sum.right)) {
      term.is_negative = term.is_negative != (sum.op == BinaryOperator::subtract);
      terms.push_back(std::move(term));
    }
    std::set<std::string> scales;  // of what varies and is no counter of a loop
    bool moves = false;
    for (const Term& term : terms) {
      moves = moves || (term.varies && !term.is_negative && term.counters.empty());
      if (term.varies && term.counters.empty())
        scales.insert(term.factors.begin(), term.factors.end());
    }
    const bool is_window =
        moves && std::ranges::any_of(terms, [&](const Term& term) {
          if (!term.is_negative || (term.factors.empty() && term.counters.empty())) return false;
          return std::ranges::none_of(term.factors,
                                      [&](const auto& name) { return scales.contains(name); });
        });
    if (is_window && (!scales.empty() || terms.size() > 2)) {
      read_window(terms, scales);
      return;
    }
    if (std::ranges::any_of(terms, [](const Term& term) { return term.varies; })) return;
    std::set<std::string> small;
    std::set<std::string> terms_above;
    for (const Term& term : terms)
      (term.is_negative ? small : terms_above).insert(term.factors.begin(), term.factors.end());
    for (const std::string& name : small)
      terms_above.erase(name);
    if (small.empty() || terms_above.empty()) return;
    subtracted_.merge(small);
    larger_.merge(terms_above);
  }

  void read_window(const std::vector<Term>& terms, const std::set<std::string>& scales) {
    const auto add = [&](const std::string& name) {
      if (!name.empty() && !scales.contains(name)) of_window_.insert(name);
    };
    for (const Term& term : terms) {
      add(term.size);
      if (term.counters.empty() && !term.is_negative) continue;
      std::ranges::for_each(term.factors, add);
      for (const std::string& counter : term.counters)
        add(limits_.at(counter));
    }
  }

  // (height + 2 * padding - filter) / stride
  void read_quotient(const source::Binary& quotient) {
    const std::string divisor = parameter_behind(kernel_, analysis_, quotient.right.get());
    if (divisor.empty()) return;
    for (const Term& term : terms_of(quotient.left)) {
      const bool takes = term.is_negative && (!term.factors.empty() || !term.counters.empty());
      if (takes && !term.factors.contains(divisor)) of_window_.insert(divisor);
    }
  }

  static constexpr int kMostNames = 4;

  const source::Kernel& kernel_;
  const source::Analysis analysis_;
  std::map<std::string, std::string> limits_;  // counters of loops and the parameters they end at
  std::set<std::string> subtracted_;
  std::set<std::string> larger_;
  std::set<std::string> of_window_;
};

}  // namespace

std::vector<SizeQuotient> size_quotients(const source::Kernel& kernel) {
  const source::Analysis analysis(kernel);
  std::vector<SizeQuotient> result;
  source::walk_expressions(kernel.body, [&](const Expr& expr) {
    const auto* quotient = as<source::Binary>(expr);
    if (quotient == nullptr || quotient->op != BinaryOperator::divide) return;
    std::pair<std::string, std::string> one = {
        parameter_behind(kernel, analysis, quotient->left.get()),
        parameter_behind(kernel, analysis, quotient->right.get())};
    if (one.first.empty() || one.second.empty() || one.first == one.second) return;
    if (std::ranges::find(result, one) == result.end()) result.push_back(std::move(one));
  });
  return result;
}

std::vector<std::string> small_sizes(const source::Kernel& kernel) {
  return WindowReader(kernel).run();
}

}  // namespace regraph::infer
