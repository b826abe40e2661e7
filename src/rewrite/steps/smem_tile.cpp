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
// zeros when every term has a staged zero factor, else the last strip is shortened (tile_body.h).
//
// Of several loops that qualify, "loop" chooses the first, second or third.
#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/loop_choice.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/tile_plan.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/tile_body.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>

namespace regraph::rewrite {
namespace {

using source::Analysis;
using source::Block;
using source::Expr;
using source::ExprPtr;
using source::Kernel;
using source::Polynomial;
using source::StmtPtr;

// Copies with at most this many items a thread are unrolled, so that their loads are in flight
// together.
constexpr std::int64_t kMostUnrolledCopies = 32;

source::Variable tile_of(const StagedArray& array) {
  source::Variable tile = source::local_variable(array.tile, array.type, array.scalar);
  tile.storage = source::Storage::shared;
  for (const FootprintDimension& dimension : array.footprint.dimensions)
    tile.extents.push_back(dimension.extent);
  return tile;
}

class Tiler {
 public:
  Tiler(const Kernel& kernel, const Analysis& analysis, const Dim3& block, const TilePlan& plan)
      : kernel_(kernel), analysis_(analysis), block_(block), plan_(plan) {
    thread_ = source::fresh_name(kernel, "thread");
  }

  Block run() {
    Block result;
    for (const StagedArray& array : plan_.arrays)
      result.push_back(source::declare(tile_of(array), nullptr));
    result.push_back(source::declare_integer(thread_, linear_thread(block_)));
    const Block body =
        source::rewrite_statements(kernel_.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          return stmt == plan_.loop ? std::optional(Block{tiled_loop()}) : std::nullopt;
        });
    result.insert(result.end(), body.begin(), body.end());
    return result;
  }

 private:
  // Copies the array's footprint of one strip.
  StmtPtr copy_loop(const StagedArray& array) const {
    const auto threads = static_cast<std::int64_t>(block_.count());
    const std::int64_t items = array.footprint.elements();
    const std::string item = source::fresh_name(kernel_, array.name + "_item");
    const std::string step = source::fresh_name(kernel_, array.name + "_step");
    const bool even = items % threads == 0 && items / threads <= kMostUnrolledCopies;

    Block body;
    if (even) {
      body.push_back(source::declare_integer(
          item, source::add(source::variable(thread_),
                            source::multiply(source::variable(step), source::integer(threads)))));
    }
    const std::vector<ExprPtr> coordinates = declare_coordinates(array, item, body);
    body.push_back(
        source::assign(source::element(source::variable(array.tile, array.scalar), coordinates),
                       value_of(array, coordinates)));
    if (even) {
      return source::counted_loop(step, source::integer(0), source::integer(items / threads), 1,
                                  std::move(body), source::kUnrollFully);
    }
    return source::counted_loop(item, source::variable(thread_), source::integer(items), threads,
                                std::move(body));
  }

  // The place in the tile of the item that is copied.
  static std::vector<ExprPtr> declare_coordinates(const StagedArray& array, const std::string& item,
                                                  Block& out) {
    const std::int64_t columns = array.footprint.dimensions.back().extent;
    const bool has_rows = array.coordinates.size() == 2;
    std::vector<ExprPtr> coordinates;
    if (has_rows) {
      out.push_back(source::declare_integer(
          array.coordinates[0], source::divide(source::variable(item), source::integer(columns))));
      coordinates.push_back(source::variable(array.coordinates[0]));
    }
    ExprPtr column = source::variable(item);
    if (has_rows) column = source::remainder(column, source::integer(columns));
    out.push_back(source::declare_integer(array.coordinates.back(), column));
    coordinates.push_back(source::variable(array.coordinates.back()));
    return coordinates;
  }

  // The element that belongs there, or zero where the original does not access it.
  ExprPtr value_of(const StagedArray& array, const std::vector<ExprPtr>& coordinates) const {
    const Footprint& footprint = array.footprint;
    Polynomial index = footprint.base;
    std::vector<ExprPtr> conditions = array.guards;
    for (std::size_t d = 0; d < footprint.dimensions.size(); ++d) {
      index = index + footprint.dimensions[d].stride * Polynomial::symbol(array.coordinates[d]);
      if (!footprint.dimensions[d].terms.contains(plan_.counted.name)) continue;
      // The strip may reach past the end of the loop.
      index = index + footprint.dimensions[d].stride * Polynomial::symbol(plan_.outer);
      conditions.push_back(source::less(source::add(source::variable(plan_.outer), coordinates[d]),
                                        plan_.counted.limit));
    }
    const ExprPtr value = source::element(source::variable(array.name, array.scalar),
                                          {source::to_expression(index, array.wide_index)});
    if (conditions.empty()) return value;
    return source::conditional(source::conjunction(conditions), value,
                               source::zero_value(array.type, array.scalar));
  }

  StmtPtr tiled_loop() const {
    Block strip;
    for (const StagedArray& array : plan_.arrays)
      strip.push_back(copy_loop(array));
    strip.push_back(source::barrier());

    const TileBody tiled(kernel_, analysis_, plan_);
    Block body = tiled.body();
    ExprPtr limit = source::integer(plan_.depth);
    if (!tiled.adds_only_vanishing_terms(body)) {
      limit = source::call(
          "min", {limit, source::subtract(plan_.counted.limit, source::variable(plan_.outer))});
    }
    bool uses_variable = false;
    source::walk_expressions(body, [&](const Expr& node) {
      uses_variable = uses_variable || source::is_named(node, plan_.counted.name);
    });
    if (uses_variable) {
      body.insert(
          body.begin(),
          source::declare_integer(plan_.counted.name, source::add(source::variable(plan_.outer),
                                                                  source::variable(plan_.inner))));
    }
    strip.push_back(source::counted_loop(plan_.inner, source::integer(0), limit, 1, std::move(body),
                                         source::to<source::ForLoop>(plan_.loop).unroll));
    strip.push_back(source::barrier());
    return source::counted_loop(plan_.outer, plan_.counted.first, plan_.counted.limit, plan_.depth,
                                std::move(strip));
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  Dim3 block_;
  const TilePlan& plan_;
  std::string thread_;
};

class SmemTile final : public PlacedStep<TilePlan> {
 public:
  std::string_view id() const override { return "smem_tile"; }
  int position() const override { return 40; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* loop : kLoopChoices) {
      for (const char* depth : {"8", "16", "32"})
        result.push_back({{"loop", loop}, {"depth", depth}});
    }
    return result;
  }

 protected:
  Result<TilePlan> find(const KernelAnalysis& kernel,
                        const StepParameters& parameters) const override {
    auto depth = integer_parameter(parameters, "depth");
    if (!depth) return depth.error();
    auto wanted = integer_parameter(parameters, "loop");
    if (!wanted) return wanted.error();
    if (*depth < 2 || *wanted < 1) {
      return fail(ErrorCode::invalid_argument, "'depth' must be at least 2 and 'loop' at least 1");
    }
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    if (!kernel.problem().assume.noalias) {
      return refuse(
          "the problem does not grant 'assume: {noalias: true}', so a copy could go stale");
    }
    if (const Status& status = kernel.transparent(); !status) return status.error();
    if (kernel.analysis().has_shared()) return refuse("the kernel uses shared memory already");
    if (!kernel.analysis().unknown_calls().empty()) {
      return refuse("the kernel calls '" + *kernel.analysis().unknown_calls().begin() +
                    "', which may read memory");
    }
    auto form = kernel.normal();
    if (!form) return form.error();
    return plan_of((*form)->kernel, (*form)->analysis, (*launch)->block, *depth, *wanted, kernel);
  }

  KernelState rewrite(const KernelAnalysis& kernel, const TilePlan& plan) const override {
    const KernelForm& form = **kernel.normal();
    KernelState result = kernel.state();
    const Dim3 block = result.plan.launches.front().block;
    result.unit.kernel = form.kernel;
    result.unit.kernel.body = Tiler(form.kernel, form.analysis, block, plan).run();
    rely_on(result, kNeedsDistinctBuffers);
    return result;
  }

 private:
  // The plan for the `wanted`th loop that can be tiled.
  static Result<TilePlan> plan_of(const Kernel& kernel, const Analysis& analysis, const Dim3& block,
                                  int depth, int wanted, const KernelAnalysis& state) {
    Error reason = refuse("the kernel has no counted loop that all threads reach");
    int position = 0;
    for (const StmtPtr& stmt : loops_all_reach(kernel.body, analysis)) {
      auto plan = plan_tile(kernel, analysis, stmt, block, depth);
      if (!plan) {
        reason = plan.error();
        continue;
      }
      if (++position != wanted) continue;
      // The kernel itself has no shared memory.
      std::int64_t bytes = 0;
      for (const StagedArray& array : plan->arrays)
        bytes += bytes_of(tile_of(array));
      if (Status status = require_shared_bytes(bytes, state, "the tiles need"); !status)
        return status.error();
      return plan;
    }
    if (position > 0) {
      return refuse("only " + std::to_string(position) + " of the kernel's loops can be tiled");
    }
    return reason;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_smem_tile() {
  return std::make_unique<SmemTile>();
}

}  // namespace regraph::rewrite
