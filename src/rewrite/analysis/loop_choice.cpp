#include "rewrite/analysis/loop_choice.h"

#include "source/walk.h"

namespace regraph::rewrite {

using source::Block;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

bool holds_loop(const Block& block) {
  bool found = false;
  source::walk(block, [&](const Stmt& stmt) {
    found = found || (stmt.kind == StmtKind::loop && stmt.unroll != source::kUnrollFully) ||
            stmt.kind == StmtKind::repeat;
  });
  return found;
}

std::vector<StmtPtr> innermost_loops(const Block& block) {
  std::vector<StmtPtr> result;
  for (const StmtPtr& stmt : block) {
    if (stmt->kind == StmtKind::loop && stmt->unroll != source::kUnrollFully &&
        !holds_loop(stmt->body)) {
      result.push_back(stmt);
      continue;
    }
    for (const Block* below : {&stmt->body, &stmt->otherwise}) {
      const std::vector<StmtPtr> inner = innermost_loops(*below);
      result.insert(result.end(), inner.begin(), inner.end());
    }
  }
  return result;
}

namespace {

// The same bounds for all threads of a block, and no early way out.
bool is_uniform(const Stmt& loop, const source::Analysis& analysis) {
  const auto counted = source::counted_loop_of(loop);
  if (!counted) return false;
  for (const source::ExprPtr& bound : {counted->first, counted->limit}) {
    const auto polynomial = analysis.polynomial(bound);
    if (!polynomial) return false;
    for (const std::string& symbol : polynomial->symbols()) {
      if (symbol.starts_with("threadIdx")) return false;
    }
  }
  bool leaves = false;
  source::walk(loop.body, [&](const Stmt& stmt) {
    leaves = leaves || stmt.kind == StmtKind::jump || stmt.kind == StmtKind::leave;
  });
  return !leaves;
}

}  // namespace

std::vector<StmtPtr> loops_all_reach(const Block& block, const source::Analysis& analysis) {
  std::vector<StmtPtr> result;
  for (const StmtPtr& stmt : block) {
    if (stmt->kind != StmtKind::loop) continue;
    result.push_back(stmt);
    if (!is_uniform(*stmt, analysis)) continue;
    const std::vector<StmtPtr> inner = loops_all_reach(stmt->body, analysis);
    result.insert(result.end(), inner.begin(), inner.end());
  }
  return result;
}

}  // namespace regraph::rewrite
