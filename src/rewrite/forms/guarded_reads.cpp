#include "rewrite/forms/guarded_reads.h"

#include "source/walk.h"

#include <memory>

namespace regraph::rewrite {

using source::as;
using source::Binary;
using source::Builtin;
using source::Call;
using source::Expr;
using source::ExprPtr;
using source::is;
using source::OpaqueExpression;
using source::Subscript;
using source::VariableReference;

GuardedReads::GuardedReads(const source::Kernel& kernel, const source::Analysis& analysis)
    : analysis_(analysis) {
  for (const source::KernelParameter& parameter : kernel.parameters)
    parameters_.insert(parameter.name);
}

bool GuardedReads::are_safe_without(const std::vector<ExprPtr>& guards,
                                    const ExprPtr& value) const {
  if (!analysis_.reads_memory(value)) return true;
  std::set<std::string> asked;
  return find_asked(guards, asked) && reads_nothing_asked(value, asked);
}

bool GuardedReads::find_asked(const std::vector<ExprPtr>& guards,
                              std::set<std::string>& asked) const {
  for (const ExprPtr& guard : guards) {
    const auto* comparison = as<Binary>(guard);
    if (comparison == nullptr) return false;
    bool asks_thread = false;
    for (const ExprPtr& side : {comparison->left, comparison->right}) {
      const auto polynomial = analysis_.polynomial(side);
      if (!polynomial) return false;
      for (const std::string& symbol : polynomial->symbols()) {
        asks_thread = asks_thread || symbol.find('.') != std::string::npos;
        if (parameters_.count(symbol) == 0) asked.insert(symbol);
      }
    }
    if (!asks_thread) return false;
  }
  return true;
}

bool GuardedReads::reads_nothing_asked(const ExprPtr& expr,
                                       const std::set<std::string>& asked) const {
  if (is<OpaqueExpression>(expr)) return false;
  if (const auto* call = as<Call>(expr)) {
    auto function = std::make_shared<Call>(*call);
    function->arguments.clear();
    if (analysis_.reads_memory(function)) return false;
  }
  if (const auto* access = as<Subscript>(expr)) {
    const auto* base = as<VariableReference>(access->base);
    const auto index = analysis_.polynomial(access->index);
    if (base == nullptr || !analysis_.is_global_pointer(base->name) || !index) return false;
    for (const std::string& symbol : index->symbols()) {
      if (asked.contains(symbol) || counts_by(symbol, asked)) return false;
    }
    return true;
  }
  bool safe = true;
  source::for_each_operand(
      *expr, [&](const ExprPtr& operand) { safe = safe && reads_nothing_asked(operand, asked); });
  return safe;
}

bool GuardedReads::counts_by(const std::string& symbol, const std::set<std::string>& asked) const {
  const source::CountedLoop* loop = analysis_.loop(symbol);
  return loop != nullptr && (follows(loop->first, asked) || follows(loop->limit, asked));
}

bool GuardedReads::follows(const ExprPtr& value, const std::set<std::string>& asked) const {
  bool found = false;
  source::walk(value, [&](const Expr& node) {
    if (const auto* builtin = as<Builtin>(node)) found = found || asked.contains(builtin->name);
    const auto* variable = as<VariableReference>(node);
    if (found || variable == nullptr) return;
    const std::string& name = variable->name;
    if (asked.contains(name)) {
      found = true;
    } else if (analysis_.loop(name) != nullptr) {
      found = counts_by(name, asked);
    } else if (const ExprPtr definition = analysis_.definition(name)) {
      found = follows(definition, asked);
    } else {
      found = parameters_.count(name) == 0;
    }
  });
  return found;
}

}  // namespace regraph::rewrite
