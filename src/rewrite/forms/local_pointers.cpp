#include "rewrite/forms/local_pointers.h"

#include "source/analysis.h"
#include "source/build.h"
#include "source/walk.h"

#include <map>
#include <optional>
#include <set>

namespace regraph::rewrite {

using source::Analysis;
using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Kernel;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

namespace {

struct Place {
  ExprPtr buffer;  // the parameter
  ExprPtr offset;  // in elements
};

using Places = std::map<std::string, Place>;

// The place an expression names: a parameter, a known local pointer, either with an offset, or the
// address of an element.
std::optional<Place> place_of(const ExprPtr& expr, const Analysis& analysis, const Places& known) {
  if (expr->kind == ExprKind::variable) {
    const auto found = known.find(expr->text);
    if (found != known.end()) return found->second;
    if (analysis.is_global_pointer(expr->text)) return Place{expr, source::integer(0)};
    return std::nullopt;
  }
  if (expr->kind == ExprKind::binary && expr->text == "+") {
    auto place = place_of(expr->operands[0], analysis, known);
    if (place) place->offset = source::binary("+", place->offset, expr->operands[1]);
    return place;
  }
  const bool is_address = expr->kind == ExprKind::unary && expr->text == "&" &&
                          expr->operands[0]->kind == ExprKind::index;
  if (!is_address) return std::nullopt;
  const ExprPtr& element = expr->operands[0];
  auto place = place_of(element->operands[0], analysis, known);
  if (place) place->offset = source::binary("+", place->offset, element->operands[1]);
  return place;
}

// Names in the offset keep their value wherever the pointer is used.
bool is_stable(const ExprPtr& offset, const Kernel& kernel, const Analysis& analysis) {
  if (analysis.reads_memory(offset)) return false;
  for (const std::string& name : source::variables_of(offset)) {
    if (kernel.parameter(name) != nullptr) {
      if (analysis.is_written(name)) return false;
    } else if (!analysis.is_single_definition(name)) {
      return false;
    }
  }
  return true;
}

// Pointers used for anything but access to their elements.
std::set<std::string> escaping(const Kernel& kernel, const Places& places) {
  std::set<std::string> result;
  std::function<void(const ExprPtr&)> visit = [&](const ExprPtr& expr) {
    if (!expr) return;
    if (expr->kind == ExprKind::variable && places.contains(expr->text)) result.insert(expr->text);
    const bool is_access =
        expr->kind == ExprKind::index && expr->operands[0]->kind == ExprKind::variable;
    if (is_access) {
      visit(expr->operands[1]);
      return;
    }
    for (const ExprPtr& operand : expr->operands)
      visit(operand);
  };
  source::walk(kernel.body, [&](const Stmt& stmt) {
    if (stmt.kind == StmtKind::declare && places.contains(stmt.variable.name)) return;
    visit(stmt.target);
    visit(stmt.value);
  });
  return result;
}

}  // namespace

Kernel without_local_pointers(const Kernel& kernel) {
  const Analysis analysis(kernel);
  Places places;
  source::walk(kernel.body, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::declare || !stmt.variable.is_pointer || !stmt.value) return;
    const auto& name = stmt.variable.name;
    if (!analysis.definition(name)) return;
    auto place = place_of(stmt.value, analysis, places);
    // A view of the buffer as another type counts in other elements.
    const source::KernelParameter* parameter =
        place ? kernel.parameter(place->buffer->text) : nullptr;
    if (parameter == nullptr || parameter->scalar != stmt.variable.scalar || !parameter->scalar)
      return;
    if (is_stable(place->offset, kernel, analysis)) places.emplace(name, std::move(*place));
  });
  for (const std::string& name : escaping(kernel, places))
    places.erase(name);
  if (places.empty()) return kernel;

  const source::ExprRewrite direct = [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    if (expr->kind != ExprKind::index || expr->operands[0]->kind != ExprKind::variable)
      return std::nullopt;
    const auto found = places.find(expr->operands[0]->text);
    if (found == places.end()) return std::nullopt;
    const ExprPtr index = source::rewrite_expr(expr->operands[1], direct);
    ExprPtr access =
        source::element(found->second.buffer, {source::binary("+", found->second.offset, index)});
    auto typed = std::make_shared<Expr>(*access);
    typed->type = expr->type;
    return typed;
  };
  Kernel result = kernel;
  result.body =
      source::rewrite_statements(kernel.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
        const bool is_gone =
            stmt->kind == StmtKind::declare && places.contains(stmt->variable.name);
        return is_gone ? std::optional(Block{}) : std::nullopt;
      });
  result.body = source::rewrite_expressions(result.body, direct);
  return result;
}

}  // namespace regraph::rewrite
