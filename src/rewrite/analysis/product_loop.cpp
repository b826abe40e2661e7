#include "rewrite/analysis/product_loop.h"

#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <utility>

namespace regraph::rewrite {

namespace {

// A statement below the block with the conditions around it.
struct PlacedStatement {
  const Assignment* assignment = nullptr;
  std::vector<ExprPtr> guards;
};

class ProductLoopFinder {
 public:
  explicit ProductLoopFinder(const KernelForm& form) : form_(form) {}

  Result<ProductLoop> find() {
    Status status = find_loop();
    if (status) status = find_sum();
    if (status) status = find_factors();
    if (!status) return status.error();
    return std::move(result_);
  }

 private:
  Status find_loop() {
    int loops = 0;
    walk(form_.kernel.body, [&](const Stmt& stmt) {
      if (is<ForLoop>(stmt) || is<WhileLoop>(stmt)) ++loops;
    });
    if (loops != 1) {
      return refuse("the kernel has " + std::to_string(loops) +
                    " loops, where a matrix product has one");
    }
    for (const StmtPtr& stmt : form_.kernel.body) {
      const auto counted = counted_loop_of(*stmt);
      if (!counted || counted->stride != 1) continue;
      result_.loop = stmt.get();
      result_.counted = *counted;
    }
    if (result_.loop == nullptr)
      return refuse("the kernel has no loop that all threads reach and that counts in ones");
    const auto* header = to<ForLoop>(*result_.loop).declaration();
    result_.is_wide = header != nullptr && header->variable.scalar &&
                      size_in_bytes(*header->variable.scalar) == 8;
    return {};
  }

  // Walks the loop's body, which may hold declarations, branches and the sum alone.
  Status collect(const Block& block, std::vector<ExprPtr>& guards) {
    for (const StmtPtr& stmt : block) {
      if (const auto* branch = as<Branch>(stmt)) {
        const auto terms = conjuncts(branch->condition);
        if (!branch->otherwise.empty()) return refuse("the loop's body branches two ways");
        const std::size_t depth = guards.size();
        guards.insert(guards.end(), terms.begin(), terms.end());
        if (Status status = collect(branch->body, guards); !status) return status;
        guards.resize(depth);
      } else if (const auto* scope = as<Scope>(stmt)) {
        if (Status status = collect(scope->body, guards); !status) return status;
      } else if (const auto* assignment = as<Assignment>(stmt)) {
        if (update_.assignment != nullptr) return refuse("the loop assigns more than one sum");
        update_ = {assignment, guards};
      } else if (!is<Declaration>(stmt)) {
        return refuse("the loop does more than add up products");
      }
    }
    return {};
  }

  Status find_sum() {
    std::vector<ExprPtr> guards;
    if (Status status = collect(body_of(*result_.loop), guards); !status) return status;
    if (update_.assignment == nullptr) return refuse("the loop adds nothing up");
    const auto* target = as<VariableReference>(update_.assignment->target);
    const Variable* variable = target != nullptr ? form_.analysis.local(target->name) : nullptr;
    if (variable == nullptr || !variable->extents.empty() ||
        (variable->scalar != ScalarType::f32 && variable->scalar != ScalarType::i32)) {
      return refuse("what the loop adds to is no variable of single precision, nor an int");
    }
    result_.sum = target->name;
    result_.sum_type = *variable->scalar;
    result_.guards = update_.guards;
    return {};
  }

  bool is_factor_type(const std::optional<ScalarType>& type) const {
    if (result_.sum_type == ScalarType::i32)
      return type == ScalarType::i8 || type == ScalarType::u8;
    return type == ScalarType::f32 || type == ScalarType::f16 || type == ScalarType::bf16;
  }

  // The value behind names and conversions to the sum's type.
  ExprPtr behind_names(const ExprPtr& value) const {
    const ExprPtr named = resolved(value);
    const ExprPtr inner = widened(named);
    return inner == named ? named : behind_names(inner);
  }

  // The value behind names.
  ExprPtr resolved(ExprPtr value) const {
    while (const auto* variable = as<VariableReference>(value)) {
      const ExprPtr definition = form_.analysis.definition(variable->name);
      if (!definition) break;
      value = definition;
    }
    return value;
  }

  Status find_factors() {
    const Assignment& update = *update_.assignment;
    ExprPtr left;
    ExprPtr right;
    const auto added = added_term(update);
    const auto* product = added && !added->is_subtracted
                              ? as_binary(resolved(added->term), BinaryOperator::multiply)
                              : nullptr;
    if (product != nullptr) {
      left = product->left;
      right = product->right;
    }
    if (!left || !right) return refuse("what the loop adds up are no products of two values");
    result_.values = {behind_names(left), behind_names(right)};
    for (ExprPtr& value : result_.values) {
      const auto* call = as<Call>(value);
      if (call != nullptr && call->function == "__ldg" && call->arguments.size() == 1) {
        if (const ExprPtr element = addressed(*call->arguments[0])) value = element;
      }
      const auto* base = is<Subscript>(value) ? base_variable(*value) : nullptr;
      const KernelParameter* parameter =
          base != nullptr ? form_.kernel.parameter(base->name) : nullptr;
      if (parameter == nullptr || !parameter->is_pointer || !is_factor_type(parameter->scalar) ||
          indices_of(*value).size() != 1) {
        return refuse(
            result_.sum_type == ScalarType::i32
                ? "a factor of the product is no element of an array of bytes"
                : "a factor of the product is no element of an array of float, half or bfloat16");
      }
      const bool is_first = &value == result_.values.data();
      if (!is_first && result_.factor != *parameter->scalar)
        return refuse("the factors of the product are of two types");
      result_.factor = *parameter->scalar;
      if (form_.analysis.is_written(base->name) || form_.analysis.is_viewed(base->name))
        return refuse("'" + base->name + "' is written in the kernel, or read as another type");
    }
    // Products of bytes are of int, whatever they are converted to. Products of two halves would be
    // rounded to half before they are added, those of doubles not be rounded at all.
    if (result_.sum_type == ScalarType::i32) {
      if (product->type && (is_floating(*product->type) || size_in_bytes(*product->type) != 4))
        return refuse("the products are not of int");
      return {};
    }
    for (const ExprPtr& value : {resolved(left), resolved(right)}) {
      if (value->type.value_or(result_.factor) != ScalarType::f32)
        return refuse("the products are not of single precision");
    }
    return {};
  }

  const KernelForm& form_;
  ProductLoop result_;
  PlacedStatement update_;
};

}  // namespace

Result<ProductLoop> find_product_loop(const KernelForm& form) {
  return ProductLoopFinder(form).find();
}

}  // namespace regraph::rewrite
