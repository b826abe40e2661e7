#include "rewrite/transform/thread_serialisation.h"

#include "affine/varying.h"
#include "rewrite/analysis/block_row.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/exact_values.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/separate_trees.h"
#include "rewrite/forms/uses.h"
#include "rewrite/transform/exchanges_as_trees.h"
#include "rewrite/transform/row_launch.h"
#include "rewrite/transform/row_parts.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Memory that the threads of a block share. Without races between barriers, all of them read the
// same at one place between two barriers.
std::set<std::string> common_memory(const Kernel& kernel) {
  std::set<std::string> names;
  for (const KernelParameter& parameter : kernel.parameters)
    if (parameter.is_pointer) names.insert(parameter.name);
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration != nullptr && declaration->variable.storage == Storage::shared)
      names.insert(declaration->variable.name);
  });
  return names;
}

// What a thread keeps of a row: more would not stay in registers.
constexpr std::int64_t kMostKept = 256;

// What becomes of a row's elements.
struct ElementLoops {
  int unroll = kUnrollFully;
  std::int64_t most_kept = kMostKept;  // values of elements
};

class BlockSerialiser {
 public:
  BlockSerialiser(const KernelForm& form, const Dim3& block, bool has_distinct_buffers,
                  const ElementLoops& loops)
      : loops_(loops),
        kernel_(form.kernel),
        analysis_(form.analysis),
        block_(block),
        row_(form.analysis, block),
        has_distinct_buffers_(has_distinct_buffers),
        differing_(varying_names(form.kernel, kPlaceInRow, {}, common_memory(form.kernel))),
        names_(form.kernel),
        element_(names_.fresh("element")) {}

  Result<Block> run() {
    Block out;
    if (Status status = visit(kernel_.body, out); !status) return status.error();
    if (trees_.empty()) return refuse("no tree puts together what the threads of a block have");
    if (kept_ > loops_.most_kept) {
      return refuse("a thread would keep " + std::to_string(kept_) + " values of a row");
    }
    return out;
  }

  [[nodiscard]] const std::vector<Reduction>& reductions() const { return trees_; }

 private:
  Status visit(const Block& block, Block& out) {
    const TreeTotals totals = totals_;
    for (std::size_t at = 0; at < block.size(); ++at) {
      const auto* store = as<Assignment>(block[at]);
      if (store != nullptr && row_.is_own_slot(*store->target)) {
        if (Status status = take_tree(block, at, out); !status) return status;
        at += 2;
        continue;
      }
      const auto* declared = as<Declaration>(block[at]);
      if (declared != nullptr && is_written_out(*declared, block, at)) {
        written_out_.insert(declared->variable.name);
        continue;
      }
      if (Status status = visit(block[at], out); !status) return status;
    }
    // What a tree has left in a block is known there.
    totals_ = totals;
    return {};
  }

  Status visit(const StmtPtr& stmt, Block& out) {
    switch (stmt->kind()) {
      case StmtKind::barrier:
        return {};
      case StmtKind::declaration:
        return declaration(stmt, out);
      case StmtKind::assignment:
        return assignment(stmt, out);
      case StmtKind::branch:
      case StmtKind::for_loop:
      case StmtKind::scope:
        return compound(stmt, out);
      default:
        return refuse(line_named(*stmt) + "a jump, a while loop or a call for its effect");
    }
  }

  Status declaration(const StmtPtr& stmt, Block& out) {
    const auto& declared = to<Declaration>(stmt);
    const Variable& variable = declared.variable;
    if (variable.storage != Storage::automatic) {
      return !variable.extents.empty()
                 ? Status()
                 : Status(refuse(line_named(*stmt) + "threads share '" + variable.name + "'"));
    }
    if (!differing_.contains(variable.name)) {
      if (!declared.value) {
        out.push_back(stmt);
        return {};
      }
      auto value = rewritten(declared.value, *stmt);
      if (!value) return value.error();
      out.push_back(declare(variable, *value));
      return {};
    }
    if (!variable.extents.empty() || variable.is_pointer || !variable.scalar) {
      return refuse(line_named(*stmt) + "each thread has '" + variable.name +
                    "', which is more than a number");
    }
    kept_ += block_.x;
    arrays_.insert(variable.name);
    out.push_back(declare(local_variable(variable.name, variable.type, variable.scalar,
                                         {static_cast<std::int64_t>(block_.x)}),
                          nullptr));
    if (!declared.value) return {};
    return for_all(source::assign(source::variable(variable.name, variable.scalar), declared.value),
                   *stmt, out);
  }

  Status assignment(const StmtPtr& stmt, Block& out) {
    const auto& assigned = to<Assignment>(stmt);
    const auto* target = as<VariableReference>(assigned.target);
    const bool is_apart = target != nullptr ? differing_.contains(target->name)
                                            : differs(assigned.target) || differs(assigned.value);
    if (is_apart) return for_all(stmt, *stmt, out);
    if (target == nullptr && assigned.op != AssignmentOperator::assign &&
        analysis_.local(base_name(*assigned.target)) == nullptr) {
      return refuse(line_named(*stmt) + "every thread of a block updates an element");
    }
    auto same = rewritten(stmt, *stmt);
    if (!same) return same.error();
    out.push_back(std::move(*same));
    return {};
  }

  // Branches, loops and scopes: inside of what all threads do alike they may wait for each other.
  Status compound(const StmtPtr& stmt, Block& out) {
    if (header_differs(*stmt)) return for_all(stmt, *stmt, out);
    Block body;
    if (Status status = visit(body_of(*stmt), body); !status) return status;
    Block otherwise;
    if (Status status = visit(otherwise_of(*stmt), otherwise); !status) return status;
    auto header = rewritten(with_blocks(stmt, {}, {}), *stmt);
    if (!header) return header.error();
    out.push_back(with_blocks(*header, std::move(body), std::move(otherwise)));
    return {};
  }

  // The statement for one element after the other; for the first one alone where it asks for that.
  Status for_all(const StmtPtr& stmt, const Stmt& origin, Block& out) {
    const bool is_together = any_statement({stmt}, [](const Stmt& inner) {
      return !is<ForLoop>(inner) && !is<Branch>(inner) && !is<Declaration>(inner) &&
             !is<Assignment>(inner) && !is<Scope>(inner);
    });
    if (is_together)
      return refuse(line_named(origin) + "threads wait, jump or call where they go different ways");
    const std::set<std::string> own = declared_names(Block{stmt});
    const std::set<std::string> arrays = arrays_;
    for (const std::string& name : own)
      arrays_.erase(name);
    const auto* choice = as<Branch>(stmt);
    const bool is_first =
        choice != nullptr && choice->otherwise.empty() && row_.is_first_thread(choice->condition);
    place_ = is_first ? integer(0) : source::variable(element_);
    auto body = is_first ? rewritten(source::scope(choice->body), origin) : rewritten(stmt, origin);
    place_ = nullptr;
    arrays_ = arrays;
    if (!body) return body.error();
    out.push_back(is_first ? std::move(*body)
                           : counted_loop(element_, integer(0), integer(block_.x), 1, {*body},
                                          loops_.unroll));
    return {};
  }

  // slots[threadIdx.x] = value; barrier; a tree over slots.
  Status take_tree(const Block& block, std::size_t position, Block& out) {
    const auto& store = to<Assignment>(block[position]);
    const std::string array = base_name(*store.target);
    const auto tree = match_filled_tree(block, position, analysis_, block_);
    if (!tree) return tree.error();
    Reduction sum = tree->sum;
    sum.variable = names_.fresh(array + "_total");
    const ExprPtr neutral = sum.neutral();
    place_ = integer(0);
    auto first = rewritten(store.value, store);
    place_ = source::variable(element_);
    auto value = first ? rewritten(store.value, store) : first;
    place_ = nullptr;
    if (!value) return value.error();
    out.push_back(sum.declared(neutral ? neutral : *first));
    // The first element may be chosen twice.
    const bool begins_behind = !neutral && loops_.unroll == kUnrollFully;
    out.push_back(counted_loop(element_, integer(begins_behind ? 1 : 0), integer(block_.x), 1,
                               {sum.combine(sum.value(), *value)}, loops_.unroll));
    totals_[array] = sum.variable;
    trees_.push_back(std::move(sum));
    return {};
  }

  bool differs(const ExprPtr& expr) const { return is_varying(expr, kPlaceInRow, differing_); }

  // Whether threads may go different ways through the statement: its condition, or a loop's bounds.
  bool header_differs(const Stmt& stmt) const {
    bool result = differs(value_of(stmt));
    for_each_header(stmt, [&](const StmtPtr& part) {
      result = result || differs(value_of(*part)) || differs(target_of(*part));
    });
    return result;
  }

  // Whether all names in the expression keep their value from their declaration on.
  bool keeps_value(const ExprPtr& expr) const {
    return !any_expression(expr, [&](const Expr& node) {
      const auto* variable = as<VariableReference>(node);
      if (variable == nullptr) return is<OpaqueExpression>(node);
      const KernelParameter* parameter = kernel_.parameter(variable->name);
      const bool is_buffer = parameter != nullptr && parameter->is_pointer;
      return !is_buffer && !is_steady(variable->name, kernel_, analysis_);
    });
  }

  // Whether all that it reads from memory is elements of buffers that the kernel does not write.
  bool reads_only_inputs(const ExprPtr& expr) const {
    return !any_expression(expr, [&](const Expr& node) {
      const auto* call = as<Call>(node);
      if (call != nullptr) return !is_pure(*call);
      const auto* access = as<Subscript>(node);
      if (access == nullptr) return is<Member>(node);
      const auto* base = as<VariableReference>(access->base);
      return base == nullptr || kernel_.parameter(base->name) == nullptr ||
             !analysis_.is_global_pointer(base->name) || analysis_.is_written(base->name);
    });
  }

  // Whether what a thread declares may be computed anew wherever it is used: it follows from what
  // does not change, and is read from memory, that nobody writes, in no loop that it stands outside
  // of.
  bool is_written_out(const Declaration& declared, const Block& block, std::size_t position) const {
    const Variable& variable = declared.variable;
    if (!declared.value || !differing_.contains(variable.name) || !variable.extents.empty() ||
        variable.is_pointer || !variable.scalar || !analysis_.is_single_definition(variable.name) ||
        !keeps_value(declared.value)) {
      return false;
    }
    if (!analysis_.reads_memory(declared.value)) return true;
    if (!has_distinct_buffers_ || !reads_only_inputs(declared.value)) return false;
    const Block rest(block.begin() + static_cast<std::ptrdiff_t>(position) + 1, block.end());
    return !any_statement(rest, [&](const Stmt& stmt) {
      return is<ForLoop>(stmt) && is_mentioned(body_of(stmt), variable.name);
    });
  }

  Result<StmtPtr> rewritten(const StmtPtr& stmt, const Stmt& origin) const {
    std::optional<Error> obstacle;
    Block result = rewrite_expressions({stmt}, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      auto value = rewritten(expr, origin);
      if (value) return *value;
      obstacle = value.error();
      return expr;
    });
    if (obstacle) return *obstacle;
    return result.front();
  }

  // The value at `place_`, or for all elements where that is null.
  Result<ExprPtr> rewritten(const ExprPtr& expr, const Stmt& origin) const {
    std::string obstacle;
    ExprPtr result = rewritten(expr, obstacle);
    if (!obstacle.empty()) return refuse(line_named(origin) + obstacle);
    return result;
  }

  ExprPtr rewritten(const ExprPtr& expr, std::string& obstacle) const {
    return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      if (is_builtin(*node, kPlaceInRow)) {
        if (!place_) obstacle = "the place of a thread decides what all threads do";
        return place_ ? cast("unsigned int", place_) : node;
      }
      if (const ExprPtr total = total_at(node, totals_, row_)) return total;
      const auto* variable = as<VariableReference>(node);
      if (variable == nullptr) return std::nullopt;
      if (analysis_.is_shared(variable->name))
        obstacle = "'" + variable->name + "' is used for more than a tree's result";
      if (written_out_.contains(variable->name)) return value_of_name(*variable, obstacle);
      if (!arrays_.contains(variable->name)) return std::nullopt;
      if (!place_) obstacle = "'" + variable->name + "' decides what all threads do";
      return place_ ? with_type(element(node, {place_}), node->type) : node;
    });
  }

  // What a name stands for, converted as its declaration does.
  ExprPtr value_of_name(const VariableReference& name, std::string& obstacle) const {
    const Variable& variable = *analysis_.local(name.name);
    ExprPtr value = rewritten(analysis_.definition(name.name), obstacle);
    const auto* converted = as<Cast>(value);
    // An element's place is a number of either type.
    if (converted != nullptr && place_ && converted->operand == place_ &&
        variable.scalar == ScalarType::i32) {
      return place_;
    }
    if (value->type == variable.scalar) return value;
    return with_type(cast(variable.type, value), variable.scalar);
  }

  const ElementLoops loops_;
  const Kernel& kernel_;
  const Analysis& analysis_;
  const Dim3 block_;
  const BlockRow row_;
  const bool has_distinct_buffers_;
  const std::set<std::string> differing_;  // variables that threads have values of their own in
  Names names_;
  const std::string element_;
  ExprPtr place_;                      // of the element at hand; null: of none
  std::set<std::string> arrays_;       // what has an element for each thread
  std::set<std::string> written_out_;  // what is computed where it is used
  TreeTotals totals_;
  std::vector<Reduction> trees_;
  std::int64_t kept_ = 0;
};

Result<KernelState> serialise(const KernelAnalysis& kernel, const ElementLoops& loops) {
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  auto single = kernel.single_exit();
  if (!single) return single.error();
  const KernelForm* form = *single;
  std::optional<KernelForm> trees;
  if (auto written = with_exchanges_as_trees(*form, (*launch)->block))
    form = &trees.emplace(std::move(*written));
  std::optional<KernelForm> separate;
  if (auto fissioned = with_separate_trees(form->kernel))
    form = &separate.emplace(std::move(*fissioned));
  if (Status status = require_block_a_row(kernel, *form, **launch); !status) return status.error();
  BlockSerialiser serialiser(*form, (*launch)->block, kernel.problem().assume.noalias, loops);
  auto body = serialiser.run();
  if (!body) return body.error();
  if (Status status = permit_reordering(serialiser.reductions(), kernel.problem()); !status)
    return status.error();
  KernelState result = with_thread_a_row(kernel, *form, *body);
  if (any_rounds(serialiser.reductions())) rely_on(result, kReordersSums);
  return result;
}

}  // namespace

Result<KernelState> serialise_threads(const KernelAnalysis& kernel) {
  return serialise(kernel, {});
}

Result<KernelState> serialise_elements(const KernelAnalysis& kernel) {
  return serialise(kernel, {kNoUnrollPragma, 0});
}

}  // namespace regraph::rewrite
