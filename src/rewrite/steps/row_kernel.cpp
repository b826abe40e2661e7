// row_kernel: a kernel with a block a row, threads that take its elements in turn and a tree in
// shared memory, is laid out anew.
//
// It is taken for one thread a row (row_serialisation.h; where each warp of a block has a row of
// its own, for blocks of one warp first, warps_as_blocks.h), and the row is dealt out as
// cross_thread_reduction does it: any number of threads, neighbouring elements as vectors, rows in
// registers between the loops, sums by shuffles. Where it is neighbouring rows that lie side by
// side (sums of columns), 32 of them share a block as in slice_reduction. With form=online its
// passes for the largest value and for what exponentials weight become one in between, as by
// online_fusion. With form=elements, for rows that nothing is added up of, threads of the grid take
// an element each, as by parallel_loop, in larger blocks where that is possible; columns, rows and
// what was a block along three axes where elements go to places told by quotients of their number
// (quotient_nests.h). Where each thread of a block has one element, it is taken for one thread as
// attention is (serialise_elements). Legal where all of them are.
#include "affine/block_geometry.h"
#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/flat_block.h"
#include "rewrite/transform/quotient_nests.h"
#include "rewrite/transform/row_serialisation.h"
#include "rewrite/transform/thread_serialisation.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/polynomial.h"
#include "source/walk.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

// Blocks of several rows, each of which is one warp's, as blocks of one warp.
//
//   row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;        row = blockIdx.x;
//   lane = threadIdx.x % 32;                                   ->   lane = threadIdx.x;
//   blocks of 256 threads                                           blocks of 32 threads, 8 times as many

constexpr std::uint32_t kWarp = 32;
constexpr const char* kBlock = "blockIdx.x";
constexpr const char* kWarpInBlock = "threadIdx.y";

// Replaces every number that follows the warp by one that follows the warp's own block.
class WarpNumbers final : public Mutator {
 public:
  WarpNumbers(const Kernel& kernel, const Dim3& block) : analysis_(kernel), block_(block) {}
  using Mutator::run;

  // The body; nothing where a warp is asked for otherwise than by its number in the grid.
  std::optional<Block> replaced(const Block& body) {
    const Block without =
        rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          const auto* declared = as<Declaration>(stmt);
          if (declared == nullptr || !stays_in_block(*declared)) return std::nullopt;
          in_block_.insert(declared->variable.name);
          return Block();
        });
    Block result = run(without);
    return failed_ ? std::nullopt : std::optional(std::move(result));
  }

 private:
  ExprPtr mutate(const ExprPtr& expr, const Binary& binary) override {
    if (ExprPtr number = number_of(expr)) return number;
    return Mutator::mutate(expr, binary);
  }
  ExprPtr mutate(const ExprPtr& expr, const Cast& cast) override {
    if (ExprPtr number = number_of(expr)) return number;
    return Mutator::mutate(expr, cast);
  }
  ExprPtr mutate(const ExprPtr& expr, const Builtin& builtin) override {
    // Alone it tells where the warp stands in its block.
    failed_ = failed_ || builtin.name == kBlock || builtin.name == kWarpInBlock;
    if (builtin.name == "blockDim.x") return integer(kWarp);
    if (builtin.name == "blockDim.y") return integer(block_.y);
    return expr;
  }
  ExprPtr mutate(const ExprPtr& expr, const VariableReference& name) override {
    failed_ = failed_ || in_block_.contains(name.name);
    return expr;
  }

  // int warp = threadIdx.x / 32: what is made of it is replaced where it is used.
  bool stays_in_block(const Declaration& declared) const {
    if (!declared.value || !analysis_.is_single_definition(declared.variable.name)) return false;
    const auto found = analysis_.polynomial(declared.value);
    return found && follows_warp(*found) && !in_grid(*found);
  }

  bool follows_warp(const Polynomial& number) const {
    const Polynomial here = with_block_extents(number, block_);
    return here.mentions(kBlock) || here.mentions(kWarpInBlock);
  }

  // In terms of the warp's number in the grid, which is the new block's index; nothing where there
  // is more to it.
  std::optional<Polynomial> in_grid(const Polynomial& number) const {
    const Polynomial warp = Polynomial::symbol("warp.number");
    const Polynomial by_grid =
        with_block_extents(number, block_)
            .substitute(kWarpInBlock,
                        warp - Polynomial(std::int64_t{block_.y}) * Polynomial::symbol(kBlock));
    if (by_grid.mentions(kBlock)) return std::nullopt;
    return by_grid.substitute("warp.number", Polynomial::symbol(kBlock));
  }

  // Null where the expression does not follow the warp.
  ExprPtr number_of(const ExprPtr& expr) const {
    const auto found = analysis_.polynomial(expr);
    if (!found || !follows_warp(*found)) return nullptr;
    const auto number = in_grid(*found);
    if (!number) return nullptr;
    const bool is_wide = expr->type && size_in_bytes(*expr->type) == sizeof(std::int64_t);
    return with_type(to_expression(*number, is_wide), expr->type);
  }

  const Analysis analysis_;
  const Dim3 block_;
  std::set<std::string> in_block_;  // names of what tells warps of a block apart
  bool failed_ = false;
};

// The state with a block for each warp. Error: refused: blocks are one warp, warps of a block share
// memory or wait for each other, or a warp is asked for in other ways than by its number in the
// grid.
Result<KernelState> with_warps_as_blocks(const KernelAnalysis& kernel) {
  if (Status status = require({.fixed_block = true}, kernel); !status) return status.error();
  KernelState result = kernel.state();
  Kernel whole = kernel.kernel();
  Launch flat = **kernel.launch();
  if (flat.block.y == 1) {
    if (flat.block.x <= kWarp) return refuse("a block is one warp");
    const ExprPtr extent = integer(std::int64_t{flat.block.x});
    whole.body =
        rewrite_expressions(whole.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          return is_builtin(*expr, "blockDim.x") ? std::optional(extent) : std::nullopt;
        });
    auto rows = with_block_of_rows(whole, flat);
    if (!rows) return rows.error();
    whole.body = std::move(rows->body);
    flat = std::move(rows->launch);
  }
  if (flat.block.x != kWarp || flat.block.y == 1 || flat.block.z != 1)
    return refuse("a block's warps are not rows of its threads");
  const Analysis analysis(whole);
  if (analysis.has_shared() || analysis.has_barrier())
    return refuse("warps of a block work together");
  if (analysis.uses_builtin("gridDim.x")) return refuse("the number of blocks is asked for");
  auto body = WarpNumbers(whole, flat.block).replaced(whole.body);
  if (!body) return refuse("a warp is asked for otherwise than by its number in the grid");
  whole.body = std::move(*body);
  result.unit.kernel = std::move(whole);
  Launch made = flat;
  for (IntegerExpression& extent : made.grid) {
    extent = with_block_extents(extent, flat.block);
  }
  made.grid[0] =
      IntegerExpression::multiply(made.grid[0], IntegerExpression(std::int64_t{flat.block.y}));
  made.block = {kWarp, 1, 1};
  result.unit.kernel.launch_bounds_min_blocks.reset();
  relaunch(result, made);
  kernel.note_reliance(result);
  return result;
}

class RowKernel final : public StepRewriter {
 public:
  std::string_view id() const override { return "row_kernel"; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    // 8 and 16 are for elements of two bytes and of one.
    for (const char* width : {"4", "8", "16", "1"}) {
      result.push_back({{"threads", "32"}, {"rows", "4"}, {"width", width}});
      for (const char* threads : {"8", "16"})
        result.push_back({{"threads", threads}, {"rows", "16"}, {"width", width}});
      for (const char* threads : {"64", "128", "256", "512"})
        result.push_back({{"threads", threads}, {"rows", "1"}, {"width", width}});
    }
    for (const char* threads : {"8", "16", "32"})
      result.push_back({{"threads", threads}, {"rows", kSideBySide}, {"width", "1"}});
    const auto add_online = [&](const char* threads, const char* rows, const char* width) {
      result.push_back(
          {{"threads", threads}, {"rows", rows}, {"width", width}, {"form", "online"}});
    };
    for (const char* width : {"4", "8"}) {
      add_online("32", "4", width);
      for (const char* threads : {"128", "256", "512"})
        add_online(threads, "1", width);
    }
    add_online("256", "1", "1");
    result.push_back({{"form", kElements}});
    return result;
  }

  Status match(const KernelAnalysis& kernel, const StepParameters& parameters) const override {
    if (takes_elements(parameters)) {
      const auto elements = raise_elements(kernel);
      if (!elements) return elements.error();
      const KernelAnalysis analysis(elements->state, kernel.problem(), kernel.limits());
      const MacroMember& first = elements->spreading.front();
      const Status status = find_built_in_step(first.step)->match(analysis, first.settings.front());
      return status ? status : Status(refuse(first.step + ": " + status.error().message));
    }
    const auto raised = raise(kernel, parameters);
    if (!raised) return raised.error();
    const KernelAnalysis analysis(*raised, kernel.problem(), kernel.limits());
    const auto [step, setting] = dealing(parameters);
    return step->match(analysis, setting);
  }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    if (takes_elements(parameters)) {
      const auto elements = raise_elements(kernel);
      if (!elements) return elements.error();
      const KernelAnalysis analysis(elements->state, kernel.problem(), kernel.limits());
      return apply_members(analysis, elements->spreading);
    }
    const auto raised = raise(kernel, parameters);
    if (!raised) return raised.error();
    const KernelAnalysis analysis(*raised, kernel.problem(), kernel.limits());
    const auto [step, setting] = dealing(parameters);
    return step->apply(analysis, setting);
  }

 private:
  static constexpr const char* kSideBySide = "32";
  static constexpr const char* kElements = "elements";

  static bool takes_elements(const StepParameters& parameters) {
    const auto form = parameters.find("form");
    return form != parameters.end() && form->second == kElements;
  }
  // Rows of one thread each, and the steps that give their elements threads.
  struct Elements {
    KernelState state;
    std::vector<MacroMember> spreading;
  };

  static bool are_side_by_side(const StepParameters& parameters) {
    return parameters.at("rows") == kSideBySide;
  }
  // Whether blocks next to each other read elements next to each other.
  static bool reads_side_by_side(const KernelAnalysis& kernel) {
    const KernelForm* form = kernel.direct();
    const std::string block = "blockIdx.x";
    return any_expression(form->kernel.body, [&](const Expr& expr) {
      const auto* access = as<Subscript>(expr);
      const auto index =
          access != nullptr ? form->analysis.polynomial(access->index) : std::nullopt;
      if (!index) return false;
      const auto further = index->substitute(block, Polynomial::symbol(block) + Polynomial(1));
      const auto stride = (further - *index).constant();
      const auto* base = as<VariableReference>(access->base);
      return stride == 1 && base != nullptr && index->symbols().size() > 1 &&
             !form->analysis.is_written(base->name);
    });
  }
  // A thread for each row of a block, of which threads take elements in turn or have one each.
  // Errors: of the first.
  static Result<KernelState> raised_by_block(const KernelAnalysis& kernel) {
    auto raised = serialise_rows(kernel);
    if (raised) return raised;
    auto of_elements = serialise_elements(kernel);
    return of_elements ? std::move(of_elements) : std::move(raised);
  }

  // Rows may be those of blocks, or of the warps of blocks. Errors: of the first.
  static Result<KernelState> raised_by_blocks_or_warps(const KernelAnalysis& kernel) {
    auto raised = raised_by_block(kernel);
    if (raised) return raised;
    const auto warps = with_warps_as_blocks(kernel);
    if (!warps) return raised;
    auto of_warps = raised_by_block(KernelAnalysis(*warps, kernel.problem(), kernel.limits()));
    return of_warps ? std::move(of_warps) : std::move(raised);
  }

  // Elements go along an axis. Where they are not told apart so, those that are told by quotients
  // are a nest's: rows and columns go along axes of their own, the row that all of them are of
  // last.
  static Result<Elements> raise_elements(const KernelAnalysis& kernel) {
    auto raised = raised_by_blocks_or_warps(kernel);
    if (!raised) return raised.error();
    const MacroMember flat = {"parallel_loop", {{{"axis", "x"}, {"loop", "1"}}}};
    const KernelAnalysis analysis(*raised, kernel.problem(), kernel.limits());
    const Status is_flat = find_built_in_step(flat.step)->match(analysis, flat.settings.front());
    const Block nests = is_flat ? Block() : with_quotient_nests(raised->unit.kernel);
    if (is_flat || nests == raised->unit.kernel.body)
      return Elements{std::move(*raised), {flat, {"block_size", {{{"block", "256"}}}, true}}};
    raised->unit.kernel.body = nests;
    return Elements{std::move(*raised),
                    {{"parallel_loop", {{{"axis", "y"}, {"loop", "1"}}}},
                     {"parallel_loop", {{{"axis", "x"}, {"old_x", "z"}, {"loop", "1"}}}}}};
  }

  static Result<KernelState> raise(const KernelAnalysis& kernel, const StepParameters& parameters) {
    for (const char* name : {"threads", "rows", "width"}) {
      if (auto number = integer_parameter(parameters, name); !number) return number.error();
    }
    if (are_side_by_side(parameters) && !reads_side_by_side(kernel)) {
      return refuse("a row's elements lie side by side, not those of neighbouring rows");
    }
    auto raised = raised_by_blocks_or_warps(kernel);
    const auto form = parameters.find("form");
    if (!raised || form == parameters.end()) return raised;
    const KernelAnalysis analysis(*raised, kernel.problem(), kernel.limits());
    return find_built_in_step("online_fusion")->apply(analysis, {{"form", form->second}});
  }

  // The step that deals rows out to threads, and its setting.
  static std::pair<const StepRewriter*, StepParameters> dealing(const StepParameters& parameters) {
    if (are_side_by_side(parameters)) {
      return {find_built_in_step("slice_reduction"), {{"slices", parameters.at("threads")}}};
    }
    StepParameters setting = {{"threads_per_row", parameters.at("threads")},
                              {"rows_per_block", parameters.at("rows")}};
    if (parameters.at("width") != "1") setting["width"] = parameters.at("width");
    return {find_built_in_step("cross_thread_reduction"), setting};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_row_kernel() {
  return std::make_unique<RowKernel>();
}

}  // namespace regraph::rewrite
