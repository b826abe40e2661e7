#include "infer/infer_launch.h"

#include "infer/analysis_form.h"
#include "rewrite/analysis/varying.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
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

// Block extents that shared arrays indexed by threadIdx alone imply; padding is rounded away.
void fit_shared_arrays(const source::Kernel& kernel, const source::Analysis& analysis,
                       std::array<std::uint32_t, 3>& extents) {
  source::walk_expressions(kernel.body, [&](const Expr& expr) {
    if (!source::is<source::Subscript>(expr)) return;
    const auto* base = source::base_variable(expr);
    const source::Variable* array = base != nullptr ? analysis.local(base->name) : nullptr;
    if (array == nullptr || array->storage != source::Storage::shared) return;
    const std::vector<ExprPtr> indices = source::indices_of(expr);
    for (std::size_t level = 0; level < indices.size() && level < array->extents.size(); ++level) {
      const auto index = analysis.polynomial(indices[level]);
      const auto extent = array->extents[level];
      if (!index || extent < 1) continue;
      for (std::size_t axis = 0; axis < kAxisNames.size(); ++axis) {
        if (*index != Polynomial::symbol(fmt::format("threadIdx.{}", kAxisNames[axis]))) continue;
        const auto fitting = std::bit_floor(static_cast<std::uint32_t>(extent));
        extents[axis] = extents[axis] == 0 ? fitting : std::min(extents[axis], fitting);
      }
    }
  });
}

// The first conditions that ask about a block's number, as "'a' (line 3), 'b' (line 5)".
std::string guards_of(const source::Kernel& kernel, const std::string& number) {
  constexpr int kMost = 2;
  std::string text;
  int count = 0;
  const std::set<std::string> varying = rewrite::varying_names(kernel, number);
  source::walk(kernel.body, [&](const source::Stmt& stmt) {
    const auto* branch = source::as<source::Branch>(stmt);
    if (branch == nullptr || count == kMost) return;
    if (!rewrite::is_varying(branch->condition, number, varying)) return;
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", source::print(branch->condition));
    if (stmt.line > 0) text += fmt::format(" (line {})", stmt.line);
    ++count;
  });
  return text;
}

}  // namespace

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

Result<Launch> infer_launch(const source::Kernel& kernel, const AccessSummary& summary,
                            const Dim3& block) {
  Launch launch;
  launch.kernel = kernel.name;
  launch.block = block;
  const source::Analysis& analysis = summary.analysis();
  const std::array<std::uint32_t, 3> extents = {block.x, block.y, block.z};
  for (std::size_t axis = 0; axis < kAxisNames.size(); ++axis) {
    const std::string thread = fmt::format("threadIdx.{}", kAxisNames[axis]);
    const std::string number = fmt::format("blockIdx.{}", kAxisNames[axis]);
    if (!analysis.uses_builtin(number)) continue;
    const bool strides = analysis.uses_builtin(fmt::format("gridDim.{}", kAxisNames[axis]));
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
        if (per_thread * extents[axis] != per_block) continue;
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
    if (counts.empty()) {
      const std::string guards = guards_of(kernel, number);
      return fail(ErrorCode::not_found,
                  guards.empty()
                      ? fmt::format("no guard such as '{} < n' bounds the grid in {}", number,
                                    kAxisNames[axis])
                      : fmt::format("no condition compares {} with a size as '{} < n' does: there "
                                    "is {}",
                                    number, number, guards));
    }
    std::string text;
    for (const std::string& count : counts)
      text = text.empty() ? count : fmt::format("max({}, {})", text, count);
    if (strides) text = fmt::format("min({}, {})", text, kGridStrideBlocks);
    auto extent = IntegerExpression::parse(text);
    if (!extent) return std::move(extent).error();
    launch.grid[axis] = *std::move(extent);
  }
  return launch;
}

}  // namespace regraph::infer
