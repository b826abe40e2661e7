#include "rewrite/transform/full_unroll.h"

#include "rewrite/analysis/loop_choice.h"
#include "source/build.h"
#include "source/counted_loop.h"
#include "source/match.h"
#include "source/walk.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::ExprPtr;
using source::ForLoop;
using source::Stmt;
using source::StmtPtr;

namespace {

constexpr std::int64_t kLongestWrittenOut = 64;

std::int64_t statements_in(const Block& block) {
  std::int64_t count = 0;
  source::walk(block, [&](const Stmt&) { ++count; });
  return count;
}

bool leaves_early(const Block& block) {
  bool found = false;
  source::walk(block, [&](const Stmt& stmt) {
    found = found || source::is<source::Jump>(stmt) || source::is<source::Return>(stmt);
  });
  return found;
}

bool is_wide_integer(const ExprPtr& expr) {
  return expr->type && !is_floating(*expr->type) &&
         size_in_bytes(*expr->type) >= sizeof(std::int32_t);
}

// Puts a number in the place of a counter, and folds what that makes of integers.
ExprPtr with_number(const ExprPtr& expr, const std::string& counter, const ExprPtr& number) {
  return source::rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    if (source::is_named(*node, counter)) return number;
    const auto* binary = as<source::Binary>(node);
    if (binary == nullptr || !source::variables_of(node).contains(counter)) return std::nullopt;
    const ExprPtr left = with_number(binary->left, counter, number);
    const ExprPtr right = with_number(binary->right, counter, number);
    const bool folds = is_wide_integer(node) && is_wide_integer(left) && is_wide_integer(right);
    if (folds) {
      ExprPtr result = source::binary(binary->op, left, right);
      if (result->type == node->type) return result;
    }
    return std::make_shared<source::Binary>(binary->op, left, right, node->type);
  });
}

class LoopWriter {
 public:
  LoopWriter(Names& names, int most_statements) : names_(names), most_(most_statements) {}

  Block run(const Block& block) {
    Block result;
    for (const StmtPtr& stmt : block) {
      Block body = run(body_of(*stmt));
      if (source::is<source::Scope>(stmt)) {
        append(result, names_.renamed(body));
        continue;
      }
      const auto* loop = as<ForLoop>(stmt);
      if (loop != nullptr) {
        if (auto copies = copies_of(*loop, body)) {
          append(result, *copies);
          continue;
        }
      }
      result.push_back(source::with_blocks(stmt, std::move(body), run(otherwise_of(*stmt))));
    }
    return result;
  }

 private:
  static void append(Block& out, const Block& more) {
    out.insert(out.end(), more.begin(), more.end());
  }

  std::optional<Block> copies_of(const ForLoop& loop, const Block& body) {
    const auto counted = source::counted_loop_of(loop);
    const auto* declaration = loop.declaration();
    if (!counted || declaration == nullptr || loop.unroll == kNeverUnroll) return std::nullopt;
    const auto trips = counted->trip_count();
    const auto first = source::to_polynomial(
        counted->first,
        [](const std::string&) -> std::optional<source::Polynomial> { return std::nullopt; });
    if (!trips || !first || !first->constant()) return std::nullopt;
    if (*trips > kLongestWrittenOut || *trips * statements_in(body) > most_) return std::nullopt;
    if (leaves_early(body)) return std::nullopt;
    Block result;
    for (std::int64_t trip = 0; trip < *trips; ++trip) {
      ExprPtr number = source::integer(*first->constant() + trip * counted->stride);
      if (declaration->variable.scalar != ScalarType::i32) {
        number = source::with_type(source::cast(declaration->variable.type, number),
                                   declaration->variable.scalar);
      }
      const Block copy =
          source::rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
            if (!source::variables_of(expr).contains(counted->name)) return expr;
            return with_number(expr, counted->name, number);
          });
      append(result, names_.renamed(copy));
    }
    return result;
  }

  Names& names_;
  std::int64_t most_;
};

}  // namespace

Block fully_unrolled(const Block& block, Names& names, int most_statements) {
  return LoopWriter(names, most_statements).run(block);
}

}  // namespace regraph::rewrite
