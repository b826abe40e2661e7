// thread_coarsen: every thread does the work of C threads that lie a block extent apart. C blocks
// along one axis are merged into one: blockIdx.a becomes blockIdx.a * C + c, what depends on it is
// kept C times, and loops with uniform bounds stay outside the loop over c, so that operands which
// do not depend on c are loaded once. Both axes in turn make a register tile.
//
// Legal because blocks are independent: nothing may ask for the grid's extent, barriers must be
// reached whatever c is, and the blocks past the end of the original grid (C need not divide it)
// must do nothing. That last point is proved from a guard `index < n` with the grid being cdiv(n,
// b), or established by a test against the original grid.
//
// With order=grouped a thread's outputs lie in groups of four neighbours, and the groups four block
// extents apart (merge_blocks.h): its operands in shared memory can then be read four at a time.
// With order=contiguous all of them are neighbours, which share what they read around them.
// That gives threads other outputs than before, so only kernels qualify that know a thread by its
// global index alone, not coarsened along the axis, and whose guard stops blocks past the end.
#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "base/result.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/interior.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/block_copies.h"
#include "rewrite/transform/merge_blocks.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace regraph::rewrite {
namespace {

// Whether blocks can be merged.

class MergeCheck {
 public:
  explicit MergeCheck(const BlockMerge& merge)
      : kernel_(merge.form.kernel), analysis_(merge.form.analysis), copies_(merge) {}

  // With at most `most_copies` copies of a scalar. Error: refused.
  Status run(int most_copies) const {
    if (Status status = check_parameters(); !status) return status;
    if (Status status = check_pointers(); !status) return status;
    return check(kernel_.body, most_copies);
  }

 private:
  // A parameter cannot be kept once per copy.
  Status check_parameters() const {
    std::optional<std::string> changed;
    copies_.for_each_changed(kernel_.body, [&](const std::string& name) {
      if (kernel_.parameter(name) != nullptr) changed = name;
    });
    if (!changed) return {};
    return refuse("the parameter '" + *changed +
                  "' is changed, and every block has to begin with "
                  "what was passed");
  }

  // Copies of a pointer would all point to the same array, which the blocks had one of each.
  Status check_pointers() const {
    std::set<std::string> shared;  // arrays that pointers are made of, and that are not copied
    bool is_written = false;
    walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* variable = target_of(stmt) ? place_variable(*target_of(stmt)) : nullptr;
      const auto* declaration = as<Declaration>(stmt);
      const Variable* local = declaration != nullptr ? &declaration->variable
                              : variable != nullptr  ? analysis_.local(variable->name)
                                                     : nullptr;
      is_written = is_written || passes_pointer(stmt);
      if (local == nullptr || !local->is_pointer) return;
      if (declaration == nullptr && !is<VariableReference>(target_of(stmt))) {
        is_written = true;
      } else if (value_of(stmt)) {
        for (const std::string& name : variables_of(value_of(stmt))) {
          if (analysis_.is_shared(name) && !copies_.is_varying(name)) shared.insert(name);
        }
      }
    });
    if (!is_written || shared.empty()) return {};
    return refuse("'" + *shared.begin() +
                  "' is written through a pointer, so that it cannot be kept once per block");
  }

  // Whether a call for its effect, as an atomic is, knows a pointer of the kernel's own.
  bool passes_pointer(const Stmt& stmt) const {
    if (!is<source::Evaluation>(stmt)) return false;
    const auto names = variables_of(value_of(stmt));
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const Variable* local = analysis_.local(name);
      return local != nullptr && local->is_pointer;
    });
  }

  // What `convert` goes through, without converting it.
  Status check(const Block& block, int most_copies) const {
    for (const StmtPtr& stmt : block) {
      if (const auto* declaration = as<Declaration>(stmt)) {
        if (Status status =
                check_declaration(declaration->variable, declaration->value, most_copies);
            !status)
          return status;
        continue;
      }
      if (is<Barrier>(stmt) || !copies_.varies(stmt)) continue;
      if (copies_.is_opened(*stmt)) {
        if (Status status = check(body_of(*stmt), most_copies); !status) return status;
        continue;
      }
      const bool is_whole = all_statements(Block{stmt}, [&](const Stmt& inner) {
        const auto* declaration = as<Declaration>(inner);
        const bool declares_shared =
            declaration != nullptr && declaration->variable.storage != Storage::automatic;
        return !is<Barrier>(inner) && !declares_shared;
      });
      if (!is_whole) {
        return refuse("line " + std::to_string(stmt->line) +
                      ": a barrier whose reach depends on the block");
      }
    }
    return {};
  }

  Status check_declaration(const Variable& variable, const ExprPtr& value, int most_copies) const {
    if (copies_.is_recomputed(variable.name) || !copies_.is_varying(variable.name)) return {};
    if (variable.storage == Storage::dynamic_shared) {
      return refuse("the dynamic shared array '" + variable.name +
                    "' cannot be kept once per block");
    }
    if (!variable.is_pointer && !zero_value(variable.type, variable.scalar)) {
      return refuse("'" + variable.name + "' has a type the rewriter cannot make an array of");
    }
    if (!variable.extents.empty() && value && !assignments_of(variable, value)) {
      return refuse("'" + variable.name + "' has a list of values that is long or not flat");
    }
    // A copy begins where vectors may begin.
    constexpr std::int64_t kVectorBytes = 16;
    if (!variable.extents.empty() && analysis_.is_viewed(variable.name) &&
        bytes_of(variable) % kVectorBytes != 0)
      return refuse("'" + variable.name + "' is accessed as another type too");
    std::int64_t count = 1;
    for (const std::int64_t extent_value : copies_.copies_of(variable).extents)
      count *= extent_value;
    if (variable.storage == Storage::automatic && count > most_copies) {
      return refuse("'" + variable.name + "' would need " + std::to_string(count) + " registers");
    }
    return {};
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  BlockCopies copies_;
};

// Bytes of static shared memory that the merged kernel declares.
std::int64_t merged_shared_bytes(const BlockMerge& merge) {
  const BlockCopies copies(merge);
  const Kernel& kernel = merge.form.kernel;
  std::int64_t bytes = shared_bytes(kernel);
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr || declaration->variable.storage != Storage::shared ||
        !copies.is_varying(declaration->variable.name)) {
      return;
    }
    bytes += bytes_of(declaration->variable) * (merge.factor - 1);
  });
  return bytes;
}

struct MergePlace {
  int axis = 0;
  int factor = 0;
  int group = 1;
  ExprPtr grid_limit;  // to be tested against; null where a guard does
  Launch launch;       // afterwards
};

// Neighbours of a group: 16 bytes of single precision, the widest access.
constexpr int kGroup = 4;

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
    for (const char* axis : {"x", "y"}) {
      for (const char* factor : {"4", "8"})
        result.push_back({{"axis", axis}, {"factor", factor}, {"order", "grouped"}});
    }
    for (const char* factor : {"2", "4", "8"})
      result.push_back({{"axis", "z"}, {"factor", factor}});
    for (const char* axis : {"y", "z"}) {
      for (const char* factor : {"2", "4", "8"})
        result.push_back({{"axis", axis}, {"factor", factor}, {"order", "contiguous"}});
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
    const auto named = std::find(kAxes.begin(), kAxes.end(), *letter);
    if (named == kAxes.end() || *factor < 2) {
      return fail(ErrorCode::invalid_argument, "'axis' must be x, y or z and 'factor' at least 2");
    }
    const Launch& launch = **kernel.launch();
    if (kernel.analysis().uses_builtin("gridDim." + *letter)) {
      return refuse("the kernel uses gridDim." + *letter + ", which would change");
    }
    if (!kernel.analysis().uses_builtin("blockIdx." + *letter)) {
      return refuse("the kernel does not use blockIdx." + *letter);
    }
    if (has_interior_version(kernel.kernel().body)) {
      return refuse("blocks inside have a version of their own; merging blocks comes before that");
    }
    auto form = kernel.normal();
    if (!form) return form.error();
    MergePlace place{static_cast<int>(named - kAxes.begin()), *factor, 1, nullptr, launch};
    auto limit = grid_limit(**form, launch, place.axis, place.factor);
    if (!limit) return limit.error();
    place.grid_limit = *limit;
    if (const auto order = parameters.find("order"); order != parameters.end()) {
      const bool is_grouped = order->second == "grouped" && *factor % kGroup == 0;
      if (!is_grouped && order->second != "contiguous") {
        return fail(ErrorCode::invalid_argument,
                    "'order' must be contiguous, or grouped and 'factor' a multiple of 4");
      }
      place.group = is_grouped ? kGroup : *factor;
      if (Status status = require_groups(**form, place, *letter); !status) return status.error();
    }
    if (Status status = require_copies(kernel, **form, place); !status) return status.error();
    IntegerExpression& grid = place.launch.grid[static_cast<std::size_t>(place.axis)];
    grid = IntegerExpression::ceil_divide(grid, IntegerExpression(*factor));
    if (Status status = require_possible(place.launch, kernel); !status) return status.error();
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const MergePlace& place) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body = merge_blocks(merge_of(**kernel.normal(), place));
    result.plan.launches.front() = place.launch;
    return result;
  }

 private:
  // Copies of each scalar that a register tile can have: a quarter of a thread's registers.
  static int most_copies(const DeviceLimits& limits) {
    return (limits.max_registers_per_thread + 1) / 4;
  }

  static BlockMerge merge_of(const KernelForm& form, const MergePlace& place) {
    return {form, kAxes[static_cast<std::size_t>(place.axis)], place.factor, place.group,
            place.grid_limit};
  }

  // Whether threads may be given neighbouring outputs.
  static Status require_groups(const KernelForm& form, const MergePlace& place,
                               const std::string& letter) {
    if (place.grid_limit) {
      const auto obstacle =
          grid_guard_obstacle(form.kernel, form.analysis, place.launch, place.axis);
      return refuse("neighbouring outputs of a thread need a guard that stops at their number: " +
                    obstacle.value_or("blocks past the end of the grid are not known to stop"));
    }
    if (form.analysis.has_shared() || form.analysis.uses_warp_intrinsics()) {
      return refuse("threads of a block work together, so their outputs cannot be exchanged");
    }
    return require_uncoarsened_index(form.kernel, form.analysis, letter);
  }

  static Status require_copies(const KernelAnalysis& kernel, const KernelForm& form,
                               const MergePlace& place) {
    const BlockMerge merge = merge_of(form, place);
    if (Status status = MergeCheck(merge).run(most_copies(kernel.limits())); !status) return status;
    return require_shared_bytes(merged_shared_bytes(merge), kernel, "the merged blocks need");
  }

  // What block numbers are to be tested against; null where no block is past the end, or a guard
  // stops it.
  static Result<ExprPtr> grid_limit(const KernelForm& form, const Launch& launch, int axis,
                                    int factor) {
    if (launch.grid[static_cast<std::size_t>(axis)].is_multiple_of(factor)) return ExprPtr();
    const auto obstacle = grid_guard_obstacle(form.kernel, form.analysis, launch, axis);
    if (!obstacle) return ExprPtr();
    ExprPtr limit = grid_extent(launch, axis, form.kernel);
    if (limit) return limit;
    return refuse("blocks past the end of the grid could not be told: " + *obstacle +
                  ", and the grid " + launch.grid[static_cast<std::size_t>(axis)].text() +
                  " is not made of the kernel's parameters");
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_thread_coarsen() {
  return std::make_unique<ThreadCoarsen>();
}

}  // namespace regraph::rewrite
