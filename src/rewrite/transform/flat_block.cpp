#include "rewrite/transform/flat_block.h"

#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "rewrite/forms/kernel_state.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/mutator.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <string>

namespace regraph::rewrite {

namespace {

constexpr const char* kNumber = "threadIdx.x";

bool holds_number(const std::optional<ScalarType>& type) {
  return type == ScalarType::i32 || type == ScalarType::u32 || type == ScalarType::i64 ||
         type == ScalarType::u64;
}

// Whether the expression is the thread's number, by whatever name.
bool is_number(const ExprPtr& expr, const Analysis& analysis) {
  if (const auto* builtin = as<Builtin>(expr)) return builtin->name == kNumber;
  if (!holds_number(expr->type)) return false;
  if (const auto* cast = as<Cast>(expr)) return is_number(cast->operand, analysis);
  const auto* variable = as<VariableReference>(expr);
  const ExprPtr definition = variable != nullptr ? analysis.definition(variable->name) : nullptr;
  return definition && is_number(definition, analysis);
}

// A number taken apart: which part, and by what.
struct Part {
  bool is_row = false;
  std::int64_t divisor = 0;
};

std::optional<Part> part_of(const Binary& binary, const Analysis& analysis) {
  if (!is_number(binary.left, analysis)) return std::nullopt;
  const auto right = analysis.polynomial(binary.right);
  const auto value = right ? right->constant() : std::nullopt;
  if (!value || *value < 0) return std::nullopt;
  constexpr std::int64_t kLargestShift = 10;  // a block has no more than 1024 threads
  switch (binary.op) {
    case BinaryOperator::divide:
      return Part{true, *value};
    case BinaryOperator::remainder:
      return Part{false, *value};
    case BinaryOperator::shift_right:
      return *value <= kLargestShift ? std::optional(Part{true, std::int64_t{1} << *value})
                                     : std::nullopt;
    case BinaryOperator::bit_and:
      return std::has_single_bit(static_cast<std::uint64_t>(*value + 1))
                 ? std::optional(Part{false, *value + 1})
                 : std::nullopt;
    default:
      return std::nullopt;
  }
}

class NumberSplitter final : public Mutator {
 public:
  explicit NumberSplitter(const Analysis& analysis) : analysis_(analysis) {}

  std::int64_t divisor = 0;
  bool has_several = false;
  bool is_used_whole = false;
  bool uses_extents = false;
  bool uses_other_axes = false;

  using Mutator::run;

 private:
  using Mutator::mutate;

  void append(const StmtPtr& stmt, Block& out) override {
    const auto* named = as<Declaration>(stmt);
    const bool is_name = named != nullptr && named->value && is_number(named->value, analysis_) &&
                         holds_number(named->variable.scalar) &&
                         analysis_.definition(named->variable.name);
    if (!is_name) out.push_back(run(stmt));
  }

  ExprPtr mutate(const ExprPtr& expr, const Binary& binary) override {
    const auto part = part_of(binary, analysis_);
    if (!part) return Mutator::mutate(expr, binary);
    has_several = has_several || (divisor != 0 && divisor != part->divisor);
    divisor = part->divisor;
    return in_type_of(*expr,
                      source::cast("int", source::builtin(part->is_row ? "threadIdx.y" : kNumber)));
  }
  ExprPtr mutate(const ExprPtr& expr, const Builtin& builtin) override {
    is_used_whole = is_used_whole || builtin.name == kNumber;
    uses_extents = uses_extents || builtin.name.starts_with("blockDim.");
    uses_other_axes =
        uses_other_axes || builtin.name == "threadIdx.y" || builtin.name == "threadIdx.z";
    return expr;
  }
  ExprPtr mutate(const ExprPtr& expr, const VariableReference&) override {
    is_used_whole = is_used_whole || is_number(expr, analysis_);
    return expr;
  }

  const Analysis& analysis_;
};

}  // namespace

Result<BlockOfRows> with_block_of_rows(const Kernel& kernel, const Launch& launch) {
  const Dim3& block = launch.block;
  if (block.y != 1 || block.z != 1) return refuse("the block has several axes already");
  const Analysis analysis(kernel);
  NumberSplitter splitter(analysis);
  BlockOfRows result{splitter.run(kernel.body), launch};
  if (splitter.divisor == 0)
    return refuse("no thread takes its number apart by / and % of a constant");
  if (splitter.has_several) return refuse("threads take their number apart by several constants");
  if (splitter.is_used_whole) return refuse("threads use their number whole, too");
  if (splitter.uses_extents) return refuse("the kernel asks for the block's extents");
  if (splitter.uses_other_axes)
    return refuse("threads ask for an axis that the block does not have");
  const auto columns = static_cast<std::uint32_t>(splitter.divisor);
  if (splitter.divisor > block.x || block.x % columns != 0) {
    return refuse("threads take their number apart by " + std::to_string(splitter.divisor) +
                  ", which does not divide the block");
  }
  // What was written in the old extents keeps its value.
  const Dim3 before = {block.x, 1, 1};
  for (IntegerExpression& extent : result.launch.grid)
    extent = with_block_extents(extent, before);
  result.launch.dynamic_shared_bytes =
      with_block_extents(result.launch.dynamic_shared_bytes, before);
  result.launch.block = {columns, block.x / columns, 1};
  return result;
}

}  // namespace regraph::rewrite
