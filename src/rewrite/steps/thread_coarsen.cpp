// thread_coarsen: every thread does the work of C threads that lie a block extent apart. C blocks
// along one axis are merged into one: blockIdx.a becomes blockIdx.a * C + c, what depends on it is
// kept C times, and loops with uniform bounds stay outside the loop over c, so that operands which
// do not depend on c are loaded once. Both axes in turn make a register tile.
//
// Legal because blocks are independent: nothing may ask for the grid's extent, barriers must be
// reached whatever c is, and the blocks past the end of the original grid (C need not divide it)
// must do nothing. That last point is proved from a guard `index < n` with the grid being cdiv(n,
// b), or established by a test against the original grid.
#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/varying.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>

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

// Rewrites one kernel. Statements that depend on the merged block index are collected into groups,
// and each group becomes one unrolled loop over c.
class Coarsener {
 public:
  Coarsener(const KernelForm& form, const std::string& axis, int factor, ExprPtr grid_limit)
      : kernel_(form.kernel),
        analysis_(form.analysis),
        builtin_("blockIdx." + axis),
        factor_(factor),
        counter_(source::fresh_name(form.kernel, "c" + axis)),
        varying_(varying_names(form.kernel, builtin_)),
        grid_limit_(std::move(grid_limit)) {
    collect_recomputed(kernel_.body);
  }

  // Whether `run` may be called. Error: refused.
  Status check(int most_copies) const { return check(kernel_.body, most_copies); }

  // Bytes of static shared memory that the result declares.
  std::int64_t shared_bytes_after() const {
    std::int64_t bytes = shared_bytes(kernel_);
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      const bool is_copied = stmt.kind == StmtKind::declare &&
                             stmt.variable.storage == source::Storage::shared &&
                             varying_.contains(stmt.variable.name);
      if (is_copied) bytes += bytes_of(stmt.variable) * (factor_ - 1);
    });
    return bytes;
  }

  Block run() {
    Block result;
    convert(kernel_.body, result);
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

  source::Variable copies_of(source::Variable variable) const {
    variable.extents.insert(variable.extents.begin(), factor_);
    variable.is_const = false;
    return variable;
  }

  Status check_declaration(const source::Variable& variable, int most_copies) const {
    if (recomputed_.contains(variable.name) || !varying_.contains(variable.name)) return {};
    if (variable.storage == source::Storage::dynamic_shared) {
      return refuse("the dynamic shared array '" + variable.name +
                    "' cannot be kept once per block");
    }
    if (!variable.is_pointer && !source::zero_value(variable.type, variable.scalar)) {
      return refuse("'" + variable.name + "' has a type the rewriter cannot make an array of");
    }
    std::int64_t count = 1;
    for (const std::int64_t extent_value : copies_of(variable).extents)
      count *= extent_value;
    if (variable.storage == source::Storage::automatic && count > most_copies) {
      return refuse("'" + variable.name + "' would need " + std::to_string(count) + " registers");
    }
    return {};
  }

  // What `convert` goes through, without converting it.
  Status check(const Block& block, int most_copies) const {
    for (const StmtPtr& stmt : block) {
      if (stmt->kind == StmtKind::declare) {
        if (Status status = check_declaration(stmt->variable, most_copies); !status) return status;
        continue;
      }
      if (stmt->kind == StmtKind::barrier || !varies(*stmt)) continue;
      if (is_opened(*stmt)) {
        if (Status status = check(stmt->body, most_copies); !status) return status;
        continue;
      }
      bool is_whole = true;
      source::walk(Block{stmt}, [&](const Stmt& inner) {
        const bool declares_shared =
            inner.kind == StmtKind::declare && inner.variable.storage != source::Storage::automatic;
        is_whole = is_whole && inner.kind != StmtKind::barrier && !declares_shared;
      });
      if (!is_whole) {
        return refuse("line " + std::to_string(stmt->line) +
                      ": a barrier whose reach depends on the block");
      }
    }
    return {};
  }

  // Whether the loop over c goes inside the statement.
  bool is_opened(const Stmt& stmt) const {
    return stmt.kind == StmtKind::scope ||
           (stmt.kind == StmtKind::loop && has_uniform_header(stmt));
  }

  void convert_declaration(const StmtPtr& stmt, Block& out) {
    const source::Variable& variable = stmt->variable;
    if (recomputed_.contains(variable.name)) return;
    if (!varying_.contains(variable.name)) {
      flush(out);
      out.push_back(stmt);
      return;
    }
    copied_.insert(variable.name);
    // The declaration must precede the loop over c that fills it, not the group collected so far.
    out.push_back(source::declare(copies_of(variable), nullptr));
    if (stmt->value) {
      group_.push_back(
          source::assign(source::variable(variable.name, variable.scalar), "=", stmt->value));
    }
  }

  void convert(const Block& block, Block& out) {
    for (const StmtPtr& stmt : block) {
      if (stmt->kind == StmtKind::declare) {
        convert_declaration(stmt, out);
      } else if (stmt->kind == StmtKind::barrier || !varies(*stmt)) {
        flush(out);
        out.push_back(stmt);
      } else if (stmt->kind == StmtKind::scope) {
        convert(stmt->body, out);
      } else if (is_opened(*stmt)) {
        flush(out);
        auto loop = std::make_shared<Stmt>(*stmt);
        loop->body.clear();
        convert(stmt->body, loop->body);
        flush(loop->body);
        out.push_back(loop);
      } else {
        group_.push_back(stmt);
      }
    }
    flush(out);
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
  const Analysis& analysis_;
  std::string builtin_;
  int factor_;
  std::string counter_;
  std::set<std::string> varying_;
  ExprPtr grid_limit_;
  std::map<std::string, StmtPtr> recomputed_;
  std::set<std::string> copied_;
  Block group_;
};

struct MergePlace {
  int axis = 0;
  int factor = 0;
  ExprPtr grid_limit;  // to be tested against; null where a guard does
  Launch launch;       // afterwards
};

class ThreadCoarsen final : public PlacedStep<MergePlace> {
 public:
  std::string_view id() const override { return "thread_coarsen"; }
  int position() const override { return 30; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* axis : {"x", "y"}) {
      for (const char* factor : {"2", "4", "8"})
        result.push_back({{"axis", axis}, {"factor", factor}});
    }
    return result;
  }

 protected:
  Result<MergePlace> find(const KernelAnalysis& kernel,
                          const StepParameters& parameters) const override {
    auto factor = integer_parameter(parameters, "factor");
    if (!factor) return factor.error();
    auto letter = text_parameter(parameters, "axis");
    if (!letter) return letter.error();
    if ((*letter != "x" && *letter != "y") || *factor < 2) {
      return fail(ErrorCode::invalid_argument, "'axis' must be x or y and 'factor' at least 2");
    }
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    if (const Status& status = kernel.transparent(); !status) return status.error();
    if (kernel.analysis().uses_builtin("gridDim." + *letter)) {
      return refuse("the kernel uses gridDim." + *letter + ", which would change");
    }
    if (!kernel.analysis().uses_builtin("blockIdx." + *letter)) {
      return refuse("the kernel does not use blockIdx." + *letter);
    }
    auto form = kernel.normal();
    if (!form) return form.error();
    MergePlace place{*letter == "x" ? 0 : 1, *factor, nullptr, **launch};
    auto limit = grid_limit(**form, **launch, place.axis);
    if (!limit) return limit.error();
    place.grid_limit = *limit;
    if (Status status = require_copies(kernel, **form, place); !status) return status.error();
    IntegerExpression& grid = place.launch.grid[static_cast<std::size_t>(place.axis)];
    grid = IntegerExpression::ceil_divide(grid, IntegerExpression(*factor));
    if (Status status = require_possible(place.launch, kernel); !status) return status.error();
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const MergePlace& place) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body = coarsener(**kernel.normal(), place).run();
    result.plan.launches.front() = place.launch;
    return result;
  }

 private:
  // Copies of each scalar that a register tile can have: a quarter of a thread's registers.
  static int most_copies(const DeviceLimits& limits) {
    return (limits.max_registers_per_thread + 1) / 4;
  }

  static Coarsener coarsener(const KernelForm& form, const MergePlace& place) {
    return {form, kAxes[static_cast<std::size_t>(place.axis)], place.factor, place.grid_limit};
  }

  static Status require_copies(const KernelAnalysis& kernel, const KernelForm& form,
                               const MergePlace& place) {
    const Coarsener merged = coarsener(form, place);
    if (Status status = merged.check(most_copies(kernel.limits())); !status) return status;
    return require_shared_bytes(merged.shared_bytes_after(), kernel, "the merged blocks need");
  }

  // What block numbers are to be tested against; null where a guard stops blocks past the end.
  static Result<ExprPtr> grid_limit(const KernelForm& form, const Launch& launch, int axis) {
    if (grid_is_guarded(form.kernel, form.analysis, launch, axis)) return ExprPtr();
    ExprPtr limit = grid_extent(launch, axis, form.kernel);
    if (limit) return limit;
    return refuse(
        "blocks past the end of the grid could not be told: no guard 'index < n' and the grid " +
        launch.grid[static_cast<std::size_t>(axis)].text() +
        " is not made of the kernel's parameters");
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_thread_coarsen() {
  return std::make_unique<ThreadCoarsen>();
}

}  // namespace regraph::rewrite
