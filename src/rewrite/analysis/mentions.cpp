#include "rewrite/analysis/mentions.h"

#include "source/walk.h"

namespace regraph::rewrite {

bool is_mentioned(const source::ExprPtr& expr, const std::string& name) {
  return expr && source::variables_of(expr).contains(name);
}

bool is_mentioned(const source::Block& block, const std::string& name) {
  bool found = false;
  source::walk(block, [&](const source::Stmt& stmt) {
    found = found || is_mentioned(target_of(stmt), name) || is_mentioned(value_of(stmt), name);
  });
  return found;
}

}  // namespace regraph::rewrite
