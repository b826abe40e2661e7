// smem_tile: strip-mines a contraction loop; per strip the block copies what it needs of the
// operands to shared memory, synchronises, and computes from there.
//
//   for (k = 0; k < K; ++k) s += A[i*K+k] * B[k*N+j];
// becomes
//   for (k0 = 0; k0 < K; k0 += D) { copy A_tile, B_tile; barrier; for (k1 < D) s += ...tile...;
//   barrier; }
//
// Legal when staged arrays are only read, their indices are linear in thread indices and loop
// variables with block-uniform strides, and all threads reach the loop (guards are pushed inside
// first). An element is copied only where the original may access it. The copy is filled up with
// zeros when every term has a staged zero factor, else the last strip is shortened. A guard inside
// the loop is dropped when the loop only changes registers that are used under the same guard
// later.
#include "rewrite/legality.h"
#include "rewrite/normal_form.h"
#include "rewrite/steps.h"
#include "rewrite/tile_plan.h"
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
using source::Polynomial;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

// Copies with at most this many items a thread are unrolled, so that their loads are in flight
// together.
constexpr std::int64_t kMostUnrolledCopies = 32;

class Tiler {
 public:
  Tiler(const Kernel& kernel, const Dim3& block, TilePlan plan)
      : kernel_(kernel), analysis_(kernel), block_(block), plan_(std::move(plan)) {
    thread_ = source::fresh_name(kernel, "thread");
  }

  Block run() {
    Block result;
    for (const StagedArray& array : plan_.arrays)
      result.push_back(declare_tile(array));
    result.push_back(source::declare_integer(thread_, linear_thread(block_)));
    for (const StmtPtr& stmt : kernel_.body) {
      result.push_back(stmt == plan_.loop ? tiled_loop() : stmt);
    }
    return result;
  }

 private:
  static StmtPtr declare_tile(const StagedArray& array) {
    source::Variable tile;
    tile.name = array.tile;
    tile.type = array.type;
    tile.scalar = array.scalar;
    tile.storage = source::Storage::shared;
    for (const FootprintDimension& dimension : array.footprint.dimensions) {
      tile.extents.push_back(dimension.extent);
    }
    return source::declare(tile, nullptr);
  }

  // Copies the array's footprint of one strip.
  StmtPtr copy_loop(const StagedArray& array) const {
    const Footprint& footprint = array.footprint;
    const auto threads = static_cast<std::int64_t>(block_.count());
    const std::int64_t items = footprint.elements();
    const std::string item = source::fresh_name(kernel_, array.name + "_item");
    const std::string step = source::fresh_name(kernel_, array.name + "_step");
    const std::int64_t columns = footprint.dimensions.back().extent;

    Block body;
    const bool even = items % threads == 0 && items / threads <= kMostUnrolledCopies;
    if (even) {
      body.push_back(source::declare_integer(
          item,
          source::binary("+", source::variable(thread_),
                         source::binary("*", source::variable(step), source::integer(threads)))));
    }
    std::vector<ExprPtr> coordinates;
    if (array.coordinates.size() == 2) {
      body.push_back(source::declare_integer(
          array.coordinates[0],
          source::binary("/", source::variable(item), source::integer(columns))));
      coordinates.push_back(source::variable(array.coordinates[0]));
    }
    ExprPtr column = source::variable(item);
    if (array.coordinates.size() == 2)
      column = source::binary("%", column, source::integer(columns));
    body.push_back(source::declare_integer(array.coordinates.back(), column));
    coordinates.push_back(source::variable(array.coordinates.back()));

    Polynomial index = footprint.base;
    std::vector<ExprPtr> conditions;
    for (std::size_t d = 0; d < footprint.dimensions.size(); ++d) {
      index = index + footprint.dimensions[d].stride * Polynomial::symbol(array.coordinates[d]);
      if (!footprint.dimensions[d].terms.contains(plan_.counted.name)) continue;
      // The strip may reach past the end of the loop.
      index = index + footprint.dimensions[d].stride * Polynomial::symbol(plan_.outer);
      conditions.push_back(
          source::binary("<", source::binary("+", source::variable(plan_.outer), coordinates[d]),
                         plan_.counted.limit));
    }
    conditions.insert(conditions.begin(), array.guards.begin(), array.guards.end());
    ExprPtr value = source::element(source::variable(array.name, array.scalar),
                                    {source::to_expression(index, array.wide_index)});
    if (!conditions.empty()) {
      value = source::conditional(source::conjunction(conditions), value,
                                  source::zero_of(array.scalar));
    }
    body.push_back(source::assign(
        source::element(source::variable(array.tile, array.scalar), coordinates), "=", value));
    if (even) {
      return source::counted_loop(step, source::integer(0), source::integer(items / threads), 1,
                                  std::move(body), source::kUnrollFully);
    }
    return source::counted_loop(item, source::variable(thread_), source::integer(items), threads,
                                std::move(body));
  }

  const StagedArray* staged(const std::string& name) const {
    for (const StagedArray& array : plan_.arrays) {
      if (array.name == name) return &array;
    }
    return nullptr;
  }

  // The loop's body reading tiles in place of arrays.
  Block body_on_tiles() const {
    return source::rewrite_expressions(
        plan_.loop->body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          if (expr->kind != ExprKind::index) return std::nullopt;
          const Expr* base = source::base_variable(*expr);
          const StagedArray* array = base != nullptr ? staged(base->text) : nullptr;
          if (array == nullptr) return std::nullopt;
          std::vector<ExprPtr> coordinates;
          for (const FootprintDimension& dimension : array->footprint.dimensions) {
            const Polynomial coordinate = dimension.coordinate().substitute(
                plan_.counted.name, Polynomial::symbol(plan_.inner));
            coordinates.push_back(source::to_expression(coordinate));
          }
          return source::element(source::variable(array->tile, array->scalar), coordinates);
        });
  }

  bool is_register(const std::string& name) const {
    const source::Variable* variable = analysis_.local(name);
    return variable != nullptr && variable->storage == source::Storage::automatic &&
           !variable->is_pointer;
  }

  // Whether adding the term with zero-filled tiles adds nothing.
  bool vanishes(const ExprPtr& term) const {
    if (term->kind == ExprKind::binary && term->text == "*") {
      bool zero = false;
      bool reads_unstaged = false;
      std::function<void(const ExprPtr&)> factors = [&](const ExprPtr& expr) {
        if (expr->kind == ExprKind::binary && expr->text == "*") {
          factors(expr->operands[0]);
          factors(expr->operands[1]);
          return;
        }
        const Expr* base = source::base_variable(*expr);
        for (const StagedArray& array : plan_.arrays) {
          if (base != nullptr && base->text == array.tile) {
            // A staged factor without the contraction index is not zero-filled and could be
            // infinite.
            (array.follows_contraction ? zero : reads_unstaged) = true;
            return;
          }
        }
        if (analysis_.reads_memory(expr)) reads_unstaged = true;
      };
      factors(term);
      return zero && !reads_unstaged;
    }
    return false;
  }

  bool adds_only_vanishing_terms(const Block& body) const {
    for (const StmtPtr& stmt : body) {
      switch (stmt->kind) {
        case StmtKind::declare:
          if (stmt->value && reads_any(stmt->value)) return false;
          break;
        case StmtKind::loop:
        case StmtKind::scope:
        case StmtKind::branch:
          if (!stmt->otherwise.empty() || !adds_only_vanishing_terms(stmt->body)) return false;
          break;
        case StmtKind::assign: {
          const Expr* base = source::base_variable(*stmt->target);
          if (base == nullptr || !is_register(base->text)) return false;
          if (stmt->text == "+=" || stmt->text == "-=") {
            if (!vanishes(stmt->value)) return false;
            break;
          }
          const Expr& value = *stmt->value;
          const bool sum = stmt->text == "=" && value.kind == ExprKind::binary &&
                           value.text == "+" && source::equal(value.operands[0], stmt->target) &&
                           vanishes(value.operands[1]);
          const bool fused = stmt->text == "=" && value.kind == ExprKind::call &&
                             value.operands.size() == 3 &&
                             (value.text == "fmaf" || value.text == "fma") &&
                             source::equal(value.operands[2], stmt->target) &&
                             vanishes(source::binary("*", value.operands[0], value.operands[1]));
          if (!sum && !fused) return false;
          break;
        }
        default:
          return false;
      }
    }
    return true;
  }

  // Reads a tile or other memory.
  bool reads_any(const ExprPtr& expr) const {
    bool found = analysis_.reads_memory(expr);
    source::walk(expr, [&](const Expr& node) {
      for (const StagedArray& array : plan_.arrays) {
        found = found || (node.kind == ExprKind::variable && node.text == array.tile);
      }
    });
    return found;
  }

  bool reads_global(const Block& body) const {
    bool found = false;
    source::walk_expressions(body, [&](const Expr& node) {
      if (node.kind == ExprKind::variable && analysis_.is_global_pointer(node.text)) found = true;
    });
    return found;
  }

  // Every read of `name` outside its own updates is under all of `guards`.
  static bool read_only_under(const Block& block, const std::string& name,
                              const std::set<std::string>& guards, std::set<std::string> held) {
    for (const StmtPtr& stmt : block) {
      std::set<std::string> inside = held;
      if (stmt->kind == StmtKind::branch) {
        for (const ExprPtr& term : source::conjuncts(stmt->value))
          inside.insert(source::print(term));
      }
      const Expr* base = stmt->target ? source::base_variable(*stmt->target) : nullptr;
      const bool updates_itself = base != nullptr && base->text == name;
      bool reads =
          stmt->value && source::variables_of(stmt->value).contains(name) && !updates_itself;
      if (stmt->target) {
        for (const ExprPtr& index : source::indices_of(stmt->target)) {
          reads = reads || source::variables_of(index).contains(name);
        }
      }
      if (reads && !std::includes(held.begin(), held.end(), guards.begin(), guards.end()))
        return false;
      if (!read_only_under(stmt->body, name, guards, inside)) return false;
      if (!read_only_under(stmt->otherwise, name, guards, held)) return false;
    }
    return true;
  }

  bool can_drop_guard(const Stmt& branch) const {
    if (!branch.otherwise.empty() || reads_global(branch.body)) return false;
    std::set<std::string> guards;
    for (const ExprPtr& term : source::conjuncts(branch.value))
      guards.insert(source::print(term));
    bool droppable = true;
    source::walk(branch.body, [&](const Stmt& stmt) {
      if (stmt.kind != StmtKind::assign) {
        droppable = droppable && (stmt.kind == StmtKind::loop || stmt.kind == StmtKind::declare);
        return;
      }
      const Expr* base = source::base_variable(*stmt.target);
      droppable = droppable && base != nullptr && is_register(base->text) &&
                  read_only_under(kernel_.body, base->text, guards, {});
    });
    return droppable;
  }

  Block without_guards(const Block& body) const {
    return source::rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      if (stmt->kind == StmtKind::branch && can_drop_guard(*stmt)) return stmt->body;
      return std::nullopt;
    });
  }

  // Index arithmetic that nothing uses any more.
  static Block without_dead_declarations(const Block& body) {
    Block result = body;
    for (bool changed = true; changed;) {
      changed = false;
      std::set<std::string> used;
      source::walk(result, [&](const Stmt& stmt) {
        for (const ExprPtr& expr : {stmt.target, stmt.value}) {
          for (const std::string& name : source::variables_of(expr))
            used.insert(name);
        }
      });
      result = source::rewrite_statements(result, [&](const StmtPtr& stmt) -> std::optional<Block> {
        if (stmt->kind != StmtKind::declare || used.contains(stmt->variable.name))
          return std::nullopt;
        changed = true;
        return Block{};
      });
    }
    return result;
  }

  StmtPtr tiled_loop() const {
    Block strip;
    for (const StagedArray& array : plan_.arrays)
      strip.push_back(copy_loop(array));
    strip.push_back(source::barrier());

    Block body = without_dead_declarations(without_guards(body_on_tiles()));
    ExprPtr limit = source::integer(plan_.depth);
    if (!adds_only_vanishing_terms(body)) {
      limit = source::call(
          "min", {limit, source::binary("-", plan_.counted.limit, source::variable(plan_.outer))});
    }
    bool uses_variable = false;
    source::walk_expressions(body, [&](const Expr& node) {
      uses_variable =
          uses_variable || (node.kind == ExprKind::variable && node.text == plan_.counted.name);
    });
    if (uses_variable) {
      body.insert(body.begin(),
                  source::declare_integer(plan_.counted.name,
                                          source::binary("+", source::variable(plan_.outer),
                                                         source::variable(plan_.inner))));
    }
    strip.push_back(source::counted_loop(plan_.inner, source::integer(0), limit, 1, std::move(body),
                                         plan_.loop->unroll));
    strip.push_back(source::barrier());
    return source::counted_loop(plan_.outer, plan_.counted.first, plan_.counted.limit, plan_.depth,
                                std::move(strip));
  }

  const Kernel& kernel_;
  Analysis analysis_;
  Dim3 block_;
  TilePlan plan_;
  std::string thread_;
};

class SmemTile final : public StepRewriter {
 public:
  std::string_view id() const override { return "smem_tile"; }
  std::vector<StepParameters> choices() const override {
    return {{{"depth", "8"}}, {{"depth", "16"}}, {{"depth", "32"}}};
  }

  Result<KernelState> apply(const KernelState& state, const StepParameters& parameters,
                            const Problem& problem) const override {
    auto depth = integer_parameter(parameters, "depth");
    if (!depth) return depth.error();
    if (*depth < 2) return fail(ErrorCode::invalid_argument, "'depth' must be at least 2");
    auto launch = only_launch(state);
    if (!launch) return launch.error();
    if (!problem.assume.noalias) {
      return refuse(
          "the problem does not grant 'assume: {noalias: true}', so a copy could go stale");
    }
    const Analysis analysis(state.unit.kernel);
    if (Status status = require_transparent(state, analysis); !status) return status.error();
    if (analysis.has_shared()) return refuse("the kernel uses shared memory already");
    if (!analysis.unknown_calls().empty()) {
      return refuse("the kernel calls '" + *analysis.unknown_calls().begin() +
                    "', which may read memory");
    }
    auto kernel = normalised(state.unit.kernel);
    if (!kernel) return kernel.error();
    const Analysis flat(*kernel);
    Error reason = refuse("the kernel has no counted loop at its top level");
    for (const StmtPtr& stmt : kernel->body) {
      if (stmt->kind != StmtKind::loop) continue;
      auto plan = plan_tile(*kernel, flat, stmt, (*launch)->block, *depth);
      if (!plan) {
        reason = plan.error();
        continue;
      }
      KernelState result = state;
      result.unit.kernel = *kernel;
      result.unit.kernel.body = Tiler(*kernel, (*launch)->block, std::move(*plan)).run();
      rely_on(result, kNeedsDistinctBuffers);
      const std::int64_t bytes = shared_bytes(result.unit.kernel);
      if (bytes > kStaticSharedLimitBytes) {
        reason = refuse("the tiles need " + std::to_string(bytes) + " bytes of the " +
                        std::to_string(kStaticSharedLimitBytes) + " a block may declare");
        continue;
      }
      return result;
    }
    return reason;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_smem_tile() {
  return std::make_unique<SmemTile>();
}

}  // namespace regraph::rewrite
