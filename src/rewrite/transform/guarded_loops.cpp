#include "rewrite/transform/guarded_loops.h"

#include "source/analysis.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::Branch;
using source::Declaration;
using source::Expr;
using source::is;
using source::Stmt;
using source::StmtPtr;

namespace {

// Whether all that the statement does is to give values to local variables.
bool is_local_work(const StmtPtr& stmt, const source::Analysis& analysis) {
  bool result = true;
  source::walk({stmt}, [&](const Stmt& part) {
    if (const auto* declaration = as<Declaration>(part)) {
      result = result && declaration->variable.storage == source::Storage::automatic;
    } else if (const auto& target = target_of(part)) {
      const auto* base = source::place_variable(*target);
      result = result && base != nullptr && !analysis.is_global_pointer(base->name) &&
               !analysis.is_shared(base->name) && analysis.local(base->name) != nullptr &&
               !analysis.local(base->name)->is_pointer;
    } else {
      result = result && (is<Branch>(part) || is<source::ForLoop>(part) || is<source::Scope>(part));
    }
  });
  source::walk_expressions({stmt}, [&](const Expr& expr) {
    const auto* call = as<source::Call>(expr);
    const bool is_pure =
        call == nullptr || source::is_pure(*call) || call->function.starts_with("make_");
    result = result && is_pure && !is<source::OpaqueExpression>(expr);
    source::for_each_passed_place(expr, [&](const Expr&) { result = false; });
  });
  return result;
}

std::set<std::string> names_in(const Block& block) {
  std::set<std::string> names = source::declared_names(block);
  source::walk_expressions(block, [&](const Expr& expr) {
    if (const auto* variable = as<source::VariableReference>(expr)) names.insert(variable->name);
  });
  return names;
}

// Names of locals that the statement declares or changes.
std::set<std::string> changed_by(const StmtPtr& stmt) {
  std::set<std::string> names = source::declared_names({stmt});
  source::walk({stmt}, [&](const Stmt& part) {
    const auto& target = target_of(part);
    const auto* base = target ? source::place_variable(*target) : nullptr;
    if (base != nullptr) names.insert(base->name);
  });
  return names;
}

bool meet(const std::set<std::string>& some, const std::set<std::string>& others) {
  return std::ranges::any_of(some, [&](const std::string& name) { return others.contains(name); });
}

}  // namespace

Block with_guarded_loops(const source::Kernel& kernel) {
  const source::Analysis analysis(kernel);
  if (kernel.body.empty()) return kernel.body;
  const auto* guard = as<Branch>(kernel.body.back());
  if (guard == nullptr || !guard->otherwise.empty() || analysis.reads_memory(guard->condition))
    return kernel.body;
  // From the guard up: what moves is changed by nothing that stays behind it, and the other way
  // round.
  Block moved;
  Block kept;
  std::set<std::string> needed = source::variables_of(guard->condition);
  bool moves_loop = false;
  std::size_t at = kernel.body.size() - 1;
  for (; at > 0; --at) {
    const StmtPtr& stmt = kernel.body[at - 1];
    if (!is_local_work(stmt, analysis)) break;
    if (meet(changed_by(stmt), needed) || meet(names_in({stmt}), changed_by(source::scope(kept)))) {
      const std::set<std::string> names = names_in({stmt});
      needed.insert(names.begin(), names.end());
      kept.insert(kept.begin(), stmt);
    } else {
      moved.insert(moved.begin(), stmt);
      moves_loop = moves_loop || is<source::ForLoop>(stmt);
    }
  }
  // Names that are only computed stay where everybody sees them.
  while (!moved.empty() && !is<source::ForLoop>(moved.front())) {
    const auto* declaration = as<Declaration>(moved.front());
    const bool is_index = declaration != nullptr && declaration->value &&
                          analysis.definition(declaration->variable.name) &&
                          !analysis.reads_memory(declaration->value);
    if (!is_index || meet(names_in({moved.front()}), changed_by(source::scope(kept)))) break;
    kept.push_back(moved.front());
    moved.erase(moved.begin());
  }
  if (!moves_loop) return kernel.body;
  Block result(kernel.body.begin(), kernel.body.begin() + static_cast<std::ptrdiff_t>(at));
  result.insert(result.end(), kept.begin(), kept.end());
  moved.insert(moved.end(), guard->body.begin(), guard->body.end());
  result.push_back(source::branch(guard->condition, std::move(moved), {}, guard->line));
  return result;
}

}  // namespace regraph::rewrite
