#include "rewrite/analysis/atomic_updates.h"

#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/walk.h"

namespace regraph::rewrite {

namespace {

// The pointer and the sum of what is added to it: table and i + j of (table + i) + j.
bool is_pointer_sum(const ExprPtr& pointer, std::string& table, ExprPtr& index) {
  const auto* sum = as_binary(pointer, BinaryOperator::add);
  if (sum == nullptr) return false;
  if (matches(sum->left, some_variable(table))) {
    index = sum->right;
    return true;
  }
  if (!is_pointer_sum(sum->left, table, index)) return false;
  index = add(index, sum->right);
  return true;
}

}  // namespace

std::optional<AtomicUpdate> atomic_update_of(const Stmt& stmt) {
  const auto* evaluation = as<source::Evaluation>(stmt);
  if (evaluation == nullptr) return std::nullopt;
  const Call& call = evaluation->call();
  if (!is_atomic(call.function) || call.arguments.size() != 2) return std::nullopt;
  AtomicUpdate update{"", call.function, nullptr, call.arguments[1]};
  const auto table = some_variable(update.table);
  const auto index = any(update.index);
  const bool is_update = matches(call.arguments[0], address_of(subscript(table, index))) ||
                         is_pointer_sum(call.arguments[0], update.table, update.index);
  if (is_update) return update;
  if (!matches(call.arguments[0], table)) return std::nullopt;
  update.index = integer(0);
  return update;
}

bool updates_atomically(const Block& block) {
  return any_statement(block, [&](const Stmt& stmt) { return atomic_update_of(stmt).has_value(); });
}

ExprPtr neutral_value(const std::string& function, ScalarType scalar) {
  const bool is_unsigned = scalar == ScalarType::u32 || scalar == ScalarType::u64;
  const bool is_wide = scalar == ScalarType::i64 || scalar == ScalarType::u64;
  if (function == "atomicAdd" || function == "atomicSub") return zero_of(scalar);
  if (is_floating(scalar)) return nullptr;
  if (function == "atomicOr" || function == "atomicXor") return integer(0);
  if (function == "atomicAnd") return integer(-1);
  if (is_wide) return nullptr;
  if (function == "atomicMax") {
    return is_unsigned ? integer(0) : integer(-2147483648LL, "(-2147483647 - 1)", scalar);
  }
  if (function == "atomicMin") {
    return is_unsigned ? integer(4294967295LL, "4294967295u", scalar)
                       : integer(2147483647LL, "2147483647", scalar);
  }
  return nullptr;
}

}  // namespace regraph::rewrite
