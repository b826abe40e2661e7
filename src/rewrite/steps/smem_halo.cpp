// smem_halo: the neighbourhood that a block of a stencil or convolution reads is copied to shared
// memory once, and every neighbour is read from there.
//
//   out[i] = in[i - 1] + in[i] + in[i + 1];
// becomes
//   for (item = thread; item < B + 2; item += B) in_tile[item] = in bounds ? in[base + item - 1] :
//   0; barrier;  out[i] = in_tile[threadIdx.x] + in_tile[threadIdx.x + 1] + in_tile[threadIdx.x +
//   2];
//
// Legal when the array is only read and every index is one place per thread plus a distance that
// constant loops and constants bound, in rows and columns the block moves by. The copy stands at
// the start of the kernel, before any thread can leave. What the original reads is inside the
// buffer, so copying every element of the box that is inside the buffer copies all of it; guards
// around the reads stay and keep the rest from being used.
#include "affine/neighbourhood.h"
#include "affine/size_expression.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/stage.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/stage_copy.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>

namespace regraph::rewrite {
namespace {

// Staging pays when each staged element is read at least this often by the block.
constexpr std::int64_t kLeastReuse = 2;

using StagedBoxes = std::vector<Stage>;

class SmemHalo final : public PlacedStep<StagedBoxes> {
 public:
  std::string_view id() const override { return "smem_halo"; }
  int position() const override { return 120; }
  std::vector<StepParameters> settings() const override { return {{}, {{"copy", "vector"}}}; }

 protected:
  Requirements requirements() const override {
    return {.distinct_buffers = "a copy could go stale", .known_calls = true};
  }
  Result<StagedBoxes> find(const KernelAnalysis& state,
                           const StepParameters& parameters) const override {
    bool by_vectors = false;
    if (const auto copy = parameters.find("copy"); copy != parameters.end()) {
      if (copy->second != "vector")
        return fail(ErrorCode::invalid_argument, "'copy' must be vector");
      by_vectors = true;
    }
    const Launch& launch = **state.launch();
    const KernelForm& form = *state.direct();
    const NeighbourhoodFinder finder(form.kernel, form.analysis, launch.block);
    Names names(form.kernel);
    StagedBoxes staged;
    std::string obstacles;
    for (const KernelParameter& parameter : form.kernel.parameters) {
      if (!parameter.is_pointer || form.analysis.is_written(parameter.name)) continue;
      auto box = stage(parameter, form, finder, launch, state.problem());
      if (box) {
        box->tile = names.fresh(parameter.name + "_tile");
        const std::size_t rank = box->box.dimensions.size();
        for (std::size_t d = 0; d < rank; ++d) {
          box->coordinates.push_back(
              names.fresh(parameter.name + "_" + kDirections[kDirections.size() - rank + d]));
        }
        if (by_vectors) fill_by_vectors(*box, state.problem().assume.align, facts_of(form.kernel));
        if (by_vectors && !box->vectors)
          box = refuse("no row of its box can begin and end where vectors do");
      }
      if (!box) {
        obstacles += (obstacles.empty() ? "" : "; ") + parameter.name + ": " + box.error().message;
        continue;
      }
      staged.push_back(std::move(*box));
    }
    if (staged.empty()) {
      return refuse("no array's neighbourhood can be staged" +
                    (obstacles.empty() ? " (none is only read)" : " (" + obstacles + ")"));
    }
    const std::int64_t bytes = shared_bytes(form.kernel) + bytes_of_tiles(staged);
    if (Status status = require_shared_bytes(bytes, state, "the tiles need"); !status)
      return status.error();
    return staged;
  }

  KernelState rewrite(const KernelAnalysis& state, const StagedBoxes& staged) const override {
    const KernelForm& form = *state.direct();
    const Dim3& block = (*state.launch())->block;
    const NeighbourhoodFinder finder(form.kernel, form.analysis, block);
    Names names(form.kernel);
    take_names(staged, names);
    KernelState result = state.state();
    result.unit.kernel = form.kernel;
    result.unit.kernel.body = with_tiles(form.kernel, staged, finder, block, names);
    rely_on(result, kNeedsDistinctBuffers);
    if (has_vectors(staged)) rely_on_alignment(result, state.problem().assume.align);
    return result;
  }

 private:
  static Result<Stage> stage(const KernelParameter& parameter, const KernelForm& form,
                             const NeighbourhoodFinder& finder, const Launch& launch,
                             const Problem& problem) {
    if (!parameter.scalar) {
      return refuse("its element type is not supported in tiles");
    }
    auto box = finder.find(parameter.name);
    if (!box) return box.error();
    if (box->box.elements() <= static_cast<std::int64_t>(launch.block.count())) {
      return refuse("threads read their own elements only, no neighbours");
    }
    if (box->reads < kLeastReuse * box->box.elements()) {
      return refuse("its elements are read less than twice on average");
    }
    Stage result;
    result.name = parameter.name;
    result.type = parameter.type;
    result.scalar = parameter.scalar;
    result.wide_index = box->wide_index;
    result.box = std::move(box->box);
    auto count = buffer_length(parameter.name, problem, &launch, form.kernel, form.analysis,
                               result.wide_index);
    if (!count) return count.error();
    result.count = *count;
    return result;
  }

  static Block with_tiles(const Kernel& kernel, const StagedBoxes& staged,
                          const NeighbourhoodFinder& finder, const Dim3& block, Names& names) {
    StageCopy copies(kernel, block, names);
    Block result = copies.declarations(staged);
    for (const Stage& one : staged) {
      result.push_back(
          copies.copy(one, one.vectors ? StageCopy::Deal::items : StageCopy::Deal::in_a_loop));
    }
    result.push_back(barrier());
    const Block body =
        rewrite_expressions(kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          const auto* access = as<Subscript>(expr);
          const auto* base = access != nullptr ? base_variable(*expr) : nullptr;
          if (base == nullptr) return std::nullopt;
          const auto found = std::find_if(staged.begin(), staged.end(),
                                          [&](const Stage& one) { return one.name == base->name; });
          if (found == staged.end()) return std::nullopt;
          const auto place = finder.coordinates(access->index, found->box);
          if (!place) return std::nullopt;
          std::vector<ExprPtr> coordinates;
          for (const Polynomial& coordinate : *place)
            coordinates.push_back(to_expression(coordinate));
          return found->element(coordinates);
        });
    const Block hoisted = with_reads_in_front(body, staged, false, names);
    result.insert(result.end(), hoisted.begin(), hoisted.end());
    return result;
  }

  // Reads of a tile are inside it whatever a guard says. In front of the guards, reads that several
  // iterations have in common can be merged by the compiler.
  static Block with_reads_in_front(const Block& block, const StagedBoxes& staged, bool in_loop,
                                   Names& names) {
    Block result;
    for (const StmtPtr& stmt : block) {
      const auto* branch = as<Branch>(stmt);
      const bool only_assigns =
          branch != nullptr && branch->otherwise.empty() &&
          std::all_of(branch->body.begin(), branch->body.end(),
                      [](const StmtPtr& inner) { return is<Assignment>(inner); });
      Block body;
      Block otherwise;
      if (in_loop && only_assigns) {
        body =
            rewrite_expressions(branch->body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
              const Stage* one = tile_read(expr, staged);
              return one != nullptr ? std::optional(read_in_front(expr, *one, names, result))
                                    : std::nullopt;
            });
      } else {
        const bool loops = in_loop || is<ForLoop>(stmt);
        body = with_reads_in_front(body_of(*stmt), staged, loops, names);
        otherwise = with_reads_in_front(otherwise_of(*stmt), staged, loops, names);
      }
      result.push_back(with_blocks(stmt, std::move(body), std::move(otherwise)));
    }
    return result;
  }

  static const Stage* tile_read(const ExprPtr& expr, const StagedBoxes& staged) {
    const auto* base = is<Subscript>(expr) ? base_variable(*expr) : nullptr;
    if (base == nullptr) return nullptr;
    const auto found = std::find_if(staged.begin(), staged.end(),
                                    [&](const Stage& one) { return one.tile == base->name; });
    return found == staged.end() ? nullptr : &*found;
  }

  static ExprPtr read_in_front(const ExprPtr& read, const Stage& staged, Names& names, Block& out) {
    for (const StmtPtr& earlier : out) {
      const auto* declaration = as<Declaration>(earlier);
      if (declaration != nullptr && equal(declaration->value, read))
        return source::variable(declaration->variable.name, staged.scalar);
    }
    Variable value =
        local_variable(names.fresh(staged.name + "_value"), staged.type, staged.scalar);
    value.is_const = true;
    out.push_back(declare(value, read));
    return source::variable(value.name, staged.scalar);
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_smem_halo() {
  return std::make_unique<SmemHalo>();
}

}  // namespace regraph::rewrite
