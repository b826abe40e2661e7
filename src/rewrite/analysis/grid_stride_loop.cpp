#include "rewrite/analysis/grid_stride_loop.h"

#include "affine/block_geometry.h"
#include "affine/size_expression.h"
#include "rewrite/analysis/loop_surroundings.h"
#include "rewrite/analysis/refusal_place.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace regraph::rewrite {

namespace {

Polynomial builtin_symbol(const std::string& builtin, int axis) {
  return Polynomial::symbol(builtin + "." + kAxes[static_cast<std::size_t>(axis)]);
}

// What a loop's header says, whatever its body does.
struct Header {
  std::string counter;
  ExprPtr limit;  // exclusive
  Polynomial first;
  Polynomial step;
};

std::optional<Header> header_of(const ForLoop& loop, const Analysis& analysis) {
  const auto strided = source::strided_loop_of(loop);
  if (!strided) return std::nullopt;
  const auto first = analysis.polynomial(strided->first);
  const auto step = analysis.polynomial(strided->step);
  if (!first || !step) return std::nullopt;
  return Header{strided->counter.name, strided->limit, *first, *step};
}

// Which locals and builtins are asked for otherwise than to work out the loop's header.
class Needs {
 public:
  Needs(const Kernel& kernel, const ForLoop& loop) {
    std::map<std::string, ExprPtr> declared;
    walk(kernel.body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (&stmt == &loop) {
        need(loop.condition);
      } else if (is_header_of(stmt, loop)) {
        return;
      } else if (declaration != nullptr && declaration->variable.extents.empty()) {
        declared.emplace(declaration->variable.name, declaration->value);
        // A name that several have.
        if (declared.at(declaration->variable.name) != declaration->value) need(declaration->value);
      } else {
        walk_own_expressions(stmt, [&](const Expr& expr) { note(expr); });
      }
    });
    for (bool changed = true; changed;) {
      changed = false;
      for (auto at = declared.begin(); at != declared.end();) {
        if (!names_.contains(at->first)) {
          ++at;
          continue;
        }
        need(at->second);
        at = declared.erase(at);
        changed = true;
      }
    }
    for (const auto& [name, value] : declared)
      unneeded_.insert(name);
  }

  const std::set<std::string>& unneeded() const { return unneeded_; }
  bool asks(const std::string& builtin) const { return builtins_.contains(builtin); }

 private:
  static bool is_header_of(const Stmt& stmt, const ForLoop& loop) {
    return &stmt == loop.init.get() || &stmt == loop.step.get();
  }
  void need(const ExprPtr& value) {
    if (value) walk(value, [&](const Expr& expr) { note(expr); });
  }
  void note(const Expr& expr) {
    if (const auto* variable = as<VariableReference>(expr); variable != nullptr)
      names_.insert(variable->name);
    if (const auto* builtin = as<Builtin>(expr); builtin != nullptr)
      builtins_.insert(builtin->name);
  }

  std::set<std::string> names_;
  std::set<std::string> builtins_;
  std::set<std::string> unneeded_;
};

class GridLoopFinder {
 public:
  GridLoopFinder(const KernelAnalysis& kernel, const KernelForm& form, const Launch& launch)
      : kernel_(kernel),
        form_(form),
        launch_(launch),
        overlap_(form.kernel, form.analysis, launch, kernel.problem()) {}

  Result<GridStrideLoop> find() const {
    std::optional<Result<GridStrideLoop>> result;
    walk(form_.kernel.body, [&](const Stmt& stmt) {
      const auto* loop = as<ForLoop>(stmt);
      const auto header = loop != nullptr ? header_of(*loop, form_.analysis) : std::nullopt;
      const auto axis = header ? axis_of(*header) : std::nullopt;
      if (axis && !result) result = qualified(*loop, *header, *axis, false);
      if (header && !axis && !result && goes_by_block(*header))
        result = qualified(*loop, *header, 0, true);
    });
    if (result) return std::move(*result);
    return refuse("the kernel has no loop in which the threads of the grid take elements in turn");
  }

 private:
  // Along which the loop goes on by as many as there are threads.
  std::optional<int> axis_of(const Header& header) const {
    for (int axis = 0; axis < 3; ++axis) {
      const Polynomial block = with_block_extents(builtin_symbol("blockDim", axis), launch_.block);
      if (with_block_extents(header.step, launch_.block) == builtin_symbol("gridDim", axis) * block)
        return axis;
    }
    return std::nullopt;
  }

  bool goes_by_block(const Header& header) const {
    return with_block_extents(header.step, launch_.block) == Polynomial(launch_.block.x) &&
           header.first.mentions("threadIdx.x") && launch_.block.x > 1;
  }

  Result<GridStrideLoop> qualified(const ForLoop& loop, const Header& header, int axis,
                                   bool is_of_block) const {
    GridStrideLoop result;
    result.is_of_block = is_of_block;
    result.loop = &loop;
    result.counter = header.counter;
    result.axis = axis;
    const Polynomial block = with_block_extents(builtin_symbol("blockDim", axis), launch_.block);
    result.offset =
        with_block_extents(header.first, launch_.block) - builtin_symbol("threadIdx", axis);
    if (!is_of_block) result.offset = result.offset - builtin_symbol("blockIdx", axis) * block;
    if (!is_of_parameters(result.offset, form_.kernel))
      return refuse(line_named(loop) +
                    "a thread does not begin with the element of its own number");
    if (source::is_changed(header.counter, loop.body))
      return refuse(line_named(loop) + "'" + header.counter + "' is changed in the loop");
    if (Status status = read_limit(loop, header, result); !status) return status.error();
    // Whether rows of blocks can be dealt out is asked of the loop that one thread has then.
    if (!is_of_block) {
      if (Status status = read_effects(loop, header, result); !status) return status.error();
    }
    const Needs needs(form_.kernel, loop);
    const std::string letter = kAxes[static_cast<std::size_t>(axis)];
    for (const char* index : {"threadIdx.", "blockIdx.", "gridDim."}) {
      const std::string builtin = index + letter;
      // A block is known by its row.
      if (is_of_block && builtin == "blockIdx.x") continue;
      if (needs.asks(builtin)) {
        return refuse(line_named(loop) + "the kernel asks for " + builtin +
                      " otherwise than to deal out elements");
      }
    }
    result.header_only = needs.unneeded();
    result.header_only.erase(header.counter);
    return result;
  }

  Status read_effects(const ForLoop& loop, const Header& header, GridStrideLoop& result) const {
    // Nothing but the counter's name is asked of it.
    const CountedLoop counted{header.counter, loop.declaration()->value, header.limit, 1};
    auto effects = independent_iterations(loop, counted, form_.analysis, overlap_,
                                          has_a_thread_each_in_tests(result));
    if (!effects) return effects.error();
    result.effects = std::move(*effects);
    if (const auto why = obstacle_around(loop, form_.kernel, form_.analysis, result.effects))
      return refuse(line_named(loop) + *why);
    return {};
  }

  // Whether at a test size of several blocks each element has a thread of its own already. There
  // the original was seen to be without data races: no two iterations are in each other's way.
  bool has_a_thread_each_in_tests(const GridStrideLoop& loop) const {
    const Problem& problem = kernel_.problem();
    if (!problem.check.benign_races.empty()) return false;
    return std::ranges::any_of(problem.tests, [&](const Symbols& sizes) {
      const auto launched = concretise(launch_, sizes);
      const auto elements = loop.elements.evaluate(sizes);
      if (!launched || !elements) return false;
      const std::int64_t blocks = extent(launched->grid, loop.axis);
      const std::int64_t threads = extent(launched->block, loop.axis);
      return *elements > threads && *elements <= blocks * threads;
    });
  }

  Status read_limit(const ForLoop& loop, const Header& header, GridStrideLoop& result) const {
    const auto limit = form_.analysis.polynomial(header.limit);
    if (!limit || !is_of_parameters(*limit, form_.kernel))
      return refuse(line_named(loop) + "its bounds are not made of the kernel's parameters alone");
    auto elements = size_of(*limit - result.offset, kernel_.problem());
    if (!elements)
      return refuse(line_named(loop) +
                    "how many elements there are does not follow from the sizes");
    result.limit = *limit;
    result.elements = *elements;
    result.least = std::numeric_limits<std::int64_t>::max();
    const std::int64_t most = std::numeric_limits<std::int32_t>::max() - launch_.block.count();
    for (const Symbols& symbols : all_sizes(kernel_.problem())) {
      const auto count = result.elements.evaluate(symbols);
      if (!count) return refuse(line_named(loop) + count.error().message);
      result.least = std::min(result.least, *count);
      if (*count > most) return refuse("the number of threads would not fit 32 bits");
    }
    return {};
  }

  const KernelAnalysis& kernel_;
  const KernelForm& form_;
  const Launch& launch_;
  const IterationOverlap overlap_;
};

}  // namespace

Result<GridStrideLoop> grid_stride_loop(const KernelAnalysis& kernel) {
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  auto form = kernel.single_exit();
  if (!form) return form.error();
  return GridLoopFinder(kernel, **form, **launch).find();
}

Result<IterationEffects> effects_of_block_loop(const KernelAnalysis& kernel,
                                               const GridStrideLoop& loop) {
  auto form = kernel.single_exit();
  if (!form) return form.error();
  const Kernel& code = (*form)->kernel;
  const Analysis& analysis = (*form)->analysis;
  const IterationOverlap overlap(code, analysis, **kernel.launch(), kernel.problem());
  const auto header = header_of(*loop.loop, analysis);
  if (!header) return refuse(line_named(*loop.loop) + "its bounds are not understood");
  // Nothing but the counter's name is asked of it.
  const CountedLoop counted{header->counter, loop.loop->declaration()->value, header->limit, 1};
  auto effects = independent_iterations(*loop.loop, counted, analysis, overlap, false);
  if (!effects) return effects;
  constexpr bool kShortLoopsToo = true;
  if (const auto why = obstacle_around(*loop.loop, code, analysis, *effects, kShortLoopsToo))
    return refuse(line_named(*loop.loop) + *why);
  return effects;
}

}  // namespace regraph::rewrite
