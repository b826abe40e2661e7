#include "infer/infer_launch.h"

#include "infer/analysis_form.h"
#include "infer/hidden_guards.h"
#include "source/counted_loop.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

namespace regraph::infer {

using source::Expr;
using source::ExprPtr;
using source::Polynomial;

namespace {

constexpr std::array<const char*, 3> kAxisNames = {"x", "y", "z"};
constexpr std::uint32_t kThreadsInOneAxis = 256;
constexpr std::uint32_t kThreadsInTwoAxes = 16;
// Blocks of a grid-stride kernel: several for each multiprocessor of any current GPU.
constexpr std::int64_t kGridStrideBlocks = 1024;

// Strides of the loops from zero that walk through a tile, by counter.
std::map<std::string, std::int64_t> tile_loops(const source::Kernel& kernel) {
  std::map<std::string, std::int64_t> strides;
  source::walk(kernel.body, [&](const source::Stmt& stmt) {
    const auto loop = source::counted_loop_of(stmt);
    if (loop && loop->starts_at_zero()) strides[loop->name] = loop->stride;
  });
  return strides;
}

// Block extents that shared arrays imply which are indexed by threadIdx alone, padding rounded
// away, or by threadIdx and a loop's counter: its stride.
void fit_shared_arrays(const source::Kernel& kernel, const source::Analysis& analysis,
                       std::array<std::uint32_t, 3>& extents) {
  const std::map<std::string, std::int64_t> loops = tile_loops(kernel);
  const source::SymbolMeaning meaning = analysis.meaning();
  const auto with_counters = [&](const std::string& name) -> std::optional<Polynomial> {
    return loops.contains(name) ? Polynomial::symbol(name) : meaning(name);
  };
  source::walk_expressions(kernel.body, [&](const Expr& expr) {
    if (!source::is<source::Subscript>(expr)) return;
    const auto* base = source::base_variable(expr);
    const source::Variable* array = base != nullptr ? analysis.local(base->name) : nullptr;
    if (array == nullptr || array->storage != source::Storage::shared) return;
    const std::vector<ExprPtr> indices = source::indices_of(expr);
    for (std::size_t level = 0; level < indices.size() && level < array->extents.size(); ++level) {
      const auto index = source::to_polynomial(indices[level], with_counters);
      const auto extent = array->extents[level];
      if (!index || extent < 1) continue;
      for (std::size_t axis = 0; axis < kAxisNames.size(); ++axis) {
        const std::string thread = fmt::format("threadIdx.{}", kAxisNames[axis]);
        const Polynomial rest = *index - Polynomial::symbol(thread);
        std::int64_t fitting = 0;
        if (rest.is_zero()) fitting = std::bit_floor(static_cast<std::uint32_t>(extent));
        for (const auto& [counter, stride] : loops) {
          if (stride > 1 && stride < extent && rest == Polynomial::symbol(counter))
            fitting = stride;
        }
        if (fitting < 1) continue;
        const auto threads = static_cast<std::uint32_t>(fitting);
        extents[axis] = extents[axis] == 0 ? threads : std::min(extents[axis], threads);
      }
    }
  });
}

// Numbers of blocks whose threads one by one meet a bound.
std::set<std::string> guarded_extents(const AccessSummary& summary, std::size_t axis,
                                      std::uint32_t threads) {
  const std::string thread = fmt::format("threadIdx.{}", kAxisNames[axis]);
  const std::string number = fmt::format("blockIdx.{}", kAxisNames[axis]);
  std::set<std::string> counts;
  for (const Inequality& inequality : summary.inequalities()) {
    // bound - c * (blockIdx * blockDim + threadIdx) >= 0, or without threadIdx.
    const auto of_block = inequality.coefficient(number);
    if (!of_block || !of_block->constant() || *of_block->constant() >= 0) continue;
    const auto of_thread = inequality.coefficient(thread);
    const std::int64_t per_block = -*of_block->constant();
    std::int64_t per_thread = per_block;
    if (of_thread && !of_thread->is_zero()) {
      if (!of_thread->constant() || *of_thread->constant() >= 0) continue;
      per_thread = -*of_thread->constant();
      if (per_thread * threads != per_block) continue;
    }
    Polynomial bound = inequality.without({number, thread});
    // blockIdx * 32 + threadIdx / 32: a block's rows are numbered by a part of the index.
    for (const std::string& symbol : bound.symbols()) {
      const auto coefficient = bound.coefficient(symbol);
      if (thread_fraction(symbol) && coefficient && coefficient->constant() == -1)
        bound = bound.without({symbol});
    }
    const auto symbols = bound.symbols();
    const auto varying = std::find_if(symbols.begin(), symbols.end(), [&](const auto& symbol) {
      return !summary.bounds().is_size(symbol);
    });
    if (varying != symbols.end()) continue;
    const std::string count = expression_text(rounded_up(bound + Polynomial(1)));
    if (per_thread == per_block) {
      counts.insert(per_block == 1 ? count : fmt::format("cdiv({}, {})", count, per_block));
    } else if (per_thread == 1) {
      counts.insert(fmt::format("cdiv({}, b{})", count, kAxisNames[axis]));
    } else {
      counts.insert(fmt::format("cdiv({}, b{} * {})", count, kAxisNames[axis], per_thread));
    }
  }
  return counts;
}

// Numbers of blocks of which any thread meets a bound at all: threads and loops of a block that
// share its rows, "blockIdx.x * 32 + threadIdx.x + j < n".
std::set<std::string> possible_extents(const AccessSummary& summary, std::size_t axis) {
  const std::string number = fmt::format("blockIdx.{}", kAxisNames[axis]);
  std::set<std::string> counts;
  for (const Inequality& inequality : summary.inequalities()) {
    const auto of_block = inequality.coefficient(number);
    if (!of_block || !of_block->constant() || *of_block->constant() >= 0) continue;
    Polynomial bound = inequality.without({number});
    bool known = true;
    for (const std::string& symbol : bound.symbols()) {
      if (summary.bounds().is_size(symbol)) continue;
      const auto coefficient = bound.coefficient(symbol);
      const bool subtracts = coefficient && coefficient->constant().value_or(1) < 0;
      known = known && subtracts && !symbol.starts_with("blockIdx");
      bound = bound.without({symbol});
    }
    if (!known) continue;
    const std::int64_t per_block = -*of_block->constant();
    const std::string count = expression_text(rounded_up(bound + Polynomial(1)));
    counts.insert(per_block == 1 ? count : fmt::format("cdiv({}, {})", count, per_block));
  }
  return counts;
}

// What the host's code says of a grid's axis, else what is likely, else a size of its own.
IntegerExpression unguarded_extent(const source::Kernel& kernel, std::size_t axis,
                                   std::uint32_t threads,
                                   const std::optional<source::HostLaunch>& host,
                                   InferredLaunch& inferred) {
  if (host && host->open_grid) {
    const IntegerExpression& extent = (*host->open_grid)[axis];
    add_host_sizes(*host, extent, inferred.grid_sizes);
    return extent;
  }
  auto likely = likely_extent(kernel, axis, threads);
  // One condition bounds one axis.
  const bool is_used = likely && std::ranges::any_of(inferred.guesses, [&](const auto& guess) {
                         return guess.find(likely->condition) != std::string::npos;
                       });
  if (likely && !is_used) {
    inferred.guesses.push_back(
        fmt::format("the grid's {} is {}, guessed from {}: give the launch if it is another",
                    kAxisNames[axis], likely->extent.text(), likely->condition));
    return std::move(likely->extent);
  }
  std::string name = axis == 0 ? "blocks" : fmt::format("blocks_{}", kAxisNames[axis]);
  const auto taken = [&](const std::string& one) {
    return std::ranges::any_of(kernel.parameters,
                               [&](const auto& parameter) { return parameter.name == one; });
  };
  while (taken(name))
    name.insert(0, "grid_");
  inferred.grid_sizes.push_back(name);
  return IntegerExpression::symbol(name);
}

}  // namespace

void add_host_sizes(const source::HostLaunch& host, const IntegerExpression& extent,
                    std::vector<std::string>& sizes) {
  const std::set<std::string> used = extent.symbols();
  for (const std::string& name : host.host_sizes) {
    if (used.contains(name) && std::ranges::find(sizes, name) == sizes.end()) sizes.push_back(name);
  }
}

Dim3 default_block(const source::Kernel& kernel) {
  const source::Analysis analysis(kernel);
  const auto uses = [&](std::size_t axis) {
    return analysis.uses_builtin(fmt::format("threadIdx.{}", kAxisNames[axis]));
  };
  std::array<std::uint32_t, 3> extents = {0, 0, 0};
  fit_shared_arrays(kernel, analysis, extents);
  std::array<std::uint32_t, 3> standard = {kThreadsInOneAxis, 1, 1};
  if (uses(1)) standard = {kThreadsInTwoAxes, kThreadsInTwoAxes, 1};
  if (uses(2)) standard = {8, 8, 4};
  if (kernel.launch_bounds_threads && !uses(1) && !uses(2)) {
    standard[0] = static_cast<std::uint32_t>(*kernel.launch_bounds_threads);
  }
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] == 0) extents[axis] = standard[axis];
  }
  Dim3 block{extents[0], extents[1], extents[2]};
  if (block.count() > kMaxThreadsPerBlock || block.count() == 0)
    block = {standard[0], standard[1], standard[2]};
  return block;
}

Dim3 block_of_fractions(const AccessSummary& summary, const Dim3& block) {
  Dim3 result = block;
  for (const Inequality& inequality : summary.inequalities()) {
    for (const std::string& symbol : inequality.symbols()) {
      const auto fraction = thread_fraction(symbol);
      if (!fraction || !fraction->is_quotient || fraction->index != "threadIdx.x") continue;
      for (const char* axis : kAxisNames) {
        const auto of_block = inequality.coefficient(fmt::format("blockIdx.{}", axis));
        if (!of_block || !of_block->constant() || *of_block->constant() >= 0) continue;
        const std::int64_t threads = -*of_block->constant() * fraction->divisor;
        if (threads <= kMaxThreadsPerBlock) result.x = static_cast<std::uint32_t>(threads);
      }
    }
  }
  return result;
}

InferredLaunch infer_launch(const source::Kernel& kernel, const AccessSummary& summary,
                            const Dim3& block, const std::optional<source::HostLaunch>& host) {
  InferredLaunch inferred;
  Launch& launch = inferred.launch;
  launch.kernel = kernel.name;
  launch.block = block;
  const source::Analysis& analysis = summary.analysis();
  const std::array<std::uint32_t, 3> extents = {block.x, block.y, block.z};
  for (std::size_t axis = 0; axis < kAxisNames.size(); ++axis) {
    if (!analysis.uses_builtin(fmt::format("blockIdx.{}", kAxisNames[axis]))) continue;
    const bool strides = analysis.uses_builtin(fmt::format("gridDim.{}", kAxisNames[axis]));
    std::set<std::string> counts = guarded_extents(summary, axis, extents[axis]);
    if (counts.empty()) counts = possible_extents(summary, axis);
    if (counts.empty()) {
      launch.grid[axis] = unguarded_extent(kernel, axis, extents[axis], host, inferred);
      continue;
    }
    std::string text;
    for (const std::string& count : counts)
      text = text.empty() ? count : fmt::format("max({}, {})", text, count);
    if (strides) text = fmt::format("min({}, {})", text, kGridStrideBlocks);
    auto extent = IntegerExpression::parse(text);
    launch.grid[axis] =
        extent ? *std::move(extent) : unguarded_extent(kernel, axis, extents[axis], host, inferred);
  }
  return inferred;
}

}  // namespace regraph::infer
