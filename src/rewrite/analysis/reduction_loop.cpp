#include "rewrite/analysis/reduction_loop.h"

#include "rewrite/analysis/mentions.h"
#include "rewrite/analysis/reduction_update.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/kernel_state.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Assignment;
using source::Block;
using source::Branch;
using source::Declaration;
using source::ForLoop;
using source::is;
using source::Scope;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;
using source::to;
using source::VariableReference;

namespace {

class EffectCollector {
 public:
  EffectCollector(const ForLoop& loop, const Analysis& analysis)
      : loop_(loop), analysis_(analysis), inside_(source::declared_names(loop.body)) {}

  Result<LoopEffects> collect() {
    if (Status status = block(loop_.body); !status) return status.error();
    for (const std::string& name : carried_) {
      if (is_read_elsewhere(name)) effects_.running.insert(name);
    }
    return effects_;
  }

 private:
  std::string where() const { return loop_named(loop_); }

  Status block(const Block& statements) {
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (const auto found = match_selection(statements, i, inside_, analysis_)) {
        if (Status status = add(*found); !status) return status;
        i += found->statements.size() - 1;
        continue;
      }
      if (Status status = statement(*statements[i]); !status) return status;
    }
    return {};
  }

  Status statement(const Stmt& stmt) {
    switch (stmt.kind()) {
      case StmtKind::declaration:
        if (to<Declaration>(stmt).variable.storage != source::Storage::automatic) {
          return refuse(where() + "it declares shared memory");
        }
        return {};
      case StmtKind::assignment:
        return assignment(to<Assignment>(stmt));
      case StmtKind::branch: {
        const auto& branch = to<Branch>(stmt);
        if (const auto reduction = guarded_reduction_of(branch, inside_, analysis_))
          return add(*reduction, &stmt);
        if (Status status = block(branch.body); !status) return status;
        return block(branch.otherwise);
      }
      case StmtKind::for_loop: {
        const auto& loop = to<ForLoop>(stmt);
        if (const auto* init = as<Assignment>(loop.init)) {
          if (Status status = assignment(*init); !status) return status;
        }
        return block(loop.body);
      }
      case StmtKind::scope:
        return block(to<Scope>(stmt).body);
      default:
        return refuse(where() +
                      "it holds a barrier, a jump, a while loop or a call for its effect");
    }
  }

  Status assignment(const Assignment& stmt) {
    const auto* base = source::base_variable(*stmt.target);
    if (base == nullptr) {
      std::set<std::string> names = source::variables_of(stmt.target);
      const bool is_private = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return inside_.contains(name) && !is_pointer(name);
      });
      if (is_private) return {};
      return refuse(where() + "it assigns to something that is no variable or array element");
    }
    if (is_pointer(base->name) && !is<VariableReference>(stmt.target))
      return refuse(where() + "it writes through the pointer '" + base->name + "'");
    if (inside_.contains(base->name)) return {};
    if (analysis_.is_global_pointer(base->name)) {
      effects_.stored.insert(base->name);
      return {};
    }
    const source::Variable* variable = analysis_.local(base->name);
    if (!is<VariableReference>(stmt.target) || variable == nullptr || !variable->scalar ||
        variable->is_pointer) {
      return refuse(where() + "it changes '" + base->name + "', which later iterations may read");
    }
    const auto reduction = reduction_of(stmt, *variable);
    if (!reduction) {
      return refuse(where() + "'" + base->name +
                    "' carries a value from one iteration to the next");
    }
    return add(*reduction, &stmt);
  }

  // A local one, of which it is not said where it leads.
  bool is_pointer(const std::string& name) const {
    const source::Variable* variable = analysis_.local(name);
    return variable != nullptr && variable->is_pointer;
  }

  Status add(const Reduction& reduction, const Stmt* stmt) {
    const bool shuffles =
        reduction.scalar == ScalarType::f32 || reduction.scalar == ScalarType::f64 ||
        reduction.scalar == ScalarType::i32 || reduction.scalar == ScalarType::u32 ||
        reduction.scalar == ScalarType::i64 || reduction.scalar == ScalarType::u64;
    if (!shuffles) {
      return refuse(where() + "'" + reduction.variable + "' has type " + reduction.type +
                    ", for which partial results are not supported");
    }
    effects_.updates[stmt].insert(reduction.variable);
    for (const Reduction& known : effects_.reductions) {
      if (known.variable != reduction.variable) continue;
      if (known.same_operation(reduction)) return {};
      return refuse(different(reduction.variable));
    }
    if (!carried_.insert(reduction.variable).second) return refuse(different(reduction.variable));
    effects_.reductions.push_back(reduction);
    return {};
  }

  Status add(const SelectionMatch& match) {
    const Selection& selection = match.selection;
    std::set<std::string> names;
    for (const Selection::Carried& carried : selection.carried())
      names.insert(carried.variable);
    names.insert(match.temporaries.begin(), match.temporaries.end());
    for (const source::Stmt* stmt : match.statements)
      effects_.updates[stmt] = names;
    for (Selection& known : effects_.selections) {
      if (!known.same_operation(selection)) continue;
      known.updates.push_back(selection.updates.front());
      carried_.insert(names.begin(), names.end());
      return {};
    }
    for (const std::string& name : names) {
      if (!carried_.insert(name).second) return refuse(different(name));
    }
    effects_.selections.push_back(selection);
    return {};
  }

  std::string different(const std::string& name) const {
    return where() + "'" + name + "' is updated by different operations";
  }

  // Also by the update of another, `sum += power * x; power *= y;`, or to ask for the loop's end.
  bool is_read_elsewhere(const std::string& name) const {
    bool found = is_mentioned(loop_.condition, name);
    std::function<void(const Block&)> visit = [&](const Block& statements) {
      for (const StmtPtr& stmt : statements) {
        const auto update = effects_.updates.find(stmt.get());
        if (update != effects_.updates.end() && update->second.contains(name)) continue;
        source::for_each_header(*stmt, [&](const StmtPtr& part) {
          found =
              found || is_mentioned(value_of(*part), name) || is_mentioned(target_of(*part), name);
        });
        found =
            found || is_mentioned(value_of(*stmt), name) || is_mentioned(target_of(*stmt), name);
        visit(body_of(*stmt));
        visit(otherwise_of(*stmt));
      }
    };
    visit(loop_.body);
    return found;
  }

  const ForLoop& loop_;
  const Analysis& analysis_;
  std::set<std::string> inside_;
  std::set<std::string> carried_;  // what updates read
  LoopEffects effects_;
};

}  // namespace

Result<LoopEffects> running_effects_of(const ForLoop& loop, const Analysis& analysis) {
  return EffectCollector(loop, analysis).collect();
}

Result<LoopEffects> effects_of(const ForLoop& loop, const Analysis& analysis) {
  auto effects = running_effects_of(loop, analysis);
  if (!effects || effects->running.empty()) return effects;
  return refuse(loop_named(loop) + "'" + *effects->running.begin() +
                "' is read before the loop is over");
}

}  // namespace regraph::rewrite
