// thread_coarsen: every thread does the work of C threads that lie a block extent apart. C blocks
// along one axis are merged into one: blockIdx.a becomes blockIdx.a * C + c, what depends on it is
// kept C times, and loops with uniform bounds stay outside the loop over c, so that operands which
// do not depend on c are loaded once. Both axes in turn make a register tile.
//
// Legal because blocks are independent: nothing may ask for the grid's extent, barriers must be
// reached whatever c is, and the blocks past the end of the original grid (C need not divide it)
// must do nothing. That last point is proved from a guard `index < n` with the grid being cdiv(n,
// b), or established by a test against the original grid.
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/legality.h"
#include "rewrite/analysis/varying.h"
#include "rewrite/steps/steps.h"
#include "rewrite/transform/normal_form.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::rewrite {
namespace {

using source::Analysis;
using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Kernel;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

// Register tiles beyond this many copies of each scalar cannot fit 255 registers.
constexpr std::int64_t kMostCopies = 64;

// Rewrites one kernel. Statements that depend on the merged block index are collected into groups,
// and each group becomes one unrolled loop over c.
class Coarsener {
 public:
  Coarsener(const Kernel& kernel, std::string axis, int factor, ExprPtr grid_limit)
      : kernel_(kernel),
        analysis_(kernel),
        builtin_("blockIdx." + axis),
        factor_(factor),
        counter_(source::fresh_name(kernel, "c" + axis)),
        varying_(varying_names(kernel, builtin_)),
        grid_limit_(std::move(grid_limit)) {}

  Result<Block> run() {
    collect_recomputed(kernel_.body);
    Block result;
    if (Status status = convert(kernel_.body, result); !status) return status.error();
    return result;
  }

 private:
  // Locals that are cheaper to compute again for every c than to keep: index arithmetic.
  // Those inside a branch stay where they are: the branch as a whole is repeated.
  void collect_recomputed(const Block& block) {
    for (const StmtPtr& stmt : block) {
      const bool descends = stmt->kind == StmtKind::scope ||
                            (stmt->kind == StmtKind::loop && has_uniform_header(*stmt));
      if (descends) collect_recomputed(stmt->body);
      if (stmt->kind != StmtKind::declare || !stmt->value) continue;
      if (!varying_.contains(stmt->variable.name) || !analysis_.definition(stmt->variable.name) ||
          analysis_.reads_memory(stmt->value)) {
        continue;
      }
      const std::set<std::string> used = source::variables_of(stmt->value);
      const bool stable = std::all_of(used.begin(), used.end(), [&](const std::string& name) {
        return recomputed_.contains(name) || kernel_.parameter(name) != nullptr ||
               (analysis_.is_single_definition(name) && !varying_.contains(name));
      });
      if (stable) recomputed_.emplace(stmt->variable.name, stmt);
    }
  }

  bool varies(const ExprPtr& expr) const { return is_varying(expr, builtin_, varying_); }

  // The statement, or anything below it, is different for different c.
  bool varies(const Stmt& stmt) const {
    bool found = false;
    source::walk(Block{std::make_shared<Stmt>(stmt)}, [&](const Stmt& inner) {
      // What other blocks can see happens once per merged block.
      if (inner.kind == StmtKind::evaluate) found = true;
      if (inner.kind == StmtKind::assign) {
        const Expr* base = source::base_variable(*inner.target);
        const source::Variable* local = base != nullptr ? analysis_.local(base->text) : nullptr;
        if (local == nullptr || local->is_pointer) found = true;
        if (base != nullptr && varying_.contains(base->text)) found = true;
      }
      if (inner.kind == StmtKind::declare && varying_.contains(inner.variable.name)) found = true;
      if (varies(inner.target) || varies(inner.value)) found = true;
    });
    return found;
  }

  // Replaces the block index and the names that are kept once per c.
  ExprPtr renamed(const ExprPtr& expr) const {
    return source::rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      if (node->kind == ExprKind::builtin && node->text == builtin_) {
        return source::binary("+", source::binary("*", node, source::integer(factor_)),
                              source::variable(counter_));
      }
      if (node->kind == ExprKind::variable && copied_.contains(node->text)) {
        return source::element(node, {source::variable(counter_)});
      }
      return std::nullopt;
    });
  }

  Block renamed(const Block& block) const {
    return source::rewrite_expressions(
        block, [&](const ExprPtr& expr) -> std::optional<ExprPtr> { return renamed(expr); });
  }

  // Blocks past the end of the grid may work on their own registers and shared memory.
  bool touches_global(const Block& block) const {
    bool found = false;
    source::walk(block, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::evaluate && !source::is_warp_intrinsic(stmt.value->text))
        found = true;
      if (stmt.value && analysis_.reads_global(stmt.value)) found = true;
      if (!stmt.target) return;
      const Expr* base = source::base_variable(*stmt.target);
      const source::Variable* local = base != nullptr ? analysis_.local(base->text) : nullptr;
      if (local == nullptr || local->is_pointer) found = true;
    });
    return found;
  }

  void flush(Block& out) {
    if (group_.empty()) return;
    std::set<std::string> needed;
    std::function<void(const ExprPtr&)> need = [&](const ExprPtr& expr) {
      for (const std::string& name : source::variables_of(expr)) {
        const auto found = recomputed_.find(name);
        if (found != recomputed_.end() && needed.insert(name).second) need(found->second->value);
      }
    };
    source::walk(group_, [&](const Stmt& stmt) {
      need(stmt.target);
      need(stmt.value);
    });
    Block body;
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      if (stmt.kind != StmtKind::declare || !needed.erase(stmt.variable.name)) return;
      const Block declaration = renamed(Block{recomputed_.at(stmt.variable.name)});
      body.push_back(declaration.front());
    });
    Block work = renamed(group_);
    if (grid_limit_ && touches_global(group_)) {
      const ExprPtr block_index = source::cast(
          "int", source::binary(
                     "+", source::binary("*", source::builtin(builtin_), source::integer(factor_)),
                     source::variable(counter_)));
      work = {source::branch(source::binary("<", block_index, grid_limit_), std::move(work))};
    }
    body.insert(body.end(), work.begin(), work.end());
    out.push_back(source::counted_loop(counter_, source::integer(0), source::integer(factor_), 1,
                                       std::move(body), source::kUnrollFully));
    group_.clear();
  }

  Status convert_declaration(const StmtPtr& stmt, Block& out) {
    const source::Variable& variable = stmt->variable;
    if (recomputed_.contains(variable.name)) return {};
    if (!varying_.contains(variable.name)) {
      flush(out);
      out.push_back(stmt);
      return {};
    }
    if (variable.storage == source::Storage::dynamic_shared) {
      return refuse("the dynamic shared array '" + variable.name +
                    "' cannot be kept once per block");
    }
    if (!variable.is_pointer && !zero_value(variable.type, variable.scalar)) {
      return refuse("'" + variable.name + "' has a type the rewriter cannot make an array of");
    }
    source::Variable copies = variable;
    copies.extents.insert(copies.extents.begin(), factor_);
    copies.is_const = false;
    std::int64_t count = 1;
    for (const std::int64_t extent_value : copies.extents)
      count *= extent_value;
    if (copies.storage == source::Storage::automatic && count > kMostCopies) {
      return refuse("'" + variable.name + "' would need " + std::to_string(count) + " registers");
    }
    copied_.insert(variable.name);
    // The declaration must precede the loop over c that fills it, not the group collected so far.
    declarations_.push_back(source::declare(copies, nullptr));
    if (stmt->value) {
      group_.push_back(
          source::assign(source::variable(variable.name, variable.scalar), "=", stmt->value));
    }
    return {};
  }

  void place_declarations(Block& out) {
    out.insert(out.end(), declarations_.begin(), declarations_.end());
    declarations_.clear();
  }

  Status convert(const Block& block, Block& out) {
    for (const StmtPtr& stmt : block) {
      if (stmt->kind == StmtKind::declare) {
        if (Status status = convert_declaration(stmt, out); !status) return status;
        place_declarations(out);
        continue;
      }
      if (stmt->kind == StmtKind::barrier) {
        flush(out);
        out.push_back(stmt);
        continue;
      }
      if (!varies(*stmt)) {
        flush(out);
        out.push_back(stmt);
        continue;
      }
      const bool uniform_loop = stmt->kind == StmtKind::loop && has_uniform_header(*stmt);
      if (uniform_loop) {
        flush(out);
        auto loop = std::make_shared<Stmt>(*stmt);
        loop->body.clear();
        if (Status status = convert(stmt->body, loop->body); !status) return status;
        flush(loop->body);
        out.push_back(loop);
        continue;
      }
      if (stmt->kind == StmtKind::scope) {
        if (Status status = convert(stmt->body, out); !status) return status;
        continue;
      }
      bool holds_barrier = false;
      bool declares_shared = false;
      source::walk(Block{stmt}, [&](const Stmt& inner) {
        holds_barrier = holds_barrier || inner.kind == StmtKind::barrier;
        declares_shared = declares_shared || (inner.kind == StmtKind::declare &&
                                              inner.variable.storage != source::Storage::automatic);
      });
      if (holds_barrier || declares_shared) {
        return refuse("line " + std::to_string(stmt->line) +
                      ": a barrier whose reach depends on the block");
      }
      group_.push_back(stmt);
    }
    flush(out);
    return {};
  }

  bool has_uniform_header(const Stmt& loop) const {
    for (const StmtPtr& part : {loop.init, loop.step}) {
      if (!part) continue;
      if (varies(part->value) || (part->target && varies(part->target))) return false;
      if (part->kind == StmtKind::declare && varying_.contains(part->variable.name)) return false;
    }
    if (loop.value && varies(loop.value)) return false;
    bool jumps = false;
    source::walk(loop.body, [&](const Stmt& inner) {
      jumps = jumps || inner.kind == StmtKind::jump || inner.kind == StmtKind::leave;
    });
    return !jumps;
  }

  const Kernel& kernel_;
  Analysis analysis_;
  std::string builtin_;
  int factor_;
  std::string counter_;
  std::set<std::string> varying_;
  ExprPtr grid_limit_;
  std::map<std::string, StmtPtr> recomputed_;
  std::set<std::string> copied_;
  Block group_;
  Block declarations_;
};

class ThreadCoarsen final : public StepRewriter {
 public:
  std::string_view id() const override { return "thread_coarsen"; }
  std::vector<StepParameters> choices() const override {
    std::vector<StepParameters> result;
    for (const char* axis : {"x", "y"}) {
      for (const char* factor : {"2", "4", "8"})
        result.push_back({{"axis", axis}, {"factor", factor}});
    }
    return result;
  }

  Result<KernelState> apply(const KernelState& state, const StepParameters& parameters,
                            const Problem& problem) const override {
    auto factor = integer_parameter(parameters, "factor");
    if (!factor) return factor.error();
    const auto axis_text = parameters.find("axis");
    const bool valid_axis =
        axis_text != parameters.end() && (axis_text->second == "x" || axis_text->second == "y");
    if (!valid_axis || *factor < 2) {
      return fail(ErrorCode::invalid_argument, "'axis' must be x or y and 'factor' at least 2");
    }
    const int axis = axis_text->second == "x" ? 0 : 1;
    auto launch = only_launch(state);
    if (!launch) return launch.error();
    const Analysis analysis(state.unit.kernel);
    if (Status status = require_transparent(state, analysis); !status) return status.error();
    if (analysis.uses_builtin("gridDim." + axis_text->second)) {
      return refuse("the kernel uses gridDim." + axis_text->second + ", which would change");
    }
    if (!analysis.uses_builtin("blockIdx." + axis_text->second)) {
      return refuse("the kernel does not use blockIdx." + axis_text->second);
    }
    auto kernel = normalised(state.unit.kernel);
    if (!kernel) return kernel.error();
    const Analysis flat(*kernel);
    ExprPtr grid_limit;
    if (!grid_is_guarded(*kernel, flat, **launch, axis)) {
      grid_limit = grid_extent(**launch, axis, *kernel);
      if (!grid_limit) {
        return refuse(
            "blocks past the end of the grid could not be told: no guard 'index < n' and the "
            "grid " +
            (*launch)->grid[static_cast<std::size_t>(axis)].text() +
            " is not made of the kernel's parameters");
      }
    }
    auto body = Coarsener(*kernel, axis_text->second, *factor, grid_limit).run();
    if (!body) return body.error();
    KernelState result = state;
    result.unit.kernel.body = std::move(*body);
    if (shared_bytes(result.unit.kernel) > kStaticSharedLimitBytes) {
      return refuse("the merged blocks need " + std::to_string(shared_bytes(result.unit.kernel)) +
                    " bytes of shared memory of " + std::to_string(kStaticSharedLimitBytes));
    }
    Launch& changed = result.plan.launches.front();
    IntegerExpression& grid = changed.grid[static_cast<std::size_t>(axis)];
    grid = IntegerExpression::ceil_divide(grid, IntegerExpression(*factor));
    for (const Symbols& sizes : problem.bench) {
      if (auto concrete = concretise(changed, sizes); !concrete)
        return refuse(concrete.error().message);
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_thread_coarsen() {
  return std::make_unique<ThreadCoarsen>();
}

}  // namespace regraph::rewrite
