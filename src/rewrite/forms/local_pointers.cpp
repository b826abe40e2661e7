#include "rewrite/forms/local_pointers.h"

#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::rewrite {

namespace {

struct Place {
  ExprPtr buffer;  // the parameter
  ExprPtr offset;  // in elements
};

using Places = std::map<std::string, Place>;

// The place an expression names: a parameter, a known local pointer, either with an offset, or the
// address of an element.
std::optional<Place> place_of(const ExprPtr& expr, const Analysis& analysis, const Places& known) {
  if (const auto* variable = as<VariableReference>(expr)) {
    const auto found = known.find(variable->name);
    if (found != known.end()) return found->second;
    if (analysis.is_global_pointer(variable->name)) return Place{expr, integer(0)};
    return std::nullopt;
  }
  ExprPtr base;
  ExprPtr offset;
  const auto base_pattern = any(base);
  const auto offset_pattern = any(offset);
  const bool is_place = matches(expr, sum(base_pattern, offset_pattern)) ||
                        matches(expr, address_of(subscript(base_pattern, offset_pattern)));
  if (!is_place) return std::nullopt;
  auto place = place_of(base, analysis, known);
  if (place) place->offset = add(place->offset, offset);
  return place;
}

// Pointers used for anything but access to their elements.
class EscapeFinder final : public Visitor {
 public:
  explicit EscapeFinder(const Places& places) : places_(places) {}
  std::set<std::string> escaping;

 private:
  void visit(const Declaration& stmt) override {
    if (!places_.contains(stmt.variable.name)) Visitor::visit(stmt);
  }
  void visit(const VariableReference& expr) override {
    if (places_.contains(expr.name)) escaping.insert(expr.name);
  }
  void visit(const Subscript& expr) override {
    if (!is<VariableReference>(expr.base)) go(expr.base);
    go(expr.index);
  }

  const Places& places_;
};

std::string without_const(const std::string& type) {
  constexpr std::string_view kConst = "const ";
  return type.starts_with(kConst) ? type.substr(kConst.size()) : type;
}

// The places of pointers that are defined once.
Places find_places(const Kernel& kernel) {
  const Analysis analysis(kernel);
  const std::set<std::string> moving = reassigned_names(kernel.body);
  Places places;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr || !declaration->variable.is_pointer || !declaration->value) return;
    const Variable& variable = declaration->variable;
    if (!analysis.definition(variable.name)) return;
    auto place = place_of(declaration->value, analysis, places);
    if (!place || moving.contains(to<VariableReference>(place->buffer).name)) return;
    // A view of the buffer as another type counts in other elements.
    const KernelParameter* parameter = kernel.parameter(to<VariableReference>(place->buffer).name);
    if (parameter == nullptr || parameter->scalar != variable.scalar) return;
    if (!parameter->scalar && parameter->type != without_const(variable.type)) return;
    // Where the pointer is used, the offset is still what it was.
    if (is_fixed(place->offset, analysis)) places.emplace(variable.name, std::move(*place));
  });
  return places;
}

// Accesses through the buffers themselves.
class Redirector final : public Mutator {
 public:
  explicit Redirector(const Places& places) : places_(places) {}

 private:
  using Mutator::mutate;

  void append(const StmtPtr& stmt, Block& out) override {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr || !places_.contains(declaration->variable.name))
      out.push_back(run(stmt));
  }

  ExprPtr mutate(const ExprPtr& expr, const Subscript& access) override {
    const auto* pointer = as<VariableReference>(access.base);
    const auto found = pointer != nullptr ? places_.find(pointer->name) : places_.end();
    if (found == places_.end()) return Mutator::mutate(expr, access);
    const auto& [buffer, offset] = found->second;
    return with_type(element(buffer, {add(offset, run(access.index))}), expr->type);
  }

  const Places& places_;
};

Kernel without_pointers_to(const Kernel& kernel, Places places) {
  // One that stays may be made of others.
  for (bool changed = true; changed && !places.empty();) {
    EscapeFinder finder(places);
    finder.go(kernel.body);
    for (const std::string& name : finder.escaping)
      places.erase(name);
    changed = !finder.escaping.empty();
  }
  if (places.empty()) return kernel;
  Kernel result = kernel;
  result.body = Redirector(places).run(kernel.body);
  return result;
}

}  // namespace

Kernel without_local_pointers(const Kernel& kernel) {
  return without_pointers_to(kernel, find_places(kernel));
}

Kernel without_buffer_names(const Kernel& kernel) {
  Places places = find_places(kernel);
  std::erase_if(places, [](const auto& entry) { return !is_number(entry.second.offset, 0); });
  return without_pointers_to(kernel, std::move(places));
}

}  // namespace regraph::rewrite
