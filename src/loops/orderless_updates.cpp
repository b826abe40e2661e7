#include "loops/orderless_updates.h"

#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace regraph::loops {
namespace {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Block;
using source::ExprPtr;
using source::StmtPtr;

// target = function of target and value.
struct Update {
  std::string function;  // atomicAdd, ...
  ExprPtr target;
  ExprPtr value;
};

constexpr std::array<std::string_view, 5> kMinima = {"min", "fmin", "fminf", "std::min", "::min"};
constexpr std::array<std::string_view, 5> kMaxima = {"max", "fmax", "fmaxf", "std::max", "::max"};

bool mentions(const ExprPtr& expr, const ExprPtr& place) {
  bool found = false;
  const auto* base = source::place_variable(*place);
  source::walk(expr, [&](const source::Expr& one) {
    found = found || (base != nullptr && source::is_named(one, base->name));
  });
  return found;
}

// max(target, value) and target < value ? value : target.
std::optional<Update> extreme_of(const ExprPtr& target, const ExprPtr& value) {
  if (const auto* call = as<source::Call>(value); call != nullptr && call->arguments.size() == 2) {
    const bool least = std::ranges::find(kMinima, call->function) != kMinima.end();
    const bool most = std::ranges::find(kMaxima, call->function) != kMaxima.end();
    if (!least && !most) return std::nullopt;
    const bool first = source::equal(call->arguments[0], target);
    if (!first && !source::equal(call->arguments[1], target)) return std::nullopt;
    return Update{least ? "atomicMin" : "atomicMax", target, call->arguments[first ? 1 : 0]};
  }
  return std::nullopt;
}

// if (e > x) x = e
std::optional<Update> extreme_of(const source::Branch& branch) {
  if (!branch.otherwise.empty() || branch.body.size() != 1) return std::nullopt;
  const auto* set = as<Assignment>(branch.body.front());
  const auto* asked = as<source::Binary>(branch.condition);
  if (set == nullptr || set->op != AssignmentOperator::assign || asked == nullptr)
    return std::nullopt;
  using source::BinaryOperator;
  const bool greater =
      asked->op == BinaryOperator::greater || asked->op == BinaryOperator::greater_equal;
  const bool smaller = asked->op == BinaryOperator::less || asked->op == BinaryOperator::less_equal;
  if (!greater && !smaller) return std::nullopt;
  const bool value_first =
      source::equal(asked->left, set->value) && source::equal(asked->right, set->target);
  const bool target_first =
      source::equal(asked->left, set->target) && source::equal(asked->right, set->value);
  if (!value_first && !target_first) return std::nullopt;
  return Update{greater == value_first ? "atomicMax" : "atomicMin", set->target, set->value};
}

std::optional<Update> update_of(const source::Stmt& stmt) {
  if (const auto* branch = as<source::Branch>(stmt)) return extreme_of(*branch);
  const auto* set = as<Assignment>(stmt);
  if (set == nullptr) return std::nullopt;
  switch (set->op) {
    case AssignmentOperator::add:
      return Update{"atomicAdd", set->target, set->value};
    case AssignmentOperator::subtract:
      return Update{"atomicAdd", set->target,
                    source::unary(source::UnaryOperator::minus, set->value)};
    case AssignmentOperator::bit_and:
      return Update{"atomicAnd", set->target, set->value};
    case AssignmentOperator::bit_or:
      return Update{"atomicOr", set->target, set->value};
    case AssignmentOperator::bit_xor:
      return Update{"atomicXor", set->target, set->value};
    case AssignmentOperator::assign:
      break;
    default:
      return std::nullopt;
  }
  if (const auto* sum = source::as_binary(set->value, source::BinaryOperator::add)) {
    if (source::equal(sum->left, set->target)) return Update{"atomicAdd", set->target, sum->right};
    if (source::equal(sum->right, set->target)) return Update{"atomicAdd", set->target, sum->left};
  }
  return extreme_of(set->target, set->value);
}

bool has_atomic(const std::string& function, ScalarType type) {
  const bool is_word = type == ScalarType::i32 || type == ScalarType::u32;
  if (function != "atomicAdd") return is_word;
  return is_word || type == ScalarType::f32 || type == ScalarType::f64 || type == ScalarType::u64;
}

class UpdateRewriter final : public source::Mutator {
 public:
  UpdateRewriter(const std::set<std::string>& buffers, const source::Kernel& kernel)
      : buffers_(buffers), kernel_(kernel) {}

  std::optional<Error> refused;

 private:
  void append(const StmtPtr& stmt, Block& out) override {
    const auto update = update_of(*stmt);
    const auto* element = update ? as<source::Subscript>(update->target) : nullptr;
    const auto* base = element != nullptr ? as<source::VariableReference>(element->base) : nullptr;
    if (base == nullptr || !buffers_.contains(base->name)) {
      const bool stores = target_of(*stmt) && touches(target_of(*stmt));
      if (stores) refuse(*stmt, "it is more than a sum or an extreme that is brought up to date");
      out.push_back(run(stmt));
      return;
    }
    if (mentions(update->value, update->target) || mentions(element->index, update->target)) {
      refuse(*stmt, "what is brought into it depends on it");
      out.push_back(stmt);
      return;
    }
    const auto* parameter = kernel_.parameter(base->name);
    const auto type = parameter != nullptr ? parameter->scalar : std::nullopt;
    if (!type || !has_atomic(update->function, *type)) {
      refuse(*stmt, fmt::format("there is no {} for '{}'", update->function,
                                parameter != nullptr ? parameter->type : base->name));
    }
    if (type && !is_exact(*update, *type))
      refuse(*stmt, "its type and that of what is brought into it do not go together in an atomic");
    auto atomic = std::make_shared<source::Evaluation>(
        source::call(update->function,
                     {source::address(update->target), converted(update->value, type, parameter)}));
    atomic->line = stmt->line;
    out.push_back(atomic);
  }

  static ExprPtr converted(const ExprPtr& value, std::optional<ScalarType> type,
                           const source::KernelParameter* parameter) {
    if (parameter == nullptr || !type || value->type == type) return value;
    ExprPtr cast = source::cast(parameter->type, value);
    return source::with_type(cast, *type);
  }

  // Whether the value in the element's type does what the update did. Sums of integers are the same
  // in any width; floating-point ones may be rounded in another order anyway.
  static bool is_exact(const Update& update, ScalarType type) {
    if (!update.value->type) return false;
    if (update.function == "atomicAdd" && is_floating(type)) return true;
    if (is_floating(*update.value->type)) return false;
    const bool is_extreme = update.function == "atomicMin" || update.function == "atomicMax";
    return !is_extreme || update.value->type == type;
  }

  [[nodiscard]] bool touches(const ExprPtr& place) const {
    const auto* base = source::place_variable(*place);
    return base != nullptr && buffers_.contains(base->name);
  }

  void refuse(const source::Stmt& stmt, const std::string& why) {
    if (!refused)
      refused = Error{ErrorCode::unsupported, fmt::format("line {}: {}", stmt.line, why)};
  }

  const std::set<std::string>& buffers_;
  const source::Kernel& kernel_;
};

}  // namespace

Result<Block> with_atomic_updates(const Block& block, const std::set<std::string>& buffers,
                                  const source::Kernel& kernel) {
  UpdateRewriter rewriter(buffers, kernel);
  Block result = rewriter.run(block);
  if (rewriter.refused) return *rewriter.refused;
  return result;
}

bool is_reduction_of(const Block& body, const std::string& scalar) {
  bool only_updates = true;
  int updates = 0;
  const std::function<void(const Block&)> look = [&](const Block& block) {
    for (const StmtPtr& stmt : block) {
      const auto update = update_of(*stmt);
      const auto* product = as<Assignment>(stmt);
      const bool multiplies = product != nullptr && product->op == AssignmentOperator::multiply;
      const ExprPtr target = update ? update->target : multiplies ? product->target : nullptr;
      const ExprPtr value = update ? update->value : multiplies ? product->value : nullptr;
      if (target && source::is_named(target, scalar)) {
        ++updates;
        only_updates = only_updates && !source::variables_of(value).contains(scalar);
        continue;
      }
      source::walk_own_expressions(*stmt, [&](const source::Expr& expr) {
        only_updates = only_updates && !source::is_named(expr, scalar);
      });
      source::for_each_header(*stmt, [&](const StmtPtr& header) {
        source::walk_own_expressions(*header, [&](const source::Expr& expr) {
          only_updates = only_updates && !source::is_named(expr, scalar);
        });
      });
      look(body_of(*stmt));
      look(otherwise_of(*stmt));
    }
  };
  look(body);
  return only_updates && updates > 0;
}

}  // namespace regraph::loops
