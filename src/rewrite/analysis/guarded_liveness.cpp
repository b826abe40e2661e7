#include "rewrite/analysis/guarded_liveness.h"

#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <set>

namespace regraph::rewrite {

namespace {

class GuardedLiveness {
 public:
  GuardedLiveness(const Kernel& kernel, const Analysis& analysis,
                  const std::vector<ExprPtr>& guards)
      : kernel_(kernel), analysis_(analysis) {
    for (const ExprPtr& guard : guards) {
      guards_.insert(print(guard));
      for (const std::string& name : variables_of(guard)) {
        const bool is_fixed =
            analysis.local(name) == nullptr
                ? !analysis.is_written(name)
                : analysis.loop(name) == nullptr && analysis.is_single_definition(name);
        ask_the_thread_ = ask_the_thread_ && is_fixed;
      }
    }
  }

  bool ask(const ExprPtr& place) {
    const auto* base = base_variable(*place);
    if (base == nullptr || !is_register(base->name, analysis_)) return false;
    if (ask(kernel_.body, base->name, print(place), {})) return true;
    // Not of that element alone: of all of the array, where the guards ask nothing about elements.
    if (!ask_the_thread_) return false;
    is_whole_ = true;
    asked_.clear();
    return ask(kernel_.body, base->name, base->name, {});
  }

 private:
  // The register that the statement gives a value to; null for others.
  ExprPtr register_set_by(const Stmt& stmt) const {
    if (const auto* declaration = as<Declaration>(stmt))
      return source::variable(declaration->variable.name, declaration->variable.scalar);
    const ExprPtr& target = target_of(stmt);
    const auto* base = target ? base_variable(*target) : nullptr;
    return base != nullptr && is_register(base->name, analysis_) ? target : nullptr;
  }

  static bool mentions(const ExprPtr& expr, const std::string& name) {
    return expr && variables_of(expr).contains(name);
  }

  // Whether the array stands in the expression as that place alone.
  static bool reads_place_only(const ExprPtr& expr, const std::string& name,
                               const std::string& place) {
    bool only = true;
    (void)rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const auto* base = base_variable(*node);
      if (base == nullptr || base->name != name) return std::nullopt;
      only = only && print(node) == place;
      return node;
    });
    return only;
  }

  bool ask(const Block& block, const std::string& name, const std::string& place,
           const std::set<std::string>& held) {
    for (const StmtPtr& stmt : block) {
      std::set<std::string> inside = held;
      if (const auto* branch = as<Branch>(stmt)) {
        for (const ExprPtr& term : conjuncts(branch->condition))
          inside.insert(print(term));
      }
      const bool is_held = std::includes(held.begin(), held.end(), guards_.begin(), guards_.end());
      if (const ExprPtr& target = target_of(*stmt)) {
        for (const ExprPtr& index : indices_of(*target)) {
          if (mentions(index, name) && !is_held) return false;
        }
      }
      if (mentions(value_of(*stmt), name) && !is_fine(*stmt, name, place, is_held)) return false;
      if (!ask(body_of(*stmt), name, place, inside)) return false;
      if (!ask(otherwise_of(*stmt), name, place, held)) return false;
    }
    return true;
  }

  // Whether the statement, whose value reads the register, may see it.
  bool is_fine(const Stmt& stmt, const std::string& name, const std::string& place, bool is_held) {
    const ExprPtr set = register_set_by(stmt);
    const auto* own = set ? base_variable(*set) : nullptr;
    if (!is_whole_ && !reads_place_only(value_of(stmt), name, place)) return false;
    if (own != nullptr && own->name == name) return is_whole_ || print(set) == place;
    if (is_held) return true;
    if (own == nullptr) return false;
    const std::string next = is_whole_ ? own->name : print(set);
    const bool is_known = !asked_.insert(next).second;
    return is_known || ask(kernel_.body, own->name, next, {});
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::set<std::string> guards_;
  std::set<std::string> asked_;
  bool ask_the_thread_ = true;  // the guards: what they say is the same everywhere
  bool is_whole_ = false;       // arrays are asked about as if they were one register
};

// Adds the names that the block sets, but for those that it does under conditions.
void note_set_names(const Block& block, std::set<std::string>& names) {
  for (const StmtPtr& stmt : block) {
    if (const auto* declaration = as<Declaration>(stmt)) {
      if (declaration->value) names.insert(declaration->variable.name);
    } else if (const auto* assignment = as<Assignment>(stmt)) {
      const auto* base = base_variable(*assignment->target);
      const bool is_set = base != nullptr && assignment->op == AssignmentOperator::assign &&
                          !variables_of(assignment->value).contains(base->name);
      if (is_set) names.insert(base->name);
    } else if (!is<Branch>(stmt)) {
      note_set_names(body_of(*stmt), names);
    }
  }
}

}  // namespace

bool reads_set_registers(const Kernel& kernel, const Analysis& analysis, const ExprPtr& expr,
                         const std::set<std::string>& except) {
  std::set<std::string> set = except;
  note_set_names(kernel.body, set);
  for (const std::string& name : variables_of(expr)) {
    const bool is_counter = analysis.loop(name) != nullptr;
    if (is_register(name, analysis) && !is_counter && !set.contains(name)) return false;
  }
  return true;
}

bool is_register(const std::string& name, const Analysis& analysis) {
  const Variable* variable = analysis.local(name);
  return variable != nullptr && variable->storage == Storage::automatic && !variable->is_pointer;
}

bool is_live_only_under(const Kernel& kernel, const Analysis& analysis, const ExprPtr& place,
                        const std::vector<ExprPtr>& guards) {
  return GuardedLiveness(kernel, analysis, guards).ask(place);
}

}  // namespace regraph::rewrite
