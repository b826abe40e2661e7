#include "rewrite/analysis/loop_choice.h"

#include "source/walk.h"

namespace regraph::rewrite {

bool holds_loop(const Block& block) {
  return any_statement(block, [&](const Stmt& stmt) {
    const auto* loop = as<ForLoop>(stmt);
    return is<WhileLoop>(stmt) || (loop != nullptr && loop->unroll != kUnrollFully);
  });
}

std::vector<StmtPtr> innermost_loops(const Block& block) {
  std::vector<StmtPtr> result;
  for (const StmtPtr& stmt : block) {
    const auto* loop = as<ForLoop>(stmt);
    if (loop != nullptr && loop->unroll != kUnrollFully && !holds_loop(loop->body)) {
      result.push_back(stmt);
      continue;
    }
    for (const Block* below : {&body_of(*stmt), &otherwise_of(*stmt)}) {
      const std::vector<StmtPtr> inner = innermost_loops(*below);
      result.insert(result.end(), inner.begin(), inner.end());
    }
  }
  return result;
}

std::vector<StmtPtr> written_out_loops(const Block& block) {
  std::vector<StmtPtr> result;
  for (const StmtPtr& stmt : block) {
    const auto* loop = as<ForLoop>(stmt);
    const bool holds_any = any_statement(body_of(*stmt), [&](const Stmt& inner) {
      return is<ForLoop>(inner) || is<WhileLoop>(inner);
    });
    if (loop != nullptr && loop->unroll == kUnrollFully && !holds_any) {
      result.push_back(stmt);
      continue;
    }
    for (const Block* below : {&body_of(*stmt), &otherwise_of(*stmt)}) {
      const std::vector<StmtPtr> inner = written_out_loops(*below);
      result.insert(result.end(), inner.begin(), inner.end());
    }
  }
  return result;
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
    const std::vector<StmtPtr> inner = loops_all_reach(loop->body, analysis);
    result.insert(result.end(), inner.begin(), inner.end());
  }
  return result;
}

}  // namespace regraph::rewrite
