// Short constructors for IR nodes, with the folding that keeps rewritten code readable.
#pragma once

#include "source/ir.h"

#include <string>
#include <vector>

namespace regraph::source {

[[nodiscard]] ExprPtr integer(std::int64_t value);
[[nodiscard]] ExprPtr floating(std::string text);
[[nodiscard]] ExprPtr variable(std::string name, std::optional<ScalarType> type = ScalarType::i32);
// `name` is e.g. "threadIdx.x".
[[nodiscard]] ExprPtr builtin(std::string name);
[[nodiscard]] ExprPtr unary(std::string op, ExprPtr operand);
// Folds integer constants and the neutral elements of + and *; does not reorder.
[[nodiscard]] ExprPtr binary(std::string op, ExprPtr left, ExprPtr right);
[[nodiscard]] ExprPtr conditional(ExprPtr condition, ExprPtr then, ExprPtr otherwise);
// base[i0][i1]...
[[nodiscard]] ExprPtr element(ExprPtr base, const std::vector<ExprPtr>& indices);
[[nodiscard]] ExprPtr call(std::string function, std::vector<ExprPtr> arguments);
[[nodiscard]] ExprPtr cast(std::string type, ExprPtr operand);
// a && b && ...; the empty conjunction is null.
[[nodiscard]] ExprPtr conjunction(const std::vector<ExprPtr>& terms);

[[nodiscard]] StmtPtr declare(Variable variable, ExprPtr initial_value);
[[nodiscard]] StmtPtr declare_integer(std::string name, ExprPtr initial_value,
                                      bool is_const = true);
[[nodiscard]] StmtPtr assign(ExprPtr target, std::string op, ExprPtr value);
[[nodiscard]] StmtPtr evaluate(ExprPtr value);
[[nodiscard]] StmtPtr branch(ExprPtr condition, Block body, Block otherwise = {});
// for (int name = first; name < limit; name += stride) body
[[nodiscard]] StmtPtr counted_loop(std::string name, ExprPtr first, ExprPtr limit,
                                   std::int64_t stride, Block body, int unroll = kNoUnrollPragma);
[[nodiscard]] StmtPtr barrier();

// The zero of a scalar type as a literal: "0", "0.0f", ...; empty for types without one.
[[nodiscard]] ExprPtr zero_of(ScalarType type);
// A value of zeros of the type, which is `scalar` or one of CUDA's vector types; null for others.
[[nodiscard]] ExprPtr zero_value(const std::string& type, std::optional<ScalarType> scalar);

}  // namespace regraph::source
