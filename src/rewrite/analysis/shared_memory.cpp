#include "rewrite/analysis/shared_memory.h"

#include "source/visitor.h"
#include "source/walk.h"

namespace regraph::rewrite {

namespace {

// Finds uses of the array with fewer or more indices than it has extents.
class PartialUse final : public Visitor {
 public:
  explicit PartialUse(const Variable& array) : array_(array) {}
  bool found = false;

 private:
  void visit(const VariableReference& expr) override {
    if (expr.name == array_.name) found = true;
  }

  // As another type it has to stay as it lies.
  void visit(const Cast& expr) override {
    if (expr.target.find('*') != std::string::npos) {
      found = found || variables_of(expr.operand).contains(array_.name);
    }
    Visitor::visit(expr);
  }

  void visit(const Subscript& expr) override {
    const auto* base = base_variable(expr);
    if (base == nullptr || base->name != array_.name) {
      Visitor::visit(expr);
      return;
    }
    const std::vector<ExprPtr> indices = indices_of(expr);
    found = found || indices.size() != array_.extents.size();
    for (const ExprPtr& index : indices)
      go(index);
  }

  const Variable& array_;
};

}  // namespace

std::int64_t bytes_of(const Variable& variable) {
  // The widest vector types for those that are no scalars.
  constexpr std::int64_t kVectorBytes = 16;
  std::int64_t bytes =
      variable.scalar ? static_cast<std::int64_t>(size_in_bytes(*variable.scalar)) : kVectorBytes;
  for (const std::int64_t count : variable.extents)
    bytes *= count;
  return bytes;
}

std::int64_t shared_bytes(const Kernel& kernel) {
  std::int64_t bytes = 0;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration != nullptr && declaration->variable.storage == Storage::shared)
      bytes += bytes_of(declaration->variable);
  });
  return bytes;
}

bool is_fully_indexed(const Kernel& kernel, const Variable& array) {
  PartialUse use(array);
  use.go(kernel.body);
  return !use.found;
}

}  // namespace regraph::rewrite
