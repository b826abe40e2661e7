// Short constructors for IR nodes, with the folding that keeps rewritten code readable.
#pragma once

#include "source/ir.h"

#include <string>
#include <vector>

namespace regraph::source {

[[nodiscard]] ExprPtr integer(std::int64_t value);
// An integer that is printed as `spelling`: "0xffffffffu".
[[nodiscard]] ExprPtr integer(std::int64_t value, std::string spelling, ScalarType type);
[[nodiscard]] ExprPtr floating(std::string spelling);
[[nodiscard]] ExprPtr variable(std::string name, std::optional<ScalarType> type = ScalarType::i32);
// `name` is e.g. "threadIdx.x".
[[nodiscard]] ExprPtr builtin(std::string name);
[[nodiscard]] ExprPtr unary(UnaryOperator op, ExprPtr operand);
[[nodiscard]] ExprPtr address(ExprPtr operand);
// Folds integer constants and the neutral elements of + and *; does not reorder.
[[nodiscard]] ExprPtr binary(BinaryOperator op, ExprPtr left, ExprPtr right);
[[nodiscard]] ExprPtr add(ExprPtr left, ExprPtr right);
[[nodiscard]] ExprPtr subtract(ExprPtr left, ExprPtr right);
[[nodiscard]] ExprPtr multiply(ExprPtr left, ExprPtr right);
[[nodiscard]] ExprPtr divide(ExprPtr left, ExprPtr right);
[[nodiscard]] ExprPtr remainder(ExprPtr left, ExprPtr right);
[[nodiscard]] ExprPtr less(ExprPtr left, ExprPtr right);
[[nodiscard]] ExprPtr equals(ExprPtr left, ExprPtr right);
[[nodiscard]] ExprPtr both(ExprPtr left, ExprPtr right);  // &&
[[nodiscard]] ExprPtr conditional(ExprPtr condition, ExprPtr then, ExprPtr otherwise);
// base[i0][i1]...
[[nodiscard]] ExprPtr element(ExprPtr base, const std::vector<ExprPtr>& indices);
[[nodiscard]] ExprPtr call(std::string function, std::vector<ExprPtr> arguments);
[[nodiscard]] ExprPtr cast(std::string type, ExprPtr operand);
[[nodiscard]] ExprPtr member(ExprPtr object, std::string name, std::optional<ScalarType> type);
// a && b && ...; the empty conjunction is null.
[[nodiscard]] ExprPtr conjunction(const std::vector<ExprPtr>& terms);

// Splits a && b && c into its terms; none for null.
[[nodiscard]] std::vector<ExprPtr> conjuncts(const ExprPtr& condition);
// The logical negation, pushed inside by De Morgan's laws.
[[nodiscard]] ExprPtr negate(const ExprPtr& condition);

[[nodiscard]] StmtPtr declare(Variable variable, ExprPtr initial_value);
[[nodiscard]] StmtPtr declare_integer(std::string name, ExprPtr initial_value,
                                      bool is_const = true);
// A scalar of the type, or an array of it where there are extents.
[[nodiscard]] Variable local_variable(std::string name, std::string type,
                                      std::optional<ScalarType> scalar,
                                      std::vector<std::int64_t> extents = {});
[[nodiscard]] StmtPtr assign(ExprPtr target, ExprPtr value);
[[nodiscard]] StmtPtr assign(ExprPtr target, AssignmentOperator op, ExprPtr value);
[[nodiscard]] StmtPtr evaluate(ExprPtr call);
[[nodiscard]] StmtPtr branch(ExprPtr condition, Block body, Block otherwise = {}, int line = 0);
[[nodiscard]] StmtPtr scope(Block body);
// for (init; condition; step) body
[[nodiscard]] StmtPtr loop(StmtPtr init, ExprPtr condition, StmtPtr step, Block body,
                           int unroll = kNoUnrollPragma);
// for (int name = first; name < limit; name += stride) body
[[nodiscard]] StmtPtr counted_loop(std::string name, ExprPtr first, ExprPtr limit,
                                   std::int64_t stride, Block body, int unroll = kNoUnrollPragma);
[[nodiscard]] StmtPtr barrier();
// Puts more statements behind those of the block.
void append(const Block& more, Block& block);

// The zero of a scalar type: "0", "0.0f", "__half{}", ...
[[nodiscard]] ExprPtr zero_of(ScalarType type);
// The one of a scalar type, as zero_of.
[[nodiscard]] ExprPtr one_of(ScalarType type);
// A value of zeros of the type, which is `scalar` or one of CUDA's vector types; null for others.
[[nodiscard]] ExprPtr zero_value(const std::string& type, std::optional<ScalarType> scalar);

}  // namespace regraph::source
