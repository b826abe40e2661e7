#include "rewrite/transform/written_out_loops.h"

#include "rewrite/analysis/loop_choice.h"
#include "source/build.h"
#include "source/counted_loop.h"
#include "source/match.h"
#include "source/walk.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace regraph::rewrite {

namespace {

constexpr std::int64_t kLongestWrittenOut = 64;
// Beyond, instructions no longer stay in the cache near the multiprocessor.
constexpr int kMostStatementsWrittenOut = 1000;

std::int64_t statements_in(const Block& block) {
  std::int64_t count = 0;
  walk(block, [&](const Stmt&) { ++count; });
  return count;
}

bool leaves_early(const Block& block) {
  return any_statement(block, [&](const Stmt& stmt) { return is<Jump>(stmt) || is<Return>(stmt); });
}

bool is_wide_integer(const ExprPtr& expr) {
  return expr->type && !is_floating(*expr->type) &&
         size_in_bytes(*expr->type) >= sizeof(std::int32_t);
}

// Puts a number in the place of a counter, and folds what that makes of integers.
ExprPtr with_number(const ExprPtr& expr, const std::string& counter, const ExprPtr& number) {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    if (is_named(*node, counter)) return number;
    const auto* binary = as<Binary>(node);
    if (binary == nullptr || !variables_of(node).contains(counter)) return std::nullopt;
    const ExprPtr left = with_number(binary->left, counter, number);
    const ExprPtr right = with_number(binary->right, counter, number);
    const bool folds = is_wide_integer(node) && is_wide_integer(left) && is_wide_integer(right);
    if (folds) {
      ExprPtr result = source::binary(binary->op, left, right);
      if (result->type == node->type) return result;
    }
    return std::make_shared<Binary>(binary->op, left, right, node->type);
  });
}

class LoopWriter {
 public:
  explicit LoopWriter(Names& names) : names_(names) {}

  Block run(const Block& block) {
    Block result;
    for (const StmtPtr& stmt : block) {
      Block body = run(body_of(*stmt));
      if (is<Scope>(stmt)) {
        append(names_.renamed(body), result);
        continue;
      }
      const auto* loop = as<ForLoop>(stmt);
      if (loop != nullptr) {
        if (auto copies = copies_of(*loop, body)) {
          append(*copies, result);
          continue;
        }
      }
      result.push_back(with_blocks(stmt, std::move(body), run(otherwise_of(*stmt))));
    }
    return result;
  }

 private:
  std::optional<Block> copies_of(const ForLoop& loop, const Block& body) {
    const auto counted = counted_loop_of(loop);
    const auto* declaration = loop.declaration();
    if (!counted || declaration == nullptr || loop.unroll == kNeverUnroll) return std::nullopt;
    const auto trips = counted->trip_count();
    const auto first =
        to_polynomial(counted->first,
                      [](const std::string&) -> std::optional<Polynomial> { return std::nullopt; });
    if (!trips || !first || !first->constant()) return std::nullopt;
    if (*trips > kLongestWrittenOut || *trips * statements_in(body) > kMostStatementsWrittenOut)
      return std::nullopt;
    if (leaves_early(body)) return std::nullopt;
    Block result;
    for (std::int64_t trip = 0; trip < *trips; ++trip) {
      ExprPtr number = integer(*first->constant() + trip * counted->stride);
      if (declaration->variable.scalar != ScalarType::i32) {
        number = with_type(cast(declaration->variable.type, number), declaration->variable.scalar);
      }
      const Block copy =
          rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
            if (!variables_of(expr).contains(counted->name)) return expr;
            return with_number(expr, counted->name, number);
          });
      append(names_.renamed(copy), result);
    }
    return result;
  }

  Names& names_;
};

}  // namespace

Block with_loops_written_out(const Block& block, Names& names) {
  return LoopWriter(names).run(block);
}

}  // namespace regraph::rewrite
