#include "rewrite/forms/selected_values.h"

#include "source/build.h"
#include "source/known_functions.h"
#include "source/mutator.h"
#include "source/walk.h"

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::Branch;
using source::Call;
using source::Expr;
using source::ExprPtr;
using source::StmtPtr;

namespace {

class Selector final : public source::Mutator {
 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const Branch& branch) override {
    const StmtPtr rebuilt = Mutator::mutate(stmt, branch);
    const auto& inner = source::to<Branch>(rebuilt);
    if (inner.body.size() != 1 || inner.otherwise.size() != 1) return rebuilt;
    const auto* yes = as<Assignment>(inner.body[0]);
    const auto* no = as<Assignment>(inner.otherwise[0]);
    if (yes == nullptr || no == nullptr || yes->op != no->op ||
        !source::equal(yes->target, no->target)) {
      return rebuilt;
    }
    const ExprPtr value = selected(inner.condition, *yes, *no);
    if (!value) return rebuilt;
    auto result = std::make_shared<Assignment>(yes->target, yes->op, value);
    result->line = stmt->line;
    return result;
  }

  // Null where an expression could not stand for the branch.
  static ExprPtr selected(const ExprPtr& condition, const Assignment& yes, const Assignment& no) {
    if (!is_plain(yes.target) || !is_plain(yes.value) || !is_plain(no.value)) return nullptr;
    if (!yes.value->type || !no.value->type) return nullptr;
    if (yes.value->type == no.value->type)
      return source::conditional(condition, yes.value, no.value);
    // The common type of the two may be another than the place's, and round differently.
    const auto& type = yes.target->type;
    if (yes.op != source::AssignmentOperator::assign || !type || *type == ScalarType::f16 ||
        *type == ScalarType::bf16) {
      return nullptr;
    }
    return source::conditional(condition, converted(yes.value, *type), converted(no.value, *type));
  }

  static ExprPtr converted(const ExprPtr& value, ScalarType type) {
    return value->type == type ? value : source::cast(std::string(cuda_name(type)), value);
  }

  // Without calls that do more than compute a value.
  static bool is_plain(const ExprPtr& expr) {
    bool plain = true;
    source::walk(expr, [&](const Expr& node) {
      const auto* call = as<Call>(node);
      plain = plain && (call == nullptr || source::is_pure_function(call->function));
    });
    return plain;
  }
};

}  // namespace

source::Block with_selected_values(const source::Block& body) {
  return Selector().run(body);
}

}  // namespace regraph::rewrite
