#include "infer/strides.h"

#include "infer/size_quotients.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace regraph::infer {

using source::as;
using source::BinaryOperator;
using source::Expr;
using source::ExprPtr;
using source::Polynomial;

namespace {

ExprPtr without_casts(ExprPtr expr) {
  while (expr && source::is<source::Cast>(*expr))
    expr = source::to<source::Cast>(*expr).operand;
  return expr;
}

class StrideReader {
 public:
  StrideReader(const AccessSummary& summary, const std::function<bool(const std::string&)>& is_open)
      : summary_(summary) {
    std::map<std::string, int> mentioned;
    source::walk_expressions(summary.kernel().body, [&](const Expr& expr) {
      if (const auto* variable = as<source::VariableReference>(expr)) ++mentioned[variable->name];
    });
    for (const source::KernelParameter& parameter : summary.kernel().parameters) {
      if (!parameter.is_pointer && mentioned[parameter.name] > 0 && is_open(parameter.name))
        open_.insert(parameter.name);
    }
    // What a condition asks about, or something is divided by, is a size.
    source::walk(summary.kernel().body, [&](const source::Stmt& stmt) {
      if (const auto* branch = as<source::Branch>(stmt)) exclude(branch->condition);
      const auto* loop = as<source::ForLoop>(stmt);
      if (loop == nullptr) return;
      exclude(loop->condition);
      if (loop->init) exclude(value_of(*loop->init));
    });
    source::walk_expressions(summary.kernel().body, [&](const Expr& expr) {
      const auto* quotient = as<source::Binary>(expr);
      if (quotient == nullptr ||
          (quotient->op != BinaryOperator::divide && quotient->op != BinaryOperator::remainder))
        return;
      exclude(quotient->left);
      exclude(quotient->right);
    });
    // Windows of a filter overlap.
    if (!small_sizes(summary.kernel()).empty()) open_.clear();
  }

  std::map<std::string, Polynomial> read() {
    if (open_.empty()) return {};
    summary_.for_each_index([&](const ExprPtr& index, const std::vector<ExprPtr>& guards) {
      read_index(index, guards);
    });
    return std::move(result_);
  }

 private:
  // Names are followed to what they stand for.
  void exclude(const ExprPtr& value, int depth = 0) {
    constexpr int kDeepest = 6;
    if (!value || depth > kDeepest) return;
    source::walk(value, [&](const Expr& expr) {
      const auto* variable = as<source::VariableReference>(expr);
      if (variable == nullptr) return;
      open_.erase(variable->name);
      exclude(summary_.analysis().definition(variable->name), depth + 1);
    });
  }

  // The operands of nested sums or products, through casts and names.
  void flatten(const ExprPtr& expr, BinaryOperator op, std::vector<ExprPtr>& operands) const {
    const ExprPtr inner = without_casts(expr);
    if (const auto* variable = as<source::VariableReference>(inner)) {
      const ExprPtr definition = without_casts(summary_.analysis().definition(variable->name));
      const auto* value = as<source::Binary>(definition);
      if (value != nullptr && value->op == op && mentions_stride(definition))
        return flatten(definition, op, operands);
    }
    const auto* binary = as<source::Binary>(inner);
    if (binary == nullptr || binary->op != op) {
      operands.push_back(inner);
      return;
    }
    flatten(binary->left, op, operands);
    flatten(binary->right, op, operands);
  }

  [[nodiscard]] bool is_of_parameters(const ExprPtr& value) const {
    bool result = true;
    source::walk(value, [&](const Expr& expr) {
      const auto* variable = as<source::VariableReference>(expr);
      result = result && !source::is<source::Builtin>(expr) &&
               (variable == nullptr || summary_.kernel().parameter(variable->name) != nullptr);
    });
    return result;
  }

  [[nodiscard]] bool mentions_stride(const ExprPtr& value) const {
    bool found = false;
    source::walk(value, [&](const Expr& expr) {
      const auto* variable = as<source::VariableReference>(expr);
      found = found || (variable != nullptr && open_.contains(variable->name));
    });
    return found;
  }

  void read_index(const ExprPtr& index, const std::vector<ExprPtr>& guards) {
    std::vector<ExprPtr> terms;
    flatten(index, BinaryOperator::add, terms);
    std::map<std::string, ExprPtr> multiplied;  // stride -> what it multiplies
    Polynomial rest;                            // the largest value of the other terms
    bool has_rest = false;
    for (const ExprPtr& term : terms) {
      std::vector<ExprPtr> factors;
      flatten(term, BinaryOperator::multiply, factors);
      if (read_row_number(factors, guards)) return;
      const auto stride = std::ranges::find_if(factors, [&](const ExprPtr& factor) {
        const auto* variable = as<source::VariableReference>(factor);
        return variable != nullptr && open_.contains(variable->name);
      });
      if (stride != factors.end() && factors.size() == 2) {
        const std::string& name = source::to<source::VariableReference>(**stride).name;
        const ExprPtr& other = factors[stride == factors.begin() ? 1 : 0];
        if (is_of_parameters(other)) return;  // the same in all threads: an offset
        if (!multiplied.emplace(name, other).second) return;
        continue;
      }
      const auto last = summary_.bounds().upper(term, guards);
      if (!last) return;
      rest = rest + *last;
      has_rest = true;
    }
    // x[i * n]: nothing says that n is a stride.
    const bool telling = has_rest ? !rest.constant() : multiplied.size() > 1;
    if (multiplied.empty() || !telling) return;
    // The last parameter is the innermost.
    Polynomial extent = rest + Polynomial(1);
    const auto& parameters = summary_.kernel().parameters;
    for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) {
      const auto found = multiplied.find(parameter->name);
      if (found == multiplied.end()) continue;
      const auto last = summary_.bounds().upper(found->second, guards);
      if (!last) return;
      add(parameter->name, extent);
      extent = extent * (*last + Polynomial(1));
    }
  }

  // (image * stride + row) * width + column: rows are numbered as elements are.
  bool read_row_number(const std::vector<ExprPtr>& factors, const std::vector<ExprPtr>& guards) {
    bool found = false;
    for (const ExprPtr& factor : factors) {
      if (factors.size() == 1) break;
      std::vector<ExprPtr> terms;
      flatten(factor, BinaryOperator::add, terms);
      const bool is_number = terms.size() > 1 && std::ranges::any_of(terms, [&](const auto& term) {
                               return mentions_stride(term);
                             });
      if (!is_number) continue;
      read_index(factor, guards);
      found = true;
    }
    return found;
  }

  void add(const std::string& name, const Polynomial& extent) {
    const std::set<std::string> symbols = extent.symbols();
    const bool circular = std::ranges::any_of(
        symbols, [&](const std::string& symbol) { return open_.contains(symbol); });
    if (!circular) result_.emplace(name, extent);
  }

  const AccessSummary& summary_;
  std::set<std::string> open_;
  std::map<std::string, Polynomial> result_;
};

}  // namespace

std::map<std::string, Polynomial> stride_values(
    const AccessSummary& summary, const std::function<bool(const std::string&)>& is_open) {
  return StrideReader(summary, is_open).read();
}

}  // namespace regraph::infer
