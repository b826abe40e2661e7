#include "rewrite/analysis/mentions.h"

#include "source/walk.h"

namespace regraph::rewrite {

bool is_mentioned(const ExprPtr& expr, const std::string& name) {
  return expr && variables_of(expr).contains(name);
}

bool is_mentioned(const Block& block, const std::string& name) {
  return any_statement(block, [&](const Stmt& stmt) {
    return is_mentioned(target_of(stmt), name) || is_mentioned(value_of(stmt), name);
  });
}

}  // namespace regraph::rewrite
