#include "rewrite/transform/warps_as_blocks.h"

#include "rewrite/analysis/block_geometry.h"
#include "rewrite/transform/flat_block.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::Block;
using source::ExprPtr;
using source::Polynomial;

namespace {

constexpr std::uint32_t kWarp = 32;
constexpr const char* kBlock = "blockIdx.x";
constexpr const char* kWarpInBlock = "threadIdx.y";

// Replaces every number that follows the warp by one that follows the warp's own block.
class WarpNumbers final : public source::Mutator {
 public:
  WarpNumbers(const source::Kernel& kernel, const Dim3& block) : analysis_(kernel), block_(block) {}
  using Mutator::run;

  // The body; nothing where a warp is asked for otherwise than by its number in the grid.
  std::optional<Block> replaced(const Block& body) {
    const Block without =
        source::rewrite_statements(body, [&](const source::StmtPtr& stmt) -> std::optional<Block> {
          const auto* declared = source::as<source::Declaration>(stmt);
          if (declared == nullptr || !stays_in_block(*declared)) return std::nullopt;
          in_block_.insert(declared->variable.name);
          return Block();
        });
    Block result = run(without);
    return failed_ ? std::nullopt : std::optional(std::move(result));
  }

 private:
  ExprPtr mutate(const ExprPtr& expr, const source::Binary& binary) override {
    if (ExprPtr number = number_of(expr)) return number;
    return Mutator::mutate(expr, binary);
  }
  ExprPtr mutate(const ExprPtr& expr, const source::Cast& cast) override {
    if (ExprPtr number = number_of(expr)) return number;
    return Mutator::mutate(expr, cast);
  }
  ExprPtr mutate(const ExprPtr& expr, const source::Builtin& builtin) override {
    // Alone it tells where the warp stands in its block.
    failed_ = failed_ || builtin.name == kBlock || builtin.name == kWarpInBlock;
    if (builtin.name == "blockDim.x") return source::integer(kWarp);
    if (builtin.name == "blockDim.y") return source::integer(block_.y);
    return expr;
  }
  ExprPtr mutate(const ExprPtr& expr, const source::VariableReference& name) override {
    failed_ = failed_ || in_block_.contains(name.name);
    return expr;
  }

  // int warp = threadIdx.x / 32: what is made of it is replaced where it is used.
  bool stays_in_block(const source::Declaration& declared) const {
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
    return source::with_type(source::to_expression(*number, is_wide), expr->type);
  }

  const source::Analysis analysis_;
  const Dim3 block_;
  std::set<std::string> in_block_;  // names of what tells warps of a block apart
  bool failed_ = false;
};

}  // namespace

Result<KernelState> with_warps_as_blocks(const KernelAnalysis& kernel) {
  if (const Status& status = kernel.transparent(); !status) return status.error();
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  if ((*launch)->block_follows_sizes()) return refuse("the block's extents follow the sizes");
  KernelState result = kernel.state();
  source::Kernel whole = kernel.kernel();
  Launch flat = **launch;
  if (flat.block.y == 1) {
    if (flat.block.x <= kWarp) return refuse("a block is one warp");
    const ExprPtr extent = source::integer(std::int64_t{flat.block.x});
    whole.body =
        source::rewrite_expressions(whole.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          return source::is_builtin(*expr, "blockDim.x") ? std::optional(extent) : std::nullopt;
        });
    auto rows = with_block_of_rows(whole, flat);
    if (!rows) return rows.error();
    whole.body = std::move(rows->body);
    flat = std::move(rows->launch);
  }
  if (flat.block.x != kWarp || flat.block.y == 1 || flat.block.z != 1)
    return refuse("a block's warps are not rows of its threads");
  const source::Analysis analysis(whole);
  if (analysis.has_shared() || analysis.has_barrier())
    return refuse("warps of a block work together");
  if (analysis.uses_builtin("gridDim.x")) return refuse("the number of blocks is asked for");
  auto body = WarpNumbers(whole, flat.block).replaced(whole.body);
  if (!body) return refuse("a warp is asked for otherwise than by its number in the grid");
  whole.body = std::move(*body);
  result.unit.kernel = std::move(whole);
  Launch& made = result.plan.launches.front();
  made = flat;
  for (IntegerExpression& extent : made.grid) {
    extent = extent.substitute({{"bx", IntegerExpression(std::int64_t{flat.block.x})},
                                {"by", IntegerExpression(std::int64_t{flat.block.y})},
                                {"bz", IntegerExpression(1)}});
  }
  made.grid[0] =
      IntegerExpression::multiply(made.grid[0], IntegerExpression(std::int64_t{flat.block.y}));
  made.block = {kWarp, 1, 1};
  if (result.unit.kernel.launch_bounds_threads) {
    result.unit.kernel.launch_bounds_threads = static_cast<int>(kWarp);
    result.unit.kernel.launch_bounds_min_blocks.reset();
  }
  kernel.note_reliance(result);
  return result;
}

}  // namespace regraph::rewrite
