#include "rewrite/forms/block_extents.h"

#include "affine/index_range.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

struct Axis {
  std::string letter;
  std::int64_t extent;
};

ExprPtr without_casts(ExprPtr expr) {
  while (const auto* cast = as<Cast>(expr))
    expr = cast->operand;
  return expr;
}

// Names of indices that nothing changes: int bx = blockIdx.x;
using IndexNames = std::map<std::string, ExprPtr>;

IndexNames index_names(const Block& body) {
  IndexNames names;
  std::set<std::string> others = changed_names(body);
  walk(body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr) return;
    const ExprPtr value = without_casts(declaration->value);
    if (is_index_type(declaration->variable.scalar) && is<Builtin>(value)) {
      const auto [known, is_new] = names.emplace(declaration->variable.name, value);
      if (!is_new && !equal(known->second, value)) others.insert(known->first);
    } else {
      others.insert(declaration->variable.name);
    }
  });
  for (const std::string& name : others)
    names.erase(name);
  return names;
}

bool is_axis_of(const ExprPtr& expr, const char* builtin, const Axis& axis,
                const IndexNames& names) {
  ExprPtr plain = without_casts(expr);
  if (const auto* variable = as<VariableReference>(plain)) {
    const auto named = names.find(variable->name);
    if (named != names.end()) plain = named->second;
  }
  return plain && is_builtin(*plain, builtin + axis.letter);
}

// `blockIdx.x * blockDim.x` for `blockIdx.x * extent`, through casts; null for other expressions.
ExprPtr named_start(const ExprPtr& expr, const Axis& axis, const IndexNames& names) {
  if (const auto* cast = as<Cast>(expr)) {
    const ExprPtr operand = named_start(cast->operand, axis, names);
    return operand ? with_type(source::cast(cast->target, operand), expr->type) : nullptr;
  }
  const auto* product = as_binary(expr, BinaryOperator::multiply);
  if (product == nullptr) return nullptr;
  for (const bool is_swapped : {false, true}) {
    const ExprPtr& block = is_swapped ? product->right : product->left;
    const ExprPtr& number = is_swapped ? product->left : product->right;
    if (!is_axis_of(block, "blockIdx.", axis, names) ||
        !is_number(without_casts(number), axis.extent)) {
      continue;
    }
    ExprPtr extent = source::builtin("blockDim." + axis.letter);
    const ScalarType type = number->type.value_or(ScalarType::i32);
    if (extent->type != type)
      extent = with_type(source::cast(std::string(cuda_name(type)), extent), type);
    return with_type(is_swapped ? source::multiply(extent, block) : source::multiply(block, extent),
                     expr->type);
  }
  return nullptr;
}

}  // namespace

Block with_named_block_extents(const Block& body, const Dim3& block) {
  const std::array<Axis, 3> axes = {Axis{"x", block.x}, Axis{"y", block.y}, Axis{"z", block.z}};
  const IndexNames names = index_names(body);
  return rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* sum = as_binary(expr, BinaryOperator::add);
    if (sum == nullptr) return std::nullopt;
    for (const Axis& axis : axes) {
      if (is_axis_of(sum->right, "threadIdx.", axis, names)) {
        if (const ExprPtr start = named_start(sum->left, axis, names))
          return with_type(source::add(start, sum->right), expr->type);
      }
      if (is_axis_of(sum->left, "threadIdx.", axis, names)) {
        if (const ExprPtr start = named_start(sum->right, axis, names))
          return with_type(source::add(sum->left, start), expr->type);
      }
    }
    return std::nullopt;
  });
}

namespace {

// With what is known of unit axes in place, and products and sums with it folded.
class UnitAxes final : public Mutator {
 public:
  explicit UnitAxes(const Dim3& block) : block_(block) {}
  using Mutator::run;

 private:
  ExprPtr mutate(const ExprPtr& expr, const Builtin& builtin) override {
    for (const auto& [letter, extent] : {std::pair{'y', block_.y}, std::pair{'z', block_.z}}) {
      if (extent != 1 || builtin.name.back() != letter) continue;
      if (builtin.name.starts_with("threadIdx.")) return integer(0, "0u", ScalarType::u32);
      if (builtin.name.starts_with("blockDim.")) return integer(1, "1u", ScalarType::u32);
    }
    return expr;
  }

  ExprPtr mutate(const ExprPtr& expr, const Binary& binary) override {
    const ExprPtr left = run(binary.left);
    const ExprPtr right = run(binary.right);
    if (left == binary.left && right == binary.right) return expr;
    const bool is_nothing = binary.op == BinaryOperator::multiply && is_integral(left) &&
                            is_integral(right) && (is_number(left, 0) || is_number(right, 0));
    if (is_nothing) return is_number(left, 0) ? left : right;
    return with_type(source::binary(binary.op, left, right), binary.type);
  }

  const Dim3 block_;
};

}  // namespace

Block without_unit_axes(const Block& body, const Dim3& block) {
  return UnitAxes(block).run(body);
}

}  // namespace regraph::rewrite
