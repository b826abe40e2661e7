#include "rewrite/transform/unused_values.h"

#include "source/known_functions.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::Block;
using source::Declaration;
using source::Expr;
using source::is;
using source::Stmt;
using source::StmtPtr;
using source::VariableReference;

namespace {

bool has_effects(const source::ExprPtr& value) {
  bool found = false;
  source::walk(value, [&](const Expr& part) {
    const auto* call = as<source::Call>(part);
    found = found || is<source::OpaqueExpression>(part) ||
            (call != nullptr && !source::is_pure(*call) && !call->function.starts_with("make_"));
  });
  return found;
}

// The variable that the statement gives a value, empty for others.
std::string given(const Stmt& stmt) {
  if (const auto* declaration = as<Declaration>(stmt)) {
    const source::Variable& variable = declaration->variable;
    const bool is_scalar =
        variable.extents.empty() && variable.storage == source::Storage::automatic;
    return is_scalar ? variable.name : "";
  }
  const auto* target = as<VariableReference>(target_of(stmt));
  return target != nullptr ? target->name : "";
}

class Dropper final : public source::Mutator {
 public:
  explicit Dropper(std::set<std::string> unused) : unused_(std::move(unused)) {}

 private:
  void append(const StmtPtr& stmt, Block& out) override {
    if (unused_.contains(given(*stmt))) return;
    const bool had_work = !body_of(*stmt).empty() || !otherwise_of(*stmt).empty();
    const StmtPtr kept = run(stmt);
    const bool is_container = is<source::Branch>(stmt) || is<source::Scope>(stmt);
    const bool is_empty = body_of(*kept).empty() && otherwise_of(*kept).empty();
    if (!(is_container && had_work && is_empty)) out.push_back(kept);
  }

  const std::set<std::string> unused_;
};

std::set<std::string> unused_in(const Block& body) {
  std::set<std::string> found;
  std::set<std::string> used;
  const auto note = [&](const source::ExprPtr& expr) {
    source::walk(expr, [&](const Expr& part) {
      if (const auto* variable = as<VariableReference>(part)) used.insert(variable->name);
    });
  };
  source::walk(body, [&](const Stmt& stmt) {
    const std::string name = given(stmt);
    if (name.empty()) {
      note(target_of(stmt));
    } else if (is<Declaration>(stmt)) {
      found.insert(name);
    }
    note(value_of(stmt));
    if (!name.empty() && has_effects(value_of(stmt))) used.insert(name);
    // Counters are used by their loops.
    source::for_each_header(stmt, [&](const StmtPtr& part) { used.insert(given(*part)); });
  });
  for (const std::string& name : used)
    found.erase(name);
  return found;
}

}  // namespace

Block without_unused_values(Block body) {
  while (true) {
    std::set<std::string> unused = unused_in(body);
    if (unused.empty()) return body;
    body = Dropper(std::move(unused)).run(body);
  }
}

}  // namespace regraph::rewrite
