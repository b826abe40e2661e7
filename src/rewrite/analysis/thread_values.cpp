#include "rewrite/analysis/thread_values.h"

#include "rewrite/forms/exact_values.h"
#include "source/match.h"
#include "source/walk.h"

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::Expr;
using source::ExprPtr;
using source::is;
using source::Stmt;
using source::StmtPtr;

ThreadValues::ThreadValues(const source::Kernel& kernel, const source::Analysis& analysis)
    : kernel_(kernel), analysis_(analysis) {
  while (find(kernel.body, false)) {
  }
}

bool ThreadValues::note(const std::string& name) {
  return differing_.insert(name).second;
}

bool ThreadValues::find(const Block& block, bool is_apart) {
  bool found = false;
  for (const StmtPtr& stmt : block) {
    const auto* declaration = as<source::Declaration>(stmt);
    if (declaration != nullptr && declaration->variable.storage == source::Storage::automatic &&
        declaration->value && (is_apart || differs(declaration->value))) {
      found = note(declaration->variable.name) || found;
    }
    if (const auto* assignment = as<source::Assignment>(stmt)) {
      const auto* place = source::place_variable(*assignment->target);
      const bool is_local = place != nullptr && analysis_.local(place->name) != nullptr &&
                            !analysis_.is_shared(place->name);
      if (is_local && (is_apart || differs(assignment->value) || differs(assignment->target)))
        found = note(place->name) || found;
    }
    const bool is_inner_apart = is_apart || header_differs(*stmt);
    source::for_each_header(
        *stmt, [&](const StmtPtr& header) { found = find({header}, is_inner_apart) || found; });
    found = find(body_of(*stmt), is_inner_apart) || found;
    found = find(otherwise_of(*stmt), is_inner_apart) || found;
  }
  return found;
}

bool ThreadValues::differs(const ExprPtr& expr) const {
  bool result = false;
  source::walk(expr, [&](const Expr& node) {
    const auto* variable = as<source::VariableReference>(node);
    const auto* builtin = as<source::Builtin>(node);
    result = result || (builtin != nullptr && builtin->name.starts_with("threadIdx.")) ||
             (variable != nullptr && differs(variable->name));
  });
  return result;
}

bool ThreadValues::header_differs(const Stmt& stmt) const {
  const auto* branch = as<source::Branch>(stmt);
  if (branch != nullptr) return differs(branch->condition);
  const auto* loop = as<source::ForLoop>(stmt);
  if (loop == nullptr) {
    const auto* repeat = as<source::WhileLoop>(stmt);
    return repeat != nullptr && differs(repeat->condition);
  }
  bool result = loop->condition && differs(loop->condition);
  source::for_each_header(stmt, [&](const StmtPtr& header) {
    result = result || (value_of(*header) && differs(value_of(*header))) ||
             (target_of(*header) && differs(target_of(*header)));
  });
  return result;
}

bool ThreadValues::is_steady(const ExprPtr& expr) const {
  bool result = true;
  source::walk(expr, [&](const Expr& node) {
    result = result && !is<source::OpaqueExpression>(node);
    const auto* variable = as<source::VariableReference>(node);
    if (variable == nullptr) return;
    const source::KernelParameter* parameter = kernel_.parameter(variable->name);
    const bool is_buffer = parameter != nullptr && parameter->is_pointer;
    result = result && (is_buffer || rewrite::is_steady(variable->name, kernel_, analysis_));
  });
  return result;
}

bool ThreadValues::reads_only_inputs(const ExprPtr& expr) const {
  bool result = true;
  source::walk(expr, [&](const Expr& node) {
    const auto* call = as<source::Call>(node);
    result = result && (call == nullptr || source::is_pure(*call)) && !is<source::Member>(node);
    const auto* access = as<source::Subscript>(node);
    if (access == nullptr) return;
    const auto* base = as<source::VariableReference>(access->base);
    result = result && base != nullptr && kernel_.parameter(base->name) != nullptr &&
             analysis_.is_global_pointer(base->name) && !analysis_.is_written(base->name);
  });
  return result;
}

ExprPtr ThreadValues::definition(const std::string& name) const {
  ExprPtr result;
  source::walk(kernel_.body, [&](const Stmt& stmt) {
    const auto* declaration = as<source::Declaration>(stmt);
    if (declaration != nullptr && declaration->variable.name == name) result = declaration->value;
  });
  return result;
}

}  // namespace regraph::rewrite
