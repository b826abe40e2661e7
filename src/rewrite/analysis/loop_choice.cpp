#include "rewrite/analysis/loop_choice.h"

#include "source/build.h"
#include "source/walk.h"

namespace regraph::rewrite {

bool holds_loop(const Block& block) {
  return any_statement(block, [&](const Stmt& stmt) {
    const auto* loop = as<ForLoop>(stmt);
    return is<WhileLoop>(stmt) || (loop != nullptr && loop->unroll != kUnrollFully);
  });
}

namespace {

// The `for` loops below the block that are meant, in program order; nothing in them is looked at.
template <typename IsMeant>
std::vector<StmtPtr> outermost_loops(const Block& block, const IsMeant& is_meant) {
  std::vector<StmtPtr> result;
  for (const StmtPtr& stmt : block) {
    const auto* loop = as<ForLoop>(stmt);
    if (loop != nullptr && is_meant(*loop)) {
      result.push_back(stmt);
      continue;
    }
    for (const Block* below : {&body_of(*stmt), &otherwise_of(*stmt)})
      append(outermost_loops(*below, is_meant), result);
  }
  return result;
}

}  // namespace

std::vector<StmtPtr> innermost_loops(const Block& block) {
  return outermost_loops(block, [](const ForLoop& loop) {
    return loop.unroll != kUnrollFully && !holds_loop(loop.body);
  });
}

std::vector<StmtPtr> written_out_loops(const Block& block) {
  return outermost_loops(block, [](const ForLoop& loop) {
    return loop.unroll == kUnrollFully && all_statements(loop.body, [](const Stmt& inner) {
             return !is<ForLoop>(inner) && !is<WhileLoop>(inner);
           });
  });
}

bool is_uniform(const ForLoop& loop, const Analysis& analysis) {
  const auto counted = counted_loop_of(loop);
  if (!counted) return false;
  for (const ExprPtr& bound : {counted->first, counted->limit}) {
    const auto polynomial = analysis.polynomial(bound);
    if (!polynomial) return false;
    for (const std::string& symbol : polynomial->symbols()) {
      if (symbol.starts_with("threadIdx")) return false;
    }
  }
  return !any_statement(loop.body,
                        [&](const Stmt& stmt) { return is<Jump>(stmt) || is<Return>(stmt); });
}

std::vector<StmtPtr> loops_all_reach(const Block& block, const Analysis& analysis) {
  std::vector<StmtPtr> result;
  for (const StmtPtr& stmt : block) {
    const auto* loop = as<ForLoop>(stmt);
    if (loop == nullptr) continue;
    result.push_back(stmt);
    if (!is_uniform(*loop, analysis)) continue;
    append(loops_all_reach(loop->body, analysis), result);
  }
  return result;
}

}  // namespace regraph::rewrite
