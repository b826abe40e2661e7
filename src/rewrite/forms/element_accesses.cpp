#include "rewrite/forms/element_accesses.h"

#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace regraph::rewrite {

namespace {

class HazardFinder final : public Visitor {
 public:
  explicit HazardFinder(const Analysis& analysis) : analysis_(analysis) {}

  bool run(const StmtPtr& stmt) {
    found_ = false;
    loops_ = 0;
    go(stmt);
    return found_;
  }

 private:
  void visit(const Barrier&) override { found_ = true; }
  void visit(const Return&) override { found_ = true; }
  void visit(const source::Evaluation&) override { found_ = true; }
  void visit(const OpaqueStatement&) override { found_ = true; }
  void visit(const OpaqueExpression&) override { found_ = true; }
  void visit(const Jump&) override { found_ = found_ || loops_ == 0; }
  void visit(const ForLoop& stmt) override {
    ++loops_;
    Visitor::visit(stmt);
    --loops_;
  }
  void visit(const WhileLoop& stmt) override {
    ++loops_;
    Visitor::visit(stmt);
    --loops_;
  }
  void visit(const Call& expr) override {
    found_ = found_ || !is_pure_function(expr.function);
    Visitor::visit(expr);
  }
  // A pointer that is more than the buffer of an element may lead anywhere.
  void visit(const Subscript& expr) override {
    const auto* base = as<VariableReference>(expr.base);
    if (base == nullptr || is_local_pointer(base->name)) go(expr.base);
    go(expr.index);
  }
  void visit(const Unary& expr) override {
    // The address of an element that is only read.
    const ExprPtr place = addressed(expr);
    const auto* base = place ? base_variable(*place) : nullptr;
    if (base != nullptr && analysis_.is_written(base->name)) found_ = true;
    Visitor::visit(expr);
  }
  void visit(const VariableReference& expr) override {
    found_ = found_ || analysis_.is_global_pointer(expr.name) || is_local_pointer(expr.name);
  }

  bool is_local_pointer(const std::string& name) const {
    const Variable* local = analysis_.local(name);
    return local != nullptr && local->is_pointer;
  }

  const Analysis& analysis_;
  bool found_ = false;
  int loops_ = 0;
};

class AccessFinder final : public Visitor {
 public:
  explicit AccessFinder(std::string buffer) : buffer_(std::move(buffer)) {}

  ElementAccesses found;

 private:
  void visit(const Assignment& stmt) override {
    const auto* target = as<Subscript>(stmt.target);
    if (target != nullptr && is_named(target->base, buffer_)) {
      found.stores = true;
      found.loads = found.loads || stmt.op != AssignmentOperator::assign;
      found.indices.push_back(target->index);
      go(target->index);
    } else {
      go(stmt.target);
    }
    go(stmt.value);
  }
  void visit(const Subscript& expr) override {
    if (is_named(expr.base, buffer_)) {
      found.loads = true;
      found.indices.push_back(expr.index);
    }
    Visitor::visit(expr);
  }

  const std::string buffer_;
};

}  // namespace

ElementAccesses accesses_of(const StmtPtr& stmt, const std::string& buffer) {
  AccessFinder finder(buffer);
  finder.go(stmt);
  return std::move(finder.found);
}

bool has_hazard(const StmtPtr& stmt, const Analysis& analysis) {
  return HazardFinder(analysis).run(stmt);
}

BufferRegisters::BufferRegisters(const Kernel& kernel, const std::vector<std::string>& raced)
    : kernel_(kernel), raced_(raced), names_(kernel, "_") {}

bool BufferRegisters::can_hold(const std::string& buffer) const {
  const auto* parameter = kernel_.parameter(buffer);
  return parameter != nullptr && parameter->is_pointer && parameter->scalar &&
         parameter->type.find("volatile") == std::string::npos &&
         std::find(raced_.begin(), raced_.end(), buffer) == raced_.end();
}

ExprPtr BufferRegisters::next(const std::string& buffer) {
  return variable(names_.fresh(buffer + "_value"), kernel_.parameter(buffer)->scalar);
}

StmtPtr BufferRegisters::declaration(const std::string& buffer, const ExprPtr& reg,
                                     const ExprPtr& initial, int line) const {
  const KernelParameter& parameter = *kernel_.parameter(buffer);
  auto result = std::make_shared<Declaration>(
      local_variable(to<VariableReference>(reg).name, parameter.type, parameter.scalar), initial);
  result->line = line;
  return result;
}

ExprPtr BufferRegisters::element(const std::string& buffer, const ExprPtr& index) const {
  const auto& scalar = kernel_.parameter(buffer)->scalar;
  return with_type(source::element(variable(buffer, scalar), {index}), scalar);
}

ExprPtr BufferRegisters::zero(const std::string& buffer) const {
  return zero_of(*kernel_.parameter(buffer)->scalar);
}

ExprRewrite with_register(const std::string& buffer, const ExprPtr& reg,
                          std::function<bool(const ExprPtr&)> is_meant) {
  return [=](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* access = as<Subscript>(expr);
    const bool is_held =
        access != nullptr && is_named(access->base, buffer) && is_meant(access->index);
    return is_held ? std::optional(reg) : std::nullopt;
  };
}

ExprPtr is_entered(const CountedLoop& counted, const Variable& counter) {
  const bool is_typed = counted.first->type == counter.scalar;
  return less(is_typed ? counted.first : cast(counter.type, counted.first), counted.limit);
}

}  // namespace regraph::rewrite
