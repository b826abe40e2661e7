#include "rewrite/outer_blocks.h"

#include "affine/block_geometry.h"
#include "affine/size_expression.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// How a kernel takes the number of its block along an axis apart: `blockIdx.z / channels` and
// `blockIdx.z % channels`, or into three: z / (c * d), z / d % c and z % d.

// "blockIdx.x" of axis 0.
std::string block_index(std::size_t axis) {
  return std::string("blockIdx.") + kAxes[axis];
}

// "gridDim.x" of axis 0.
std::string grid_extent(std::size_t axis) {
  return std::string("gridDim.") + kAxes[axis];
}

// The integer expression without casts between integers around it.
ExprPtr without_casts(ExprPtr expr) {
  while (const auto* cast = as<Cast>(expr)) {
    if (!cast->type || is_floating(*cast->type)) break;
    expr = cast->operand;
  }
  return expr;
}

// Whether it is that builtin, cast or not.
bool is_builtin(const ExprPtr& expr, const std::string& name) {
  const auto* builtin = as<Builtin>(without_casts(expr));
  return builtin != nullptr && builtin->name == name;
}

// Whether both have the same value: as polynomials, or because they are spelt alike.
bool are_equal(const ExprPtr& a, const ExprPtr& b, const Analysis& analysis) {
  const auto first = analysis.polynomial(a);
  const auto second = analysis.polynomial(b);
  if (first && second) return *first == *second;
  return print(without_casts(a)) == print(without_casts(b));
}

class DigitUses {
 public:
  DigitUses(const Block& body, std::size_t axis, const Analysis& analysis)
      : analysis_(analysis), index_(block_index(axis)), extent_(grid_extent(axis)) {
    walk_expressions(body, [&](const Expr& expr) { note(expr); });
  }

  // By what the outermost digit is divided, where the block's number and the grid's extent along
  // the axis are used for digits of this kind and nothing else; null where that is not so.
  ExprPtr divisor() const {
    if (mentions_ != known_ || outer_.empty()) return nullptr;
    const ExprPtr& divisor = outer_.front();
    const auto is_divisor = [&](const ExprPtr& one) { return are_equal(one, divisor, analysis_); };
    const auto fits = [&](const Middle& one) {
      const auto whole = analysis_.polynomial(divisor);
      const auto below = analysis_.polynomial(one.divisor);
      const auto count = analysis_.polynomial(one.count);
      return whole && below && count && *below * *count == *whole;
    };
    const auto is_known = [&](const ExprPtr& one) {
      return is_divisor(one) ||
             std::any_of(middle_.begin(), middle_.end(), [&](const Middle& other) {
               return are_equal(one, other.divisor, analysis_);
             });
    };
    const bool is_apart = std::all_of(outer_.begin(), outer_.end(), is_divisor) &&
                          std::all_of(middle_.begin(), middle_.end(), fits) &&
                          std::all_of(inner_.begin(), inner_.end(), is_known);
    return is_apart ? divisor : nullptr;
  }

 private:
  // index / divisor % count
  struct Middle {
    ExprPtr divisor;
    ExprPtr count;
  };

  void note(const Expr& expr) {
    if (const auto* builtin = as<Builtin>(expr)) {
      mentions_ += builtin->name == index_ || builtin->name == extent_ ? 1 : 0;
      return;
    }
    const auto* binary = as<Binary>(expr);
    const bool is_quotient = binary != nullptr && binary->op == BinaryOperator::divide;
    if (!is_quotient && (binary == nullptr || binary->op != BinaryOperator::remainder)) return;
    const ExprPtr left = without_casts(binary->left);
    const auto* below = as<Binary>(left);
    const bool is_of_quotient = !is_quotient && below != nullptr &&
                                below->op == BinaryOperator::divide &&
                                is_builtin(below->left, index_);
    if (is_of_quotient) {
      in_middle_.insert(below);
      middle_.push_back({below->right, binary->right});
      ++known_;
    } else if (is_builtin(left, index_) && !in_middle_.contains(&expr)) {
      (is_quotient ? outer_ : inner_).push_back(binary->right);
      ++known_;
    } else if (is_builtin(left, extent_) && is_quotient) {
      outer_.push_back(binary->right);
      ++known_;
    }
  }

  const Analysis& analysis_;
  std::string index_;
  std::string extent_;
  std::size_t mentions_ = 0;
  std::size_t known_ = 0;
  std::vector<ExprPtr> outer_;
  std::vector<ExprPtr> inner_;
  std::vector<Middle> middle_;
  std::set<const Expr*> in_middle_;
};

// More are no grid that anyone writes.
constexpr std::size_t kMostFactors = 4;

ExprPtr in_type(ExprPtr value, std::optional<ScalarType> type, ScalarType own) {
  if (!type || *type == own) return value;
  return with_type(source::cast(std::string(cuda_name(*type)), std::move(value)), *type);
}

// With names for a block's index (`int z = blockIdx.z`) replaced by it.
Block with_block_indices(const Kernel& kernel, const Analysis& analysis) {
  std::map<std::string, ExprPtr> indices;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declared = as<Declaration>(stmt);
    if (declared == nullptr || !analysis.definition(declared->variable.name)) return;
    const auto* builtin = as<Builtin>(without_casts(declared->value));
    if (builtin == nullptr || !builtin->name.starts_with("blockIdx.")) return;
    indices.emplace(declared->variable.name, declared->value);
  });
  if (indices.empty()) return kernel.body;
  const Block named =
      rewrite_expressions(kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        const auto* variable = as<VariableReference>(expr);
        const auto found = variable != nullptr ? indices.find(variable->name) : indices.end();
        return found != indices.end() ? std::optional(found->second) : std::nullopt;
      });
  return rewrite_statements(named, [&](const StmtPtr& stmt) -> std::optional<Block> {
    const auto* declared = as<Declaration>(stmt);
    return declared != nullptr && indices.contains(declared->variable.name) ? std::optional(Block{})
                                                                            : std::nullopt;
  });
}

// The factors of a product; none where it is no product of things that nothing is rounded in.
std::vector<std::string> factors_of(const std::string& text) {
  std::vector<std::string> factors(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0 && std::string_view("+-/%").find(c) != std::string_view::npos) return {};
    if (depth == 0 && c == '*') {
      factors.emplace_back();
    } else if (c != ' ' || depth > 0) {
      factors.back() += c;
    }
  }
  return factors;
}

struct Split {
  IntegerExpression inner;
  IntegerExpression outer;
};

// The ways to write the extent as a product.
std::vector<Split> splits_of(const IntegerExpression& extent) {
  std::vector<IntegerExpression> factors;
  for (const std::string& text : factors_of(extent.text())) {
    const auto factor = IntegerExpression::parse(text);
    if (!factor) return {};
    factors.push_back(*factor);
  }
  if (factors.empty() || factors.size() > kMostFactors) return {};
  std::vector<Split> result;
  for (std::size_t chosen = 1; chosen + 1 < std::size_t{1} << factors.size(); ++chosen) {
    Split split{1, 1};
    for (std::size_t i = 0; i < factors.size(); ++i) {
      IntegerExpression& part = (chosen >> i & 1) != 0 ? split.inner : split.outer;
      part =
          part == IntegerExpression(1) ? factors[i] : IntegerExpression::multiply(part, factors[i]);
    }
    result.push_back(std::move(split));
  }
  return result;
}

bool is_division_of(const ExprPtr& expr, const std::string& index, BinaryOperator op) {
  const auto* binary = as<Binary>(without_casts(expr));
  return binary != nullptr && binary->op == op && is_builtin(binary->left, index);
}

// The name that the kernel's own block gives to the quotient first, and its type; else a new one.
Variable named_quotient(const Kernel& kernel, const Analysis& analysis, const std::string& index) {
  for (const StmtPtr& stmt : kernel.body) {
    const auto* declared = as<Declaration>(stmt);
    const bool is_it = declared != nullptr &&
                       is_division_of(declared->value, index, BinaryOperator::divide) &&
                       analysis.definition(declared->variable.name) && declared->variable.scalar &&
                       !is_floating(*declared->variable.scalar) &&
                       size_in_bytes(*declared->variable.scalar) >= size_in_bytes(ScalarType::i32);
    if (is_it) return declared->variable;
  }
  Variable image = local_variable(Names(kernel).fresh("outer_block"), "int", ScalarType::i32);
  image.is_const = true;
  return image;
}

// A symbol that is no name in the kernel but, perhaps, that of its own quotient of the grid; else
// empty.
std::string named_images(const IntegerExpression& images, const Kernel& kernel, std::size_t axis) {
  std::string name = images.text();
  if (images.symbols() != std::set<std::string>{name}) return "";
  bool is_declared = false;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declared = as<Declaration>(stmt);
    if (declared == nullptr || declared->variable.name != name) return;
    is_declared = is_division_of(declared->value, grid_extent(axis), BinaryOperator::divide);
  });
  return is_declared || Names(kernel).fresh(name) == name ? name : "";
}

// Where the names of the quotients of an axis are.
struct Digits {
  std::size_t axis;
  ExprPtr divisor;     // of the outermost
  Variable image;      // which that is
  std::string images;  // the quotient of the grid
};

// What stands for the expression in the launch for one image.
std::optional<ExprPtr> of_one_image(const ExprPtr& expr, const Digits& digits,
                                    const Analysis& analysis) {
  const auto* binary = as<Binary>(expr);
  if (binary == nullptr) return std::nullopt;
  if (is_builtin(binary->left, grid_extent(digits.axis)))
    return in_type(source::variable(digits.images), expr->type, ScalarType::i32);
  const std::string index = block_index(digits.axis);
  const bool is_remainder = binary->op == BinaryOperator::remainder;
  // A digit between: what is left of the index has no digit above it.
  if (is_remainder && is_division_of(binary->left, index, BinaryOperator::divide))
    return in_type(binary->left, expr->type, binary->left->type.value_or(ScalarType::u32));
  const bool is_outer =
      is_builtin(binary->left, index) && are_equal(binary->right, digits.divisor, analysis);
  if (!is_outer) return std::nullopt;
  if (is_remainder) return in_type(source::builtin(index), expr->type, ScalarType::u32);
  return in_type(source::variable(digits.image.name, digits.image.scalar), expr->type,
                 *digits.image.scalar);
}

// The body with quotients as variables, which are not declared, and the remainder as the index.
Block taken_apart(const Kernel& kernel, const Digits& digits, const Analysis& analysis) {
  const Block undeclared =
      rewrite_statements(kernel.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
        const auto* declared = as<Declaration>(stmt);
        const bool is_parameter =
            declared != nullptr && (declared->variable.name == digits.image.name ||
                                    declared->variable.name == digits.images);
        return is_parameter ? std::optional(Block{}) : std::nullopt;
      });
  return rewrite_expressions(
      undeclared, [&](const ExprPtr& expr) { return of_one_image(expr, digits, analysis); });
}

bool blocks_work_alone(const Kernel& kernel, const Analysis& analysis) {
  if (analysis.opaque() || !analysis.calls_with_threads().empty() ||
      !analysis.boundless_calls().empty()) {
    return false;
  }
  return !any_expression(kernel.body, [&](const Expr& expr) {
    const auto* call = as<Call>(expr);
    return call != nullptr && is_atomic(call->function);
  });
}

bool has_unknown_index(const Kernel& kernel, const Analysis& analysis) {
  return any_expression(kernel.body, [&](const Expr& expr) {
    const auto* element = as<Subscript>(expr);
    const auto* base = element != nullptr ? base_variable(expr) : nullptr;
    return base != nullptr && analysis.is_global_pointer(base->name) &&
           !analysis.polynomial(element->index);
  });
}

}  // namespace

std::optional<OuterBlocks> OuterBlocks::find(const KernelState& state) {
  if (state.plan.launches.size() != 1) return std::nullopt;
  const Launch& launch = state.plan.launches.front();
  Kernel kernel = state.unit.opened_kernel();
  const Analysis written(kernel);
  if (!has_unknown_index(kernel, written) || !blocks_work_alone(kernel, written))
    return std::nullopt;
  kernel.body = with_block_indices(kernel, written);
  const Analysis analysis(kernel);
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    const ExprPtr divisor = DigitUses(kernel.body, axis, analysis).divisor();
    if (!divisor) continue;
    for (Split& split : splits_of(launch.grid[axis])) {
      const ExprPtr inner = size_in_kernel(split.inner, kernel, analysis, false);
      if (!inner || !are_equal(without_casts(inner), divisor, analysis)) continue;
      Variable image = named_quotient(kernel, analysis, block_index(axis));
      const std::string images = named_images(split.outer, kernel, axis);
      if (images.empty() && analysis.uses_builtin(grid_extent(axis))) continue;
      KernelState alone = state;
      alone.unit.kernel = kernel;
      alone.unit.opened = nullptr;
      alone.unit.kernel.body = taken_apart(kernel, {axis, divisor, image, images}, analysis);
      auto& parameters = alone.unit.kernel.parameters;
      parameters.push_back({.name = image.name, .type = image.type, .scalar = image.scalar});
      if (!images.empty())
        parameters.push_back({.name = images, .type = "int", .scalar = ScalarType::i32});
      alone.plan.launches.front().grid[axis] = split.inner;
      return OuterBlocks(std::move(alone), axis, std::move(image),
                         {std::move(split.outer), images});
    }
  }
  return std::nullopt;
}

Result<KernelState> OuterBlocks::put_back(KernelState changed) const {
  if (changed.plan.launches.size() != 1) return refuse("the launch plan has several launches");
  Launch& launch = changed.plan.launches.front();
  Kernel& kernel = changed.unit.kernel;
  std::erase_if(kernel.parameters, [&](const KernelParameter& one) {
    return one.name == image_.name || one.name == images_.name;
  });
  if (launch.block_follows_sizes()) return refuse("the block follows the sizes");
  const IntegerExpression blocks = with_block_extents(launch.grid[axis_], launch.block);
  const Analysis analysis(kernel);
  const ExprPtr count = size_in_kernel(blocks, kernel, analysis, false);
  if (!count) {
    return refuse("the extent of the grid for " + block_index(axis_) + ", " + blocks.text() +
                  ", is not made of the kernel's parameters");
  }
  const std::string name = block_index(axis_);
  const ExprPtr index = source::builtin(name);
  const bool is_one = blocks == IntegerExpression(1);
  const ExprPtr place = is_one ? integer(0) : source::remainder(index, count);
  kernel.body =
      rewrite_expressions(kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        if (source::is_builtin(*expr, name)) return place;
        if (source::is_builtin(*expr, grid_extent(axis_))) return count;
        return std::nullopt;
      });
  const auto quotient = [&](const ExprPtr& whole) {
    return is_one ? whole : source::divide(whole, count);
  };
  if (!images_.name.empty() && is_mentioned(kernel.body, images_.name)) {
    kernel.body.insert(
        kernel.body.begin(),
        declare_integer(images_.name, quotient(source::builtin(grid_extent(axis_)))));
  }
  kernel.body.insert(kernel.body.begin(), declare(image_, quotient(index)));
  launch.grid[axis_] = is_one ? images_.count : IntegerExpression::multiply(images_.count, blocks);
  return changed;
}

}  // namespace regraph::rewrite
