#include "source/analysis.h"

#include "source/match.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::source {

// Fills an analysis in one pass over the kernel.
class AnalysisScan final : public Visitor {
 public:
  explicit AnalysisScan(Analysis& analysis) : analysis_(analysis) {}

 private:
  static constexpr std::size_t kQuotedCharacters = 60;

  void note_opaque(int line, const std::string& text) {
    if (analysis_.opaque_) return;
    analysis_.opaque_ =
        "line " + std::to_string(line) + ": '" + text.substr(0, kQuotedCharacters) + "'";
  }

  void note_written(const ExprPtr& pointer) {
    for (const std::string& name : variables_of(pointer))
      analysis_.written_.insert(name);
  }

  // Of &a[b[i]] that is a: b says where alone.
  void note_updated(const ExprPtr& pointer) {
    const VariableReference* base = pointer ? place_variable(*pointer) : nullptr;
    if (base != nullptr) {
      analysis_.written_.insert(base->name);
    } else {
      note_written(pointer);
    }
  }

  void visit(const OpaqueStatement& stmt) override { note_opaque(stmt.line, stmt.text); }
  void visit(const OpaqueExpression& expr) override { note_opaque(line_, expr.text); }
  void visit(const Barrier&) override { analysis_.has_barrier_ = true; }
  void visit(const Builtin& expr) override { analysis_.builtins_.insert(expr.name); }

  void visit(const Declaration& stmt) override {
    line_ = stmt.line;
    analysis_.locals_.emplace(stmt.variable.name, stmt.variable);
    analysis_.has_shared_ = analysis_.has_shared_ || stmt.variable.storage != Storage::automatic;
    if (&stmt != counter_) analysis_.definitions_.emplace(stmt.variable.name, stmt.value);
    if (stmt.variable.is_pointer) note_pointer(stmt.variable.name, stmt.value);
    Visitor::visit(stmt);
  }

  void visit(const Assignment& stmt) override {
    line_ = stmt.line;
    if (&stmt != advance_) note_assignment(*stmt.target);
    const auto* changed = as<VariableReference>(stmt.target);
    const Variable* local = changed != nullptr ? analysis_.local(changed->name) : nullptr;
    if (local != nullptr && local->is_pointer) note_pointer(changed->name, stmt.value);
    Visitor::visit(stmt);
  }

  void visit(const Evaluation& stmt) override {
    line_ = stmt.line;
    Visitor::visit(stmt);
  }

  void visit(const Branch& stmt) override {
    line_ = stmt.line;
    Visitor::visit(stmt);
  }

  void visit(const WhileLoop& stmt) override {
    line_ = stmt.line;
    Visitor::visit(stmt);
  }

  void visit(const ForLoop& stmt) override {
    const auto counted = counted_loop_of(stmt);
    if (counted) analysis_.loops_.emplace(counted->name, *counted);
    line_ = stmt.line;
    go(stmt.condition);
    counter_ = counted ? stmt.init.get() : nullptr;
    advance_ = counted ? stmt.step.get() : nullptr;
    go(stmt.init);
    go(stmt.step);
    go(stmt.body);
  }

  void visit(const Unary& expr) override {
    note_passed(expr);
    Visitor::visit(expr);
  }

  void note_passed(const Expr& expr) {
    for_each_passed_place(expr, [&](const Expr& place) {
      const VariableReference* base = place_variable(place);
      const Variable* local = base != nullptr ? analysis_.local(base->name) : nullptr;
      // The address of what a pointer leads to is not the pointer's own.
      const bool is_behind = local != nullptr && local->is_pointer && !is<VariableReference>(place);
      if (base != nullptr && !is_behind) analysis_.address_taken_.insert(base->name);
    });
  }

  // A pointer made of others leads to where they lead.
  void note_pointer(const std::string& pointer, const ExprPtr& value) {
    if (!value) return;
    std::set<std::string>& origins = analysis_.leads_to_[pointer];
    for (const std::string& name : variables_of(value))
      origins.insert(name);
  }

  // A pointer as another: what it leads to is accessed there in other units.
  void visit(const Cast& expr) override {
    if (expr.target.find('*') != std::string::npos) {
      for (const std::string& name : variables_of(expr.operand))
        analysis_.viewed_.insert(name);
    }
    Visitor::visit(expr);
  }

  void visit(const Call& expr) override {
    note_passed(expr);
    if (is_warp_intrinsic(expr.function)) {
      analysis_.uses_warp_intrinsics_ = true;
    } else if (is_atomic(expr.function)) {
      if (!expr.arguments.empty()) note_updated(expr.arguments[0]);
    } else if (!is_pure(expr)) {
      analysis_.unknown_calls_.insert(expr.function);
      if (expr.effect == CallEffect::anything) {
        analysis_.calls_with_threads_.insert(expr.function);
      } else if (!only_uses_memory(expr)) {
        analysis_.boundless_calls_.insert(expr.function);
      }
      // A pointer handed to an unknown function may be written through.
      for (const ExprPtr& argument : expr.arguments)
        note_written(argument);
    }
    Visitor::visit(expr);
  }

  void note_assignment(const Expr& target) {
    if (const auto* base = base_variable(target)) {
      if (is<VariableReference>(target)) analysis_.assigned_.insert(base->name);
      analysis_.written_.insert(base->name);
    } else {
      note_strange_target(target);
    }
  }

  // A target that is neither a variable nor an element: a member, or memory seen as another type.
  void note_strange_target(const Expr& target) {
    if (const VariableReference* variable = place_variable(target)) {
      analysis_.written_.insert(variable->name);
      if (!analysis_.is_global_pointer(variable->name)) analysis_.assigned_.insert(variable->name);
      return;
    }
    // Something stranger: whatever it mentions.
    for_each_operand(target, [&](const ExprPtr& operand) {
      for (const std::string& name : variables_of(operand)) {
        analysis_.assigned_.insert(name);
        analysis_.written_.insert(name);
      }
    });
  }

  Analysis& analysis_;
  int line_ = 0;                   // of the statement
  const Stmt* counter_ = nullptr;  // header of the counted loop
  const Stmt* advance_ = nullptr;
};

Analysis::Analysis(const Kernel& kernel) {
  for (const KernelParameter& parameter : kernel.parameters) {
    parameters_[parameter.name] = &parameter;
  }
  for (const StmtPtr& stmt : kernel.body) {
    if (const auto* named = as<Declaration>(stmt)) own_names_.insert(named->variable.name);
  }
  AnalysisScan(*this).go(kernel.body);
  follow_pointers();
}

void Analysis::follow_pointers() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [pointer, origins] : leads_to_) {
      if (!written_.contains(pointer)) continue;
      for (const std::string& origin : origins) {
        const Variable* variable = local(origin);
        const bool is_place =
            is_global_pointer(origin) ||
            (variable != nullptr && (variable->is_pointer || !variable->extents.empty()));
        if (is_place) changed = written_.insert(origin).second || changed;
      }
    }
  }
}

namespace {

// Definitions within definitions: each takes some of the stack.
constexpr int kMostDefinitions = 1000;

}  // namespace

std::optional<Polynomial> Analysis::symbol(const std::string& name) const {
  if (name.find('.') != std::string::npos) return Polynomial::symbol(name);
  const auto parameter = parameters_.find(name);
  if (parameter != parameters_.end()) {
    const KernelParameter& found = *parameter->second;
    const bool usable = !found.is_pointer && found.scalar && !is_floating(*found.scalar) &&
                        !assigned_.contains(name) && !address_taken_.contains(name);
    return usable ? std::optional(Polynomial::symbol(name)) : std::nullopt;
  }
  if (loops_.contains(name)) {
    return assigned_.contains(name) ? std::nullopt : std::optional(Polynomial::symbol(name));
  }
  const ExprPtr value = definition(name);
  if (!value) return std::nullopt;
  // Each name once: of a chain of definitions that use two earlier ones each there are more ways
  // through than can be gone.
  if (const auto known = known_symbols_.find(name); known != known_symbols_.end())
    return known->second;
  const auto& scalar = locals_.at(name).scalar;
  if ((scalar && is_floating(*scalar)) || depth_ >= kMostDefinitions) return std::nullopt;
  ++depth_;
  auto result = to_polynomial_with_quotients(
      value, [this](const std::string& inner) { return symbol(inner); });
  --depth_;
  known_symbols_.emplace(name, result);
  return result;
}

// Whether a value is made of integer parameters and positive numbers by + * and /: the same for all
// threads and at all times, and not negative where sizes are not.
bool Analysis::is_made_of_sizes(const ExprPtr& value) const {
  bool result = true;
  walk(value, [&](const Expr& part) {
    if (!result) return;
    if (const auto* variable = as<VariableReference>(part)) {
      result = is_made_of_sizes(variable->name);
      return;
    }
    const auto* literal = as<IntegerLiteral>(part);
    const auto* binary = as<Binary>(part);
    const bool keeps_sign = binary != nullptr && (binary->op == BinaryOperator::add ||
                                                  binary->op == BinaryOperator::multiply ||
                                                  binary->op == BinaryOperator::divide);
    const bool is_known =
        keeps_sign || (literal != nullptr && literal->value > 0) || is<Cast>(part);
    result = result && is_known && part.type && !is_floating(*part.type) &&
             size_in_bytes(*part.type) >= size_in_bytes(ScalarType::i32);
  });
  return result;
}

// As symbol(); names that the kernel's own block gives to values of sizes that are no polynomials
// stand for themselves.
bool Analysis::is_made_of_sizes(const std::string& name) const {
  if (parameters_.contains(name) && symbol(name)) return true;
  const ExprPtr value = definition(name);
  if (!value) return false;
  if (const auto known = known_sizes_.find(name); known != known_sizes_.end()) return known->second;
  if (depth_ >= kMostDefinitions) return false;
  ++depth_;
  const bool result = is_made_of_sizes(value);
  --depth_;
  return known_sizes_[name] = result;
}

std::optional<Polynomial> Analysis::symbol_or_size(const std::string& name) const {
  if (auto known = without_quotients(symbol(name))) return known;
  const ExprPtr value = definition(name);
  const bool is_size = value && own_names_.contains(name) && is_made_of_sizes(value);
  return is_size ? std::optional(Polynomial::symbol(name)) : std::nullopt;
}

SymbolMeaning Analysis::meaning() const {
  return [this](const std::string& name) { return symbol_or_size(name); };
}

std::optional<Polynomial> Analysis::polynomial(const ExprPtr& expr) const {
  auto known = to_polynomial(expr, [this](const std::string& name) { return symbol(name); });
  if (known) return known;
  return to_polynomial(expr, [this](const std::string& name) { return symbol_or_size(name); });
}

std::optional<Polynomial> Analysis::polynomial_with_sizes(const ExprPtr& expr) const {
  auto known =
      to_polynomial_with_quotients(expr, [this](const std::string& name) { return symbol(name); });
  if (!known) return known;
  for (const std::string& part : known->symbols()) {
    if (!is_quotient(part)) continue;
    const std::set<std::string> names = names_in_quotient(part);
    const bool is_size = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return parameters_.contains(name);
    });
    if (!is_size) return std::nullopt;
  }
  return known;
}

bool Analysis::is_single_definition(const std::string& name) const {
  return locals_.contains(name) && !assigned_.contains(name) && !address_taken_.contains(name) &&
         (loops_.contains(name) || definition(name) != nullptr);
}

ExprPtr Analysis::definition(const std::string& name) const {
  const auto found = definitions_.find(name);
  if (found == definitions_.end() || assigned_.contains(name) || address_taken_.contains(name)) {
    return nullptr;
  }
  const Variable& declared = locals_.at(name);
  if (!declared.extents.empty() || declared.storage != Storage::automatic) return nullptr;
  return found->second;
}

const CountedLoop* Analysis::loop(const std::string& name) const {
  const auto found = loops_.find(name);
  return found == loops_.end() ? nullptr : &found->second;
}

const Variable* Analysis::local(const std::string& name) const {
  const auto found = locals_.find(name);
  return found == locals_.end() ? nullptr : &found->second;
}

bool Analysis::is_written(const std::string& parameter) const {
  return written_.contains(parameter);
}

bool Analysis::is_viewed(const std::string& array) const {
  return viewed_.contains(array);
}

bool Analysis::is_shared(const std::string& name) const {
  const Variable* variable = local(name);
  return variable != nullptr && variable->storage != Storage::automatic;
}

bool Analysis::is_global_pointer(const std::string& name) const {
  const auto parameter = parameters_.find(name);
  return parameter != parameters_.end() && parameter->second->is_pointer;
}

bool Analysis::reads_memory(const ExprPtr& expr) const {
  bool reads = false;
  walk(expr, [&](const Expr& node) {
    const auto* call = as<Call>(node);
    if (is<OpaqueExpression>(node) || (call != nullptr && call_reads(*call))) reads = true;
    // Arrays in registers are no memory; everything else is.
    if (is<Subscript>(node) && !is_local_array(node, false)) reads = true;
  });
  return reads;
}

bool Analysis::reads_global(const ExprPtr& expr) const {
  bool reads = false;
  walk(expr, [&](const Expr& node) {
    const auto* call = as<Call>(node);
    const bool calls = call != nullptr && call_reads(*call) && !is_warp_intrinsic(call->function);
    if (is<OpaqueExpression>(node) || calls) reads = true;
    if (is<Subscript>(node) && !is_local_array(node, true)) reads = true;
  });
  return reads;
}

bool Analysis::is_local_array(const Expr& element, bool or_shared) const {
  const auto* base = base_variable(element);
  const Variable* variable = base != nullptr ? local(base->name) : nullptr;
  return variable != nullptr && !variable->is_pointer &&
         (or_shared || variable->storage == Storage::automatic);
}

void for_each_polynomial(const Kernel& kernel, const Analysis& analysis,
                         const std::function<void(const Polynomial&)>& visit) {
  std::function<void(const ExprPtr&)> descend = [&](const ExprPtr& expr) {
    if (!expr) return;
    if (const auto polynomial = analysis.polynomial(expr)) {
      visit(*polynomial);
      return;
    }
    for_each_operand(*expr, descend);
  };
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    const bool is_inlined = declaration != nullptr &&
                            analysis.definition(declaration->variable.name) != nullptr &&
                            analysis.polynomial(declaration->value).has_value();
    if (is_inlined) return;
    descend(target_of(stmt));
    descend(value_of(stmt));
  });
}

}  // namespace regraph::source
