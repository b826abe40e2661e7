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
// With copy=vector, threads copy W neighbours with one access where the whole strip belongs to what
// is accessed and W divides where rows start (asked when the kernel runs, the same for all threads
// of a block), and single elements elsewhere. Tiles then lie so that what a thread reads one after
// another is contiguous, and aligned for wide reads (stage_copy.h, vector_copy.h). With copy=kept
// they lie as the arrays do in memory instead, so that vectors may be copied to them whole, by
// hardware too (async_pipeline); rows along the contraction are an odd number of vectors long, so
// that threads can read vectors of several rows at once.
//
// Of several loops that qualify, "loop" chooses the first, second or third.
#include "rewrite/analysis/loop_choice.h"
#include "rewrite/analysis/tile_plan.h"
#include "rewrite/analysis/vector_type.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/stage_copy.h"
#include "rewrite/transform/tile_body.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <memory>

namespace regraph::rewrite {
namespace {

// Statements that a strip may be written out to: more do not fit the instruction caches well.
constexpr std::int64_t kMostWrittenOut = 2048;

// Statements of the block when the loops in it that are to be written out are.
std::int64_t copies_in(const Block& block) {
  std::int64_t copies = 0;
  for (const StmtPtr& stmt : block) {
    const std::int64_t inside = copies_in(body_of(*stmt)) + copies_in(otherwise_of(*stmt));
    const auto* loop = as<ForLoop>(stmt);
    const auto counted = counted_loop_of(*stmt);
    const auto trips = counted ? counted->trip_count() : std::nullopt;
    const bool is_written_out = loop != nullptr && loop->unroll == kUnrollFully && trips;
    copies += is_written_out ? inside * *trips : inside + 1;
  }
  return copies;
}

class Tiler {
 public:
  Tiler(const Kernel& kernel, const Analysis& analysis, const Dim3& block, const TilePlan& plan)
      : kernel_(kernel),
        analysis_(analysis),
        plan_(plan),
        names_(kernel),
        copies_(kernel, block, names_) {
    names_.take(plan.inner);
    names_.take(plan.outer);
    take_names(plan.arrays, names_);
  }

  Block run() {
    Block result = copies_.declarations(plan_.arrays);
    const Block body =
        rewrite_statements(kernel_.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          return stmt == plan_.loop ? std::optional(Block{tiled_loop()}) : std::nullopt;
        });
    result.insert(result.end(), body.begin(), body.end());
    return result;
  }

 private:
  StmtPtr tiled_loop() {
    Block strip;
    for (const Stage& array : plan_.arrays)
      strip.push_back(copies_.copy(array, StageCopy::Deal::items));
    strip.push_back(barrier());

    const TileBody tiled(kernel_, analysis_, plan_);
    Block body = tiled.body();
    const ExprPtr rest = subtract(plan_.counted.limit, variable(plan_.outer));
    ExprPtr limit = integer(plan_.depth);
    const bool is_shortened = !tiled.adds_only_vanishing_terms(body);
    if (is_shortened && !plan_.copies.vectors) limit = call("min", {limit, rest});
    const bool uses_variable =
        any_expression(body, [&](const Expr& node) { return is_named(node, plan_.counted.name); });
    if (uses_variable) {
      body.insert(body.begin(), declare_integer(plan_.counted.name,
                                                add(variable(plan_.outer), variable(plan_.inner))));
    }
    int unroll = to<ForLoop>(plan_.loop).unroll;
    // Reads of neighbours become wide where the loop is written out.
    if (plan_.copies.vectors && unroll == kNoUnrollPragma &&
        copies_in(body) * plan_.depth <= kMostWrittenOut) {
      unroll = kUnrollFully;
    }
    const StmtPtr whole = counted_loop(plan_.inner, integer(0), limit, 1, body, unroll);
    if (is_shortened && plan_.copies.vectors) {
      // The last strip, if it is not a whole one, runs as a loop.
      for (const Block& beside : {body, strip})
        for (const std::string& name : declared_names(beside))
          names_.take(name);
      const Block last = names_.renamed(
          {counted_loop(plan_.inner, integer(0), rest, 1, std::move(body), kNeverUnroll)});
      strip.push_back(
          branch(binary(BinaryOperator::less_equal, integer(plan_.depth), rest), {whole}, last));
    } else {
      strip.push_back(whole);
    }
    strip.push_back(barrier());
    return counted_loop(plan_.outer, plan_.counted.first, plan_.counted.limit, plan_.depth,
                        std::move(strip));
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const TilePlan& plan_;
  Names names_;
  StageCopy copies_;
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
    for (const char* loop : kLoopChoices) {
      for (const char* depth : {"8", "16", "32"})
        result.push_back({{"loop", loop}, {"depth", depth}, {"copy", "vector"}});
    }
    for (const char* depth : {"16", "32"})
      result.push_back({{"loop", "1"}, {"depth", depth}, {"copy", "kept"}});
    return result;
  }

 protected:
  Requirements requirements() const override {
    return {.distinct_buffers = "a copy could go stale",
            .shared = SharedMemory::none,
            .known_calls = true};
  }
  Result<TilePlan> find(const KernelAnalysis& kernel,
                        const StepParameters& parameters) const override {
    auto depth = integer_parameter(parameters, "depth");
    if (!depth) return depth.error();
    auto wanted = integer_parameter(parameters, "loop");
    if (!wanted) return wanted.error();
    if (*depth < 2 || *wanted < 1) {
      return fail(ErrorCode::invalid_argument, "'depth' must be at least 2 and 'loop' at least 1");
    }
    auto form = kernel.direct_normal();
    if (!form) return form.error();
    TileCopies copies;
    if (const auto copy = parameters.find("copy"); copy != parameters.end()) {
      if (copy->second != "vector" && copy->second != "kept")
        return fail(ErrorCode::invalid_argument, "'copy' must be vector or kept");
      copies = {true, copy->second == "kept", kernel.problem().assume.align};
    }
    return plan_of(**form, (*kernel.launch())->block, *depth, *wanted, copies, kernel);
  }

  KernelState rewrite(const KernelAnalysis& kernel, const TilePlan& plan) const override {
    const KernelForm& form = **kernel.direct_normal();
    KernelState result = kernel.state();
    const Dim3 block = result.plan.launches.front().block;
    result.unit.kernel = form.kernel;
    result.unit.kernel.body = Tiler(form.kernel, form.analysis, block, plan).run();
    rely_on(result, kNeedsDistinctBuffers);
    if (has_vectors(plan.arrays)) rely_on_alignment(result, kernel.problem().assume.align);
    return result;
  }

 private:
  // The plan for the `wanted`th loop that can be tiled.
  static Result<TilePlan> plan_of(const KernelForm& form, const Dim3& block, int depth, int wanted,
                                  const TileCopies& copies, const KernelAnalysis& state) {
    Error reason = refuse("the kernel has no counted loop that all threads reach");
    int position = 0;
    for (const StmtPtr& stmt : loops_all_reach(form.kernel.body, form.analysis)) {
      auto plan = plan_tile(form.kernel, form.analysis, stmt, block, depth, copies);
      if (!plan) {
        reason = plan.error();
        continue;
      }
      if (copies.vectors && !has_vectors(plan->arrays)) {
        reason = refuse("no row of a tile is made of whole vectors of " +
                        std::to_string(copies.alignment) + " bytes at most");
        continue;
      }
      if (++position != wanted) continue;
      // The kernel itself has no shared memory.
      const std::int64_t bytes = bytes_of_tiles(plan->arrays);
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
