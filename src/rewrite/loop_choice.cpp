#include "rewrite/loop_choice.h"

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

}  // namespace regraph::rewrite
