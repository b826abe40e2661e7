#include "rewrite/analysis/scan_loop.h"

#include "rewrite/analysis/held_loads.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/kernel_state.h"
#include "source/walk.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Block;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::ForLoop;
using source::Kernel;
using source::Stmt;
using source::StmtPtr;

namespace {

void insert(const std::set<std::string>& names, std::set<std::string>& into) {
  into.insert(names.begin(), names.end());
}

// Names in what the statement itself reads; of a loop in its header.
std::set<std::string> names_read(const Stmt& stmt) {
  std::set<std::string> names = source::variables_of(value_of(stmt));
  source::for_each_header(stmt, [&](const StmtPtr& part) {
    insert(source::variables_of(value_of(*part)), names);
    insert(source::variables_of(target_of(*part)), names);
  });
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr) return names;
  for (const ExprPtr& index : source::indices_of(*assignment->target))
    insert(source::variables_of(index), names);
  const auto* base = source::place_variable(*assignment->target);
  if (base != nullptr && assignment->op != AssignmentOperator::assign) names.insert(base->name);
  return names;
}

// Names in the statement and its blocks.
std::set<std::string> all_names(const StmtPtr& stmt) {
  std::set<std::string> names;
  source::walk(Block{stmt}, [&](const Stmt& part) {
    insert(source::variables_of(value_of(part)), names);
    insert(source::variables_of(target_of(part)), names);
  });
  return names;
}

bool share_a_name(const std::set<std::string>& names, const std::set<std::string>& others) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return others.contains(name); });
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
    if (share_a_name(source::variables_of(loop_.condition), following_))
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
    source::walk_expressions(loop_.body, [&](const Expr& expr) {
      source::for_each_passed_place(expr, [&](const Expr& place) {
        const auto* base = source::place_variable(place);
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
        const auto* base = source::place_variable(*assignment->target);
        const bool is_local = base != nullptr && analysis_.local(base->name) != nullptr;
        if (is_local && (follows || is_decided)) following_.insert(base->name);
      }
      source::for_each_header(*stmt, [&](const StmtPtr& part) {
        const auto* declaration = as<Declaration>(part);
        const auto* target = as<source::VariableReference>(target_of(*part));
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
        const auto* base = source::base_variable(*assignment->target);
        if (base != nullptr && effects_.stored.contains(base->name)) written.insert(base->name);
      }
      // An inner loop comes back to its beginning.
      for (int pass = 0; pass < (source::is<ForLoop>(stmt) ? 2 : 1); ++pass) {
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
      result.push_back(source::with_blocks(stmt, std::move(body), std::move(otherwise)));
    }
    return result;
  }

  bool leads_to_needed(const Stmt& stmt) const {
    if (const auto* declaration = as<Declaration>(stmt))
      return needed_.contains(declaration->variable.name);
    const auto* assignment = as<Assignment>(stmt);
    const auto* base =
        assignment != nullptr ? source::place_variable(*assignment->target) : nullptr;
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
