#include "rewrite/transform/merge_blocks.h"

#include "rewrite/transform/block_copies.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Rewrites one kernel. Statements that depend on the merged block index are collected into groups,
// and each group becomes one unrolled loop over the copies (two, where they lie in groups).
class Coarsener {
 public:
  explicit Coarsener(const BlockMerge& merge)
      : kernel_(merge.form.kernel),
        analysis_(merge.form.analysis),
        builtin_("blockIdx." + merge.axis),
        thread_("threadIdx." + merge.axis),
        extent_("blockDim." + merge.axis),
        factor_(merge.factor),
        group_size_(merge.group),
        grid_limit_(merge.grid_limit),
        copies_(merge) {}

  Block run() {
    Block result;
    convert(kernel_.body, result);
    return result;
  }

 private:
  // Replaces the block and thread index and the names that are kept once per copy, but for `own`.
  ExprPtr renamed(const ExprPtr& expr, const std::set<std::string>& own) const {
    return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      if (is_builtin(*node, builtin_)) return block_number(node);
      if (group_size_ > 1 && is_builtin(*node, thread_)) return item_number(node);
      const auto* variable = as<VariableReference>(node);
      if (variable == nullptr || !copied_.contains(variable->name) || own.contains(variable->name))
        return std::nullopt;
      std::vector<ExprPtr> copy;
      for (const CopyLoop& loop : copies_.loops())
        copy.push_back(source::variable(loop.counter));
      return element(node, copy);
    });
  }

  // Of the original grid; with groups, of the first block that was merged.
  ExprPtr block_number(const ExprPtr& merged) const {
    ExprPtr first = multiply(merged, integer(factor_));
    if (group_size_ > 1) return first;
    return add(std::move(first), source::variable(copies_.loops().back().counter));
  }

  // Of the thread's item within the merged block.
  ExprPtr item_number(const ExprPtr& thread) const {
    ExprPtr item = multiply(thread, integer(group_size_));
    if (copies_.loops().size() > 1) {
      const ExprPtr pitch = multiply(builtin(extent_), integer(group_size_));
      item = add(multiply(pitch, source::variable(copies_.loops().front().counter)), item);
    }
    return add(std::move(item), source::variable(copies_.loops().back().counter));
  }

  // What the block declares itself is another variable than one of that name before it.
  Block renamed(const Block& block) const {
    const std::set<std::string> own = declared_names(block);
    return rewrite_expressions(
        block, [&](const ExprPtr& expr) -> std::optional<ExprPtr> { return renamed(expr, own); });
  }

  // Blocks past the end of the grid may work on their own registers and shared memory.
  bool touches_global(const Block& block) const {
    bool found = false;
    walk(block, [&](const Stmt& stmt) {
      const auto* evaluation = as<Evaluation>(stmt);
      if (evaluation != nullptr && !is_warp_intrinsic(evaluation->call().function)) found = true;
      if (value_of(stmt) && analysis_.reads_global(value_of(stmt))) found = true;
      const ExprPtr& target = target_of(stmt);
      if (target && !copies_.is_local(base_variable(*target))) found = true;
    });
    return found;
  }

  void flush(Block& out) {
    if (group_.empty()) return;
    std::set<std::string> needed = needed_by(group_);
    Block body;
    walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr || needed.erase(declaration->variable.name) == 0) return;
      body.push_back(renamed(Block{copies_.recomputed(declaration->variable.name)}).front());
    });
    Block work = renamed(group_);
    if (grid_limit_ && touches_global(group_)) {
      const ExprPtr number = cast("int", block_number(builtin(builtin_)));
      work = {branch(less(number, grid_limit_), std::move(work))};
    }
    body.insert(body.end(), work.begin(), work.end());
    for (auto copies = copies_.loops().rbegin(); copies != copies_.loops().rend(); ++copies) {
      body = {counted_loop(copies->counter, integer(0), integer(copies->count), 1, std::move(body),
                           kUnrollFully)};
    }
    out.push_back(std::move(body.front()));
    group_.clear();
  }

  // Names that have to be computed again for the block, with those that they need in turn.
  std::set<std::string> needed_by(const Block& block) const {
    std::set<std::string> needed;
    // A loop that stays whole declares its own.
    const std::set<std::string> own = declared_names(block);
    std::function<void(const ExprPtr&)> need = [&](const ExprPtr& expr) {
      for (const std::string& name : variables_of(expr)) {
        if (own.contains(name)) continue;
        if (copies_.is_recomputed(name) && needed.insert(name).second)
          need(value_of(*copies_.recomputed(name)));
      }
    };
    walk(block, [&](const Stmt& stmt) {
      need(target_of(stmt));
      need(value_of(stmt));
    });
    return needed;
  }

  void convert_declaration(const StmtPtr& stmt, Block& out) {
    const Variable& variable = to<Declaration>(stmt).variable;
    const ExprPtr& value = to<Declaration>(stmt).value;
    if (copies_.is_recomputed(variable.name)) return;
    if (!copies_.is_varying(variable.name)) {
      flush(out);
      out.push_back(stmt);
      return;
    }
    copied_.insert(variable.name);
    // The declaration must precede the loop over c that fills it, not the group collected so far.
    out.push_back(declare(copies_.copies_of(variable), nullptr));
    if (value && !variable.extents.empty()) {
      const Block values = *assignments_of(variable, value);
      group_.insert(group_.end(), values.begin(), values.end());
    } else if (value) {
      group_.push_back(assign(source::variable(variable.name, variable.scalar), value));
    }
  }

  void convert(const Block& block, Block& out) {
    for (const StmtPtr& stmt : block) {
      if (is<Declaration>(stmt)) {
        convert_declaration(stmt, out);
      } else if (is<Barrier>(stmt) || !copies_.varies(stmt)) {
        flush(out);
        out.push_back(stmt);
      } else if (const auto* scope = as<Scope>(stmt)) {
        convert(scope->body, out);
      } else if (copies_.is_opened(*stmt)) {
        flush(out);
        Block body;
        convert(body_of(*stmt), body);
        out.push_back(with_blocks(stmt, std::move(body), {}));
      } else {
        group_.push_back(stmt);
      }
    }
    flush(out);
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::string builtin_;
  std::string thread_;
  std::string extent_;
  int factor_;
  int group_size_;
  ExprPtr grid_limit_;
  BlockCopies copies_;
  std::set<std::string> copied_;
  Block group_;
};

}  // namespace

Block merge_blocks(const BlockMerge& merge) {
  return Coarsener(merge).run();
}

}  // namespace regraph::rewrite
