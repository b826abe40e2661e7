#include "rewrite/analysis/refusal_place.h"

namespace regraph::rewrite {

std::string loop_named(const Stmt& loop) {
  return loop.line > 0 ? "loop at line " + std::to_string(loop.line) + ": " : "";
}

std::string line_named(const Stmt& stmt) {
  return stmt.line > 0 ? "line " + std::to_string(stmt.line) + ": " : "";
}

}  // namespace regraph::rewrite
