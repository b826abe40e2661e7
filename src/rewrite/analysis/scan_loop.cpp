#include "rewrite/analysis/scan_loop.h"

#include "affine/guarded_access.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Elements that an iteration of a loop may read ahead and keep in registers.

// Registers are few: elements of an iteration that are kept, at most.
constexpr std::size_t kMostLoads = 4;

bool holds(const std::vector<ExprPtr>& terms, const ExprPtr& term) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const ExprPtr& other) { return equal(term, other); });
}

class LoadFinder {
 public:
  LoadFinder(const ForLoop& loop, const Kernel& kernel, const Analysis& analysis)
      : loop_(loop), kernel_(kernel), analysis_(analysis) {
    changing_ = declared_names(loop.body);
    counter_ = loop.declaration()->variable.name;
    changing_.insert(counter_);
    changing_.merge(changed_names(loop.body));
  }

  std::vector<HeldLoad> find(const Block& part) {
    for_each_guarded_access(part, [&](const GuardedAccess& access) {
      if (access.is_store) return;
      const ExprPtr node = std::make_shared<Subscript>(*access.access);
      const auto known = std::find_if(loads_.begin(), loads_.end(), [&](const HeldLoad& load) {
        return equal(load.access, node);
      });
      if (!is_steady(access.guards)) return;
      if (known == loads_.end()) {
        if (auto load = load_of(node, *access.access)) {
          load->guards = access.guards;
          loads_.push_back(std::move(*load));
        }
      } else if (access.guards.size() < known->guards.size()) {
        known->guards = access.guards;
      }
    });
    // Elsewhere an element may be used under more conditions, not under others.
    for_each_guarded_access(loop_.body, [&](const GuardedAccess& access) {
      const ExprPtr node = std::make_shared<Subscript>(*access.access);
      std::erase_if(loads_, [&](const HeldLoad& load) {
        return equal(load.access, node) &&
               !std::all_of(load.guards.begin(), load.guards.end(),
                            [&](const ExprPtr& guard) { return holds(access.guards, guard); });
      });
    });
    if (loads_.size() > kMostLoads) loads_.resize(kMostLoads);
    return loads_;
  }

 private:
  std::optional<HeldLoad> load_of(const ExprPtr& node, const Subscript& access) const {
    const auto* base = as<VariableReference>(access.base);
    const auto* parameter = base != nullptr ? kernel_.parameter(base->name) : nullptr;
    if (parameter == nullptr || !parameter->is_pointer || !parameter->scalar ||
        analysis_.is_viewed(base->name)) {
      return std::nullopt;
    }
    const ExprPtr index = steady_index(access.index);
    if (!index) return std::nullopt;
    const ExprPtr load =
        with_type(element(variable(base->name, parameter->scalar), {index}), parameter->scalar);
    return HeldLoad{node, load, {}, parameter->type, *parameter->scalar};
  }

  // The index in the counter and names that the loop leaves alone; null where there is none.
  ExprPtr steady_index(const ExprPtr& index) const {
    if (is_known(index)) return index;
    const auto polynomial = analysis_.polynomial(index);
    if (!polynomial) return nullptr;
    const bool is_wide = index->type && size_in_bytes(*index->type) == sizeof(std::int64_t);
    ExprPtr written_out = to_expression(*polynomial, is_wide);
    return is_known(written_out) ? written_out : nullptr;
  }

  bool is_known(const ExprPtr& expr) const {
    if (analysis_.reads_memory(expr)) return false;
    const std::set<std::string> names = variables_of(expr);
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == counter_ || !changing_.contains(name);
    });
  }

  bool is_steady(const std::vector<ExprPtr>& guards) const {
    return std::all_of(guards.begin(), guards.end(), [&](const ExprPtr& guard) {
      return is_known(guard) && !variables_of(guard).contains(counter_);
    });
  }

  const ForLoop& loop_;
  const Kernel& kernel_;
  const Analysis& analysis_;
  std::string counter_;
  std::set<std::string> changing_;  // names whose values iterations change
  std::vector<HeldLoad> loads_;
};

// The elements of global arrays that `part`, some statements of the loop's body, reads in every
// iteration, or in all where a condition holds that no iteration changes. Their places follow from
// the loop's counter and from what is known before the loop. Where the loop stores to such an
// array, it must read first.
std::vector<HeldLoad> held_loads(const Block& part, const ForLoop& loop, const Kernel& kernel,
                                 const Analysis& analysis) {
  return LoadFinder(loop, kernel, analysis).find(part);
}

void insert(const std::set<std::string>& names, std::set<std::string>& into) {
  into.insert(names.begin(), names.end());
}

// Names in what the statement itself reads; of a loop in its header.
std::set<std::string> names_read(const Stmt& stmt) {
  std::set<std::string> names = variables_of(value_of(stmt));
  for_each_header(stmt, [&](const StmtPtr& part) {
    insert(variables_of(value_of(*part)), names);
    insert(variables_of(target_of(*part)), names);
  });
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr) return names;
  for (const ExprPtr& index : indices_of(*assignment->target))
    insert(variables_of(index), names);
  const auto* base = place_variable(*assignment->target);
  if (base != nullptr && assignment->op != AssignmentOperator::assign) names.insert(base->name);
  return names;
}

// Names in the statement and its blocks.
std::set<std::string> all_names(const StmtPtr& stmt) {
  std::set<std::string> names;
  walk(Block{stmt}, [&](const Stmt& part) {
    insert(variables_of(value_of(part)), names);
    insert(variables_of(target_of(part)), names);
  });
  return names;
}

class ScanFinder {
 public:
  ScanFinder(const ForLoop& loop, const LoopEffects& effects, const Kernel& kernel,
             const Analysis& analysis)
      : loop_(loop), effects_(effects), kernel_(kernel), analysis_(analysis) {}

  Result<ScanLoop> find() {
    if (!effects_.selections.empty())
      return refuse(where() + "it looks for a best value, and uses what it has found so far");
    if (Status status = require_own_places(); !status) return status.error();
    for (const Reduction& reduction : effects_.reductions)
      following_.insert(reduction.variable);
    if (share_a_name(variables_of(loop_.condition), following_))
      return refuse(where() + "where it ends follows from what it accumulates");
    until_complete(following_, [&] { follow(loop_.body, false); });
    if (Status status = require_own_terms(loop_.body, false); !status) return status.error();
    std::set<std::string> written;
    if (Status status = require_reads_first(loop_.body, written); !status) return status.error();
    ScanLoop result;
    until_complete(needed_, [&] { result.terms = terms(loop_.body); });
    result.loads = held_loads(result.terms, loop_, kernel_, analysis_);
    return result;
  }

 private:
  std::string where() const { return loop_named(loop_); }

  template <typename Round>
  static void until_complete(const std::set<std::string>& names, const Round& round) {
    for (std::optional<std::size_t> before; before != names.size();) {
      before = names.size();
      round();
    }
  }

  // What is given away may be changed by somebody else.
  Status require_own_places() const {
    std::string given;
    walk_expressions(loop_.body, [&](const Expr& expr) {
      for_each_passed_place(expr, [&](const Expr& place) {
        const auto* base = place_variable(place);
        if (base != nullptr && !analysis_.is_global_pointer(base->name)) given = base->name;
      });
    });
    if (given.empty()) return {};
    return refuse(where() + "the address of '" + given + "' is given away");
  }

  // Notes the names whose values follow from running values, other than accumulators.
  void follow(const Block& block, bool is_decided) {
    for (const StmtPtr& stmt : block) {
      if (effects_.updates.contains(stmt.get())) continue;
      const bool follows = share_a_name(names_read(*stmt), following_);
      if (const auto* declaration = as<Declaration>(stmt)) {
        if (follows) following_.insert(declaration->variable.name);
      } else if (const auto* assignment = as<Assignment>(stmt)) {
        const auto* base = place_variable(*assignment->target);
        const bool is_local = base != nullptr && analysis_.local(base->name) != nullptr;
        if (is_local && (follows || is_decided)) following_.insert(base->name);
      }
      for_each_header(*stmt, [&](const StmtPtr& part) {
        const auto* declaration = as<Declaration>(part);
        const auto* target = as<VariableReference>(target_of(*part));
        if (follows && declaration != nullptr) following_.insert(declaration->variable.name);
        if (follows && target != nullptr) following_.insert(target->name);
      });
      follow(body_of(*stmt), is_decided || follows);
      follow(otherwise_of(*stmt), is_decided || follows);
    }
  }

  // Whether no update asks for a running value, but that which it updates.
  Status require_own_terms(const Block& block, bool is_decided) const {
    for (const StmtPtr& stmt : block) {
      const auto update = effects_.updates.find(stmt.get());
      if (update == effects_.updates.end()) {
        const bool decides = is_decided || share_a_name(names_read(*stmt), following_);
        for (const Block* below : {&body_of(*stmt), &otherwise_of(*stmt)}) {
          if (Status status = require_own_terms(*below, decides); !status) return status;
        }
        continue;
      }
      std::set<std::string> others = all_names(stmt);
      for (const std::string& own : update->second)
        others.erase(own);
      if (is_decided || share_a_name(others, following_)) {
        return refuse(where() + "what is added to '" + *update->second.begin() +
                      "' follows from what was accumulated before");
      }
    }
    return {};
  }

  // Whether an iteration reads no array after it has stored to it: what it has stored is not there
  // yet when its terms are computed.
  Status require_reads_first(const Block& block, std::set<std::string>& written) const {
    for (const StmtPtr& stmt : block) {
      for (const std::string& name : names_read(*stmt)) {
        if (written.contains(name))
          return refuse(where() + "an iteration reads '" + name + "' after it has written it");
      }
      if (const auto* assignment = as<Assignment>(stmt)) {
        const auto* base = base_variable(*assignment->target);
        if (base != nullptr && effects_.stored.contains(base->name)) written.insert(base->name);
      }
      // An inner loop comes back to its beginning.
      for (int pass = 0; pass < (is<ForLoop>(stmt) ? 2 : 1); ++pass) {
        if (Status status = require_reads_first(body_of(*stmt), written); !status) return status;
      }
      if (Status status = require_reads_first(otherwise_of(*stmt), written); !status) return status;
    }
    return {};
  }

  // The statements that update accumulators and those that they need.
  Block terms(const Block& block) {
    Block result;
    for (const StmtPtr& stmt : block) {
      if (effects_.updates.contains(stmt.get())) {
        insert(all_names(stmt), needed_);
        result.push_back(stmt);
        continue;
      }
      if (leads_to_needed(*stmt)) {
        insert(names_read(*stmt), needed_);
        result.push_back(stmt);
        continue;
      }
      Block body = terms(body_of(*stmt));
      Block otherwise = terms(otherwise_of(*stmt));
      if (body.empty() && otherwise.empty()) continue;
      insert(names_read(*stmt), needed_);
      result.push_back(with_blocks(stmt, std::move(body), std::move(otherwise)));
    }
    return result;
  }

  bool leads_to_needed(const Stmt& stmt) const {
    if (const auto* declaration = as<Declaration>(stmt))
      return needed_.contains(declaration->variable.name);
    const auto* assignment = as<Assignment>(stmt);
    const auto* base = assignment != nullptr ? place_variable(*assignment->target) : nullptr;
    return base != nullptr && analysis_.local(base->name) != nullptr &&
           needed_.contains(base->name);
  }

  const ForLoop& loop_;
  const LoopEffects& effects_;
  const Kernel& kernel_;
  const Analysis& analysis_;
  std::set<std::string> following_;  // names of values that follow from running ones
  std::set<std::string> needed_;     // names that updates ask for
};

}  // namespace

Result<ScanLoop> scan_of(const ForLoop& loop, const LoopEffects& effects, const Kernel& kernel,
                         const Analysis& analysis) {
  return ScanFinder(loop, effects, kernel, analysis).find();
}

}  // namespace regraph::rewrite
