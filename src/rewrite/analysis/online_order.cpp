#include "rewrite/analysis/online_order.h"

#include "rewrite/analysis/guarded_liveness.h"
#include "rewrite/forms/kernel_state.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Assignment;
using source::Block;
using source::Declaration;
using source::ExprPtr;
using source::is;
using source::Stmt;
using source::StmtKind;
using source::to;

namespace {

// Behind the last statement that gives the value.
std::size_t weighted_position(const LoopValue& weighted, const Block& body) {
  std::size_t found = 0;
  std::size_t left = weighted.statements.size();
  for (std::size_t at = 0; at < body.size() && left > 0; ++at) {
    bool gives = false;
    source::walk(Block{body[at]}, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      const ExprPtr& target = target_of(stmt);
      const auto* base = target ? source::base_variable(*target) : nullptr;
      gives = gives ||
              (declaration != nullptr && weighted.needs.contains(declaration->variable.name)) ||
              (base != nullptr && weighted.needs.contains(base->name));
    });
    if (!gives) continue;
    --left;
    found = at + 1;
  }
  return found;
}

// Memory, or a name that is read.
std::optional<std::string> changed_by(const Assignment& assignment,
                                      const std::set<std::string>& read, const Analysis& analysis) {
  const auto* base = source::base_variable(*assignment.target);
  if (base == nullptr) return "something that is no variable or array element is changed";
  if (!is_register(base->name, analysis))
    return "'" + base->name + "' is written before the values are known to be over";
  if (read.contains(base->name)) return "'" + base->name + "' changes after it was compared";
  return std::nullopt;
}

}  // namespace

Status require_unchanged(const Block& block, std::size_t first, std::size_t second,
                         const LoopValue& value, const LoopValue& weighted,
                         const Analysis& analysis) {
  std::set<std::string> read = value.reads;
  const auto counted = source::counted_loop_of(*block[first]);
  for (const ExprPtr& bound : {counted->first, counted->limit}) {
    for (const std::string& name : source::variables_of(bound))
      read.insert(name);
  }
  const Block between(block.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                      block.begin() + static_cast<std::ptrdiff_t>(second));
  const Block& body = body_of(*block[second]);
  std::optional<std::string> obstacle;
  const auto ask = [&](const Stmt& stmt) {
    if (obstacle) return;
    switch (stmt.kind()) {
      case StmtKind::declaration:
      case StmtKind::branch:
      case StmtKind::for_loop:
      case StmtKind::scope:
        return;
      case StmtKind::assignment:
        obstacle = changed_by(to<Assignment>(stmt), read, analysis);
        return;
      default:
        obstacle =
            "a barrier, a jump, a while loop or a call for its effect stands between the "
            "loops";
    }
  };
  source::walk(between, ask);
  source::walk(body, ask);
  if (obstacle) return refuse(*obstacle);
  // Values that weights need must not change once the maximum has seen them.
  const Block after(body.begin() + static_cast<std::ptrdiff_t>(
                                       std::min(weighted_position(weighted, body), body.size())),
                    body.end());
  bool changes = false;
  source::walk(after, [&](const Stmt& stmt) {
    const ExprPtr& target = target_of(stmt);
    const auto* base = target ? source::base_variable(*target) : nullptr;
    changes = changes || (base != nullptr && weighted.needs.contains(base->name));
  });
  if (changes) return refuse("what it weights is changed in the same iteration");
  return {};
}

bool writes_memory(const Block& block, std::size_t end, const Analysis& analysis) {
  bool found = false;
  source::walk(Block(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(end)),
               [&](const Stmt& stmt) {
                 if (is<source::Evaluation>(stmt) || is<source::OpaqueStatement>(stmt))
                   found = true;
                 const ExprPtr& target = target_of(stmt);
                 if (!target) return;
                 const auto* base = source::base_variable(*target);
                 found = found || base == nullptr || !is_register(base->name, analysis);
               });
  return found;
}

}  // namespace regraph::rewrite
