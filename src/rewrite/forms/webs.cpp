#include "rewrite/forms/webs.h"

#include "rewrite/forms/ir.h"
#include "rewrite/forms/liveness.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// Which scalars can be declared where they get a value.

// The variable that the statement gives a value that does not depend on its old one, by declaring
// or assigning it; null for all others. Valid as long as the statement.
const std::string* defined_by(const Stmt& stmt) {
  if (const auto* declaration = as<Declaration>(stmt))
    return declaration->value ? &declaration->variable.name : nullptr;
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr || assignment->op != AssignmentOperator::assign) return nullptr;
  const auto* target = as<VariableReference>(assignment->target);
  if (target == nullptr || mentions_of(target->name, assignment->value) > 0) return nullptr;
  return &target->name;
}

// The counter that the loop's header assigns first; null where it declares one or has none.
const std::string* counter_of(const Stmt& stmt) {
  const auto* loop = as<ForLoop>(stmt);
  const bool assigns = loop != nullptr && is<Assignment>(loop->init);
  return assigns ? defined_by(*loop->init) : nullptr;
}

// Scalars of the block that are declared without a value or assigned anew, by name: only they can
// hold several values that have nothing to do with each other. With them what a loop advances whose
// header has no first value. Not those whose address is taken.
class CandidateFinder final : public Visitor {
 public:
  std::map<std::string, Variable> find(const Block& body) {
    go(body);
    std::map<std::string, Variable> result;
    for (auto& [name, variable] : declared_) {
      if (wanted_.contains(name) && !unfit_.contains(name)) result.emplace(name, variable);
    }
    return result;
  }

 private:
  void visit(const Declaration& stmt) override {
    const Variable& variable = stmt.variable;
    const bool fits = variable.extents.empty() && variable.storage == Storage::automatic &&
                      (variable.scalar || zero_value(variable.type, std::nullopt)) &&
                      variable.type.find("volatile") == std::string::npos;
    if (!fits) unfit_.insert(variable.name);
    const auto [entry, is_new] = declared_.emplace(variable.name, variable);
    if (!is_new && entry->second.type != variable.type) unfit_.insert(variable.name);
    if (!stmt.value) wanted_.insert(variable.name);
    Visitor::visit(stmt);
  }
  void visit(const Assignment& stmt) override {
    if (const std::string* name = defined_by(stmt)) wanted_.insert(*name);
    Visitor::visit(stmt);
  }
  void visit(const ForLoop& stmt) override {
    const auto* counter =
        !stmt.init && stmt.step ? as<VariableReference>(target_of(*stmt.step)) : nullptr;
    if (counter != nullptr) wanted_.insert(counter->name);
    Visitor::visit(stmt);
  }
  void visit(const Unary& expr) override {
    const ExprPtr place = addressed(expr);
    if (const auto* base = place ? base_variable(*place) : nullptr) unfit_.insert(base->name);
    if (place && base_variable(*place) == nullptr) {
      for (const std::string& name : variables_of(place))
        unfit_.insert(name);
    }
    Visitor::visit(expr);
  }
  void visit(const Call& expr) override {
    // An unknown function may take a reference.
    const bool known = is_pure_function(expr.function) || is_warp_intrinsic(expr.function) ||
                       is_atomic(expr.function);
    for (const ExprPtr& argument : expr.arguments) {
      const auto* variable = as<VariableReference>(argument);
      if (!known && variable != nullptr) unfit_.insert(variable->name);
    }
    Visitor::visit(expr);
  }

  std::map<std::string, Variable> declared_;
  std::set<std::string> wanted_;
  std::set<std::string> unfit_;
};

// Moves what sets a counter into the header of the loop that follows, where that has none:
//   int k = 0; for (; k < n; ++k)   becomes   int k; for (k = 0; k < n; ++k)
class CounterMover final : public Mutator {
 public:
  CounterMover(const std::map<std::string, Variable>& candidates, const Liveness& live)
      : candidates_(candidates), live_(live) {}

  using Mutator::run;
  [[nodiscard]] Block run(const Block& block) override {
    Block result = Mutator::run(block);
    for (std::size_t position = 1; position < result.size(); ++position) {
      const auto* loop = as<ForLoop>(result[position]);
      const auto* step = loop != nullptr && !loop->init ? loop->advance() : nullptr;
      const auto* counter = step != nullptr ? as<VariableReference>(step->target) : nullptr;
      if (counter == nullptr || !candidates_.contains(counter->name) ||
          live_.is_live_after(*block[position], counter->name)) {
        continue;
      }
      move_into(result, position, counter->name);
    }
    std::erase(result, nullptr);
    return result;
  }

 private:
  void move_into(Block& block, std::size_t position, const std::string& counter) const {
    std::set<std::string> changed;
    bool writes_memory = false;
    bool is_read = false;  // in between
    for (std::size_t at = position; at-- > 0;) {
      const StmtPtr stmt = block[at];
      if (!stmt) continue;
      const std::string* defined = defined_by(*stmt);
      if (defined != nullptr && *defined == counter) {
        const ExprPtr value = value_of(*stmt);
        const std::set<std::string> used = variables_of(value);
        const bool same = std::none_of(used.begin(), used.end(), [&](const std::string& name) {
          return changed.contains(name);
        });
        if (!same || !is_computation(value) || (writes_memory && reads_memory(value))) return;
        if (is_read && reads_memory(value)) return;
        auto loop = std::make_shared<ForLoop>(to<ForLoop>(block[position]));
        auto init =
            std::make_shared<Assignment>(source::variable(counter, candidates_.at(counter).scalar),
                                         AssignmentOperator::assign, value);
        init->line = stmt->line;
        loop->init = std::move(init);
        block[position] = std::move(loop);
        // Else the loop counts from the same value in a variable of its own.
        if (!is_read) {
          block[at] = is<Assignment>(stmt) ? nullptr : declare(candidates_.at(counter), nullptr);
        }
        return;
      }
      // Only plain statements in between, which leave the counter alone.
      if (!is<Declaration>(stmt) && !is<Assignment>(stmt)) return;
      if (variables_of(target_of(*stmt)).contains(counter)) return;
      is_read = is_read || variables_of(value_of(*stmt)).contains(counter);
      if (const auto* declaration = as<Declaration>(stmt))
        changed.insert(declaration->variable.name);
      if (const ExprPtr& target = target_of(*stmt)) {
        const std::set<std::string> names = variables_of(target);
        changed.insert(names.begin(), names.end());
        writes_memory = writes_memory || !is<VariableReference>(target);
      }
      writes_memory = writes_memory || !is_computation(value_of(*stmt));
    }
  }

  static bool reads_memory(const ExprPtr& value) {
    return any_expression(value,
                          [&](const Expr& node) { return is<Subscript>(node) || is<Call>(node); });
  }

  const std::map<std::string, Variable>& candidates_;
  const Liveness& live_;
};

// Gives every web a name of its own: the variable's, a dollar sign and a number.
class Splitter {
 public:
  Splitter(const std::map<std::string, Variable>& candidates, const Liveness& live)
      : candidates_(candidates), live_(live) {}

  Block run(const Block& block) { return split(block, {}); }

 private:
  using NewNames = std::map<std::string, std::string>;  // variable -> name of its web

  Block split(const Block& block, const NewNames& outer) {
    Block result;
    NewNames names = outer;
    for (std::size_t position = 0; position < block.size(); ++position) {
      const StmtPtr& stmt = block[position];
      if (is_dead(*stmt)) continue;
      const std::string* variable = newly_defined(*stmt);
      if (variable == nullptr) {
        result.push_back(inside(stmt, names));
        continue;
      }
      // A web that ended has no say in what follows.
      const ExprPtr value = rewrite_expr(value_of(*stmt), renaming(names));
      names.erase(*variable);
      if (const auto before = outer.find(*variable); before != outer.end()) names.insert(*before);
      if (!is<ForLoop>(stmt) && is_own_web(block, position, *variable)) {
        names[*variable] = next_name(*variable);
        result.push_back(declaration(*stmt, *variable, names[*variable], value));
      } else {
        result.push_back(inside(stmt, names));
      }
    }
    return result;
  }

  // The candidate that the statement, or the header of a loop, gives a value of its own; else null.
  const std::string* newly_defined(const Stmt& stmt) const {
    const std::string* variable = is<ForLoop>(stmt) ? counter_of(stmt) : defined_by(stmt);
    return variable != nullptr && candidates_.contains(*variable) ? variable : nullptr;
  }

  StmtPtr inside(const StmtPtr& stmt, NewNames names) {
    StmtPtr own = with_blocks(stmt, {}, {});
    if (const std::string* counter = counter_of(*stmt); counter != nullptr &&
                                                        candidates_.contains(*counter) &&
                                                        !live_.is_live_after(*stmt, *counter)) {
      const StmtPtr& init = to<ForLoop>(stmt).init;
      names[*counter] = next_name(*counter);
      auto loop = std::make_shared<ForLoop>(to<ForLoop>(own));
      loop->init = declaration(*init, *counter, names[*counter], value_of(*init));
      own = std::move(loop);
    }
    own = rewrite_expressions({own}, renaming(names)).front();
    return with_blocks(own, split(body_of(*stmt), names), split(otherwise_of(*stmt), names));
  }

  // A value of a candidate that nobody reads.
  bool is_dead(const Stmt& stmt) const {
    const auto* declaration = as<Declaration>(stmt);
    const auto* target = as<VariableReference>(target_of(stmt));
    if (target == nullptr && (declaration == nullptr || !declaration->value)) return false;
    const std::string& name = declaration != nullptr ? declaration->variable.name : target->name;
    if (!candidates_.contains(name) || live_.is_live_after(stmt, name)) return false;
    // Where its name is used further, so is the declaration.
    return declaration == nullptr && is_computation(value_of(stmt));
  }

  // Whether all that reads the value stands in this block, before the next one.
  bool is_own_web(const Block& block, std::size_t position, const std::string& name) const {
    std::size_t end = position;
    do {
      if (jumps_away(block[end], name)) return false;
      ++end;
    } while (end < block.size() && !starts_anew(*block[end], name));
    return end < block.size() || !live_.is_live_after(*block.back(), name);
  }

  bool starts_anew(const Stmt& stmt, const std::string& name) const {
    const std::string* defined = newly_defined(stmt);
    return defined != nullptr && *defined == name;
  }

  // Whether a jump takes the value along, out of the statement.
  bool jumps_away(const StmtPtr& stmt, const std::string& name) const {
    if (is<Jump>(stmt)) return live_.is_live_after(*stmt, name);
    if (is<ForLoop>(stmt) || is<WhileLoop>(stmt)) return false;  // theirs end there
    const auto leaves = [&](const StmtPtr& inner) { return jumps_away(inner, name); };
    const Block& body = body_of(*stmt);
    const Block& otherwise = otherwise_of(*stmt);
    return std::any_of(body.begin(), body.end(), leaves) ||
           std::any_of(otherwise.begin(), otherwise.end(), leaves);
  }

  StmtPtr declaration(const Stmt& from, const std::string& variable, const std::string& name,
                      ExprPtr value) const {
    const auto* before = as<Declaration>(from);
    Variable declared = before != nullptr ? before->variable : candidates_.at(variable);
    declared.name = name;
    auto result = std::make_shared<Declaration>(std::move(declared), std::move(value));
    result->line = from.line;
    return result;
  }

  std::string next_name(const std::string& variable) {
    return variable + "$" + std::to_string(++counts_[variable]);
  }

  const std::map<std::string, Variable>& candidates_;
  const Liveness& live_;
  std::map<std::string, int> counts_;
};

// Writes the names that webs get in the end, and drops declarations that nothing needs any more.
class Namer final : public Mutator {
 public:
  Namer(const Kernel& kernel, const std::map<std::string, Variable>& candidates, const Block& body)
      : candidates_(candidates), needed_(variables_of(body)), changed_(changed_names(body)) {
    walk(body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && !is_computation(declaration->value))
        needed_.insert(declaration->variable.name);
      const auto* loop = as<ForLoop>(stmt);
      const auto* counter = loop != nullptr ? loop->declaration() : nullptr;
      if (counter != nullptr) changed_.insert(counter->variable.name);
    });
    Names taken(kernel, "_");
    std::set<std::string> kept;  // by their first web
    for (const std::string& name : declared_names(body)) {
      const std::size_t mark = name.find('$');
      if (mark == std::string::npos) continue;
      const std::string stem = name.substr(0, mark);
      if (!needed_.contains(stem) && needed_.contains(name) && kept.insert(stem).second) {
        names_[name] = stem;
        continue;
      }
      names_[name] = taken.fresh(stem);
    }
  }

 private:
  using Mutator::mutate;

  void append(const StmtPtr& stmt, Block& out) override {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration != nullptr && !is_needed(*declaration)) return;
    out.push_back(run(stmt));
  }

  bool is_needed(const Declaration& declaration) const {
    const std::string& name = declaration.variable.name;
    const bool is_web = name.find('$') != std::string::npos;
    if (!is_web && !candidates_.contains(name)) return true;
    return needed_.contains(name);
  }

  ExprPtr mutate(const ExprPtr& expr, const VariableReference& variable) override {
    const auto found = names_.find(variable.name);
    return found != names_.end() ? source::variable(found->second, variable.type) : expr;
  }

  StmtPtr mutate(const StmtPtr& stmt, const Declaration& declaration) override {
    const auto found = names_.find(declaration.variable.name);
    if (found == names_.end()) return Mutator::mutate(stmt, declaration);
    auto copy = std::make_shared<Declaration>(declaration);
    copy->variable.name = found->second;
    copy->variable.is_const =
        copy->variable.is_const ||
        (!changed_.contains(declaration.variable.name) && !copy->variable.is_pointer);
    copy->value = run(declaration.value);
    return copy;
  }

  const std::map<std::string, Variable>& candidates_;
  std::set<std::string> needed_;   // mentioned, or declared with what has to be computed
  std::set<std::string> changed_;  // besides where it is declared, and counters of loops
  std::map<std::string, std::string> names_;
};

std::vector<std::string> names_of(const std::map<std::string, Variable>& candidates) {
  std::vector<std::string> names;
  names.reserve(candidates.size());
  for (const auto& [name, variable] : candidates)
    names.push_back(name);
  return names;
}

}  // namespace

Kernel with_webs_declared(const Kernel& kernel) {
  const std::map<std::string, Variable> candidates = CandidateFinder().find(kernel.body);
  if (candidates.empty()) return kernel;
  const std::vector<std::string> names = names_of(candidates);
  Kernel result = kernel;
  result.body = CounterMover(candidates, Liveness(kernel.body, names)).run(kernel.body);
  const Liveness live(result.body, names);
  result.body = Splitter(candidates, live).run(result.body);
  result.body = Namer(kernel, candidates, result.body).run(result.body);
  return result;
}

}  // namespace regraph::rewrite
