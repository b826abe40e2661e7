#include "affine/global_index.h"

#include "affine/refusal.h"
#include "source/build.h"

#include <set>

namespace regraph::affine {

namespace {

// Whether the polynomial takes thread and block index of `axis` only as the global index.
bool is_global_index(const Polynomial& polynomial, const std::string& axis,
                     const Analysis& analysis) {
  const auto thread = polynomial.coefficient("threadIdx." + axis);
  const auto block = polynomial.coefficient("blockIdx." + axis);
  if (!thread || !block) return false;
  const Polynomial extent_symbol = Polynomial::symbol("blockDim." + axis);
  if (thread->is_zero() && block->is_zero()) return !polynomial.mentions("blockDim." + axis);
  if (thread->mentions("blockDim." + axis)) return false;
  const Polynomial pitch = *thread * extent_symbol;
  if (*block == pitch) {
    // Nothing but the block's own term may mention its extent.
    return !(polynomial - pitch * Polynomial::symbol("blockIdx." + axis))
                .mentions("blockDim." + axis);
  }
  // Coarsened: offsets pitch * (c0 + C0 * (c1 + ...)) fill the block's stride without gaps.
  Polynomial covered = pitch;
  std::set<std::string> remaining = polynomial.symbols();
  for (bool advanced = true; advanced && !(covered == *block);) {
    advanced = false;
    for (const std::string& name : remaining) {
      const CountedLoop* loop = analysis.loop(name);
      if (loop == nullptr || loop->stride != 1) continue;
      const auto trips = loop->trip_count();
      const auto coefficient = polynomial.coefficient(name);
      if (!trips || !loop->starts_at_zero() || !coefficient || !(*coefficient == covered)) continue;
      covered = covered * Polynomial(*trips);
      remaining.erase(name);
      advanced = true;
      break;
    }
  }
  return covered == *block;
}

}  // namespace

Polynomial global_index(const std::string& axis) {
  return Polynomial::symbol("blockIdx." + axis) * Polynomial::symbol("blockDim." + axis) +
         Polynomial::symbol("threadIdx." + axis);
}

ExprPtr global_index_code(const std::string& axis) {
  return add(multiply(builtin("blockIdx." + axis), builtin("blockDim." + axis)),
             builtin("threadIdx." + axis));
}

std::optional<ExprPtr> with_index(const ExprPtr& expr, const std::string& axis,
                                  const Polynomial& place, const ExprPtr& index,
                                  const Analysis& analysis) {
  const auto* builtin = as<Builtin>(expr);
  const auto polynomial =
      builtin != nullptr || is<Binary>(expr) ? analysis.polynomial(expr) : std::nullopt;
  if (polynomial && *polynomial == place) return in_type_of(*expr, index);
  if (builtin == nullptr) return std::nullopt;
  // Thread and block are known together only.
  if (builtin->name == "blockIdx." + axis) return integer(0);
  if (builtin->name == "threadIdx." + axis) return in_type_of(*expr, index);
  return std::nullopt;
}

ExprPtr in_type_of(const Expr& expr, const ExprPtr& value) {
  const ScalarType type = expr.type.value_or(ScalarType::i32);
  if (type == ScalarType::i32) return value;
  return with_type(cast(std::string(cuda_name(type)), value), type);
}

Status require_global_index(const Kernel& kernel, const Analysis& analysis,
                            const std::string& letter) {
  Status status;
  for_each_polynomial(kernel, analysis, [&](const Polynomial& polynomial) {
    if (polynomial.mentions("gridDim." + letter)) {
      status = refuse("gridDim." + letter + " would change its meaning");
    } else if (!is_global_index(polynomial, letter, analysis)) {
      status = refuse("an expression uses the " + letter +
                      " position within the block, or the block's number by itself");
    }
  });
  return status;
}

Status require_uncoarsened_index(const Kernel& kernel, const Analysis& analysis,
                                 const std::string& letter) {
  Status status = require_global_index(kernel, analysis, letter);
  for_each_polynomial(kernel, analysis, [&](const Polynomial& polynomial) {
    const auto thread = polynomial.coefficient("threadIdx." + letter);
    const auto block = polynomial.coefficient("blockIdx." + letter);
    const bool is_plain =
        thread && block && *block == *thread * Polynomial::symbol("blockDim." + letter);
    if (status && !is_plain)
      status = refuse("threads do the work of several along " + letter + " already");
  });
  return status;
}

}  // namespace regraph::affine
