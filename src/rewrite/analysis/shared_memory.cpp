#include "rewrite/analysis/shared_memory.h"

#include "source/visitor.h"
#include "source/walk.h"

namespace regraph::rewrite {

namespace {

// Finds uses of the array with fewer or more indices than it has extents.
class PartialUse final : public source::Visitor {
 public:
  explicit PartialUse(const source::Variable& array) : array_(array) {}
  bool found = false;

 private:
  void visit(const source::VariableReference& expr) override {
    if (expr.name == array_.name) found = true;
  }

  // As another type it has to stay as it lies.
  void visit(const source::Cast& expr) override {
    if (expr.target.find('*') != std::string::npos) {
      found = found || source::variables_of(expr.operand).contains(array_.name);
    }
    Visitor::visit(expr);
  }

  void visit(const source::Subscript& expr) override {
    const auto* base = source::base_variable(expr);
    if (base == nullptr || base->name != array_.name) {
      Visitor::visit(expr);
      return;
    }
    const std::vector<source::ExprPtr> indices = source::indices_of(expr);
    found = found || indices.size() != array_.extents.size();
    for (const source::ExprPtr& index : indices)
      go(index);
  }

  const source::Variable& array_;
};

}  // namespace

std::int64_t bytes_of(const source::Variable& variable) {
  // The widest vector types for those that are no scalars.
  constexpr std::int64_t kVectorBytes = 16;
  std::int64_t bytes =
      variable.scalar ? static_cast<std::int64_t>(size_in_bytes(*variable.scalar)) : kVectorBytes;
  for (const std::int64_t count : variable.extents)
    bytes *= count;
  return bytes;
}

std::int64_t shared_bytes(const source::Kernel& kernel) {
  std::int64_t bytes = 0;
  source::walk(kernel.body, [&](const source::Stmt& stmt) {
    const auto* declaration = source::as<source::Declaration>(stmt);
    if (declaration != nullptr && declaration->variable.storage == source::Storage::shared)
      bytes += bytes_of(declaration->variable);
  });
  return bytes;
}

bool is_fully_indexed(const source::Kernel& kernel, const source::Variable& array) {
  PartialUse use(array);
  use.go(kernel.body);
  return !use.found;
}

}  // namespace regraph::rewrite
