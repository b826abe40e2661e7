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
#include "rewrite/analysis/legality.h"
#include "rewrite/analysis/local_pointers.h"
#include "rewrite/analysis/names.h"
#include "rewrite/analysis/neighbourhood.h"
#include "rewrite/analysis/size_expression.h"
#include "rewrite/steps/steps.h"
#include "source/build.h"
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

// Staging pays when each staged element is read at least this often by the block.
constexpr std::int64_t kLeastReuse = 2;

struct StagedBox {
  Neighbourhood box;
  std::string tile;
  std::string type;
  ScalarType scalar = ScalarType::f32;
  ExprPtr count;  // elements of the buffer
};

class SmemHalo final : public StepRewriter {
 public:
  std::string_view id() const override { return "smem_halo"; }
  std::vector<StepParameters> choices() const override { return {{}}; }

  Result<KernelState> apply(const KernelState& state, const StepParameters&,
                            const Problem& problem) const override {
    auto launch = only_launch(state);
    if (!launch) return launch.error();
    if (!problem.assume.noalias) {
      return refuse(
          "the problem does not grant 'assume: {noalias: true}', so a copy could go stale");
    }
    const Analysis original(state.unit.kernel);
    if (Status status = require_transparent(state, original); !status) return status.error();
    if (!original.unknown_calls().empty()) {
      return refuse("the kernel calls '" + *original.unknown_calls().begin() +
                    "', which may read memory");
    }
    const Kernel kernel = without_local_pointers(state.unit.kernel);
    const Analysis analysis(kernel);
    const NeighbourhoodFinder finder(kernel, analysis, (*launch)->block);
    Names names(kernel);
    std::vector<StagedBox> staged;
    std::string obstacles;
    for (const source::KernelParameter& parameter : kernel.parameters) {
      if (!parameter.is_pointer || analysis.is_written(parameter.name)) continue;
      auto box = stage(parameter, kernel, finder, (*launch)->block, problem);
      if (!box) {
        obstacles += (obstacles.empty() ? "" : "; ") + parameter.name + ": " + box.error().message;
        continue;
      }
      box->tile = names.fresh(parameter.name + "_tile");
      staged.push_back(std::move(*box));
    }
    if (staged.empty()) {
      return refuse("no array's neighbourhood can be staged" +
                    (obstacles.empty() ? " (none is only read)" : " (" + obstacles + ")"));
    }
    KernelState result = state;
    result.unit.kernel = kernel;
    result.unit.kernel.body = with_tiles(kernel, staged, finder, (*launch)->block, names);
    const std::int64_t bytes = shared_bytes(result.unit.kernel);
    if (bytes > kStaticSharedLimitBytes) {
      return refuse("the tiles need " + std::to_string(bytes) + " bytes of the " +
                    std::to_string(kStaticSharedLimitBytes) + " a block may declare");
    }
    rely_on(result, kNeedsDistinctBuffers);
    return result;
  }

 private:
  static Result<StagedBox> stage(const source::KernelParameter& parameter, const Kernel& kernel,
                                 const NeighbourhoodFinder& finder, const Dim3& block,
                                 const Problem& problem) {
    if (!parameter.scalar || !source::zero_of(*parameter.scalar)) {
      return refuse("its element type is not supported in tiles");
    }
    auto box = finder.find(parameter.name);
    if (!box) return box.error();
    if (box->elements() <= static_cast<std::int64_t>(block.count())) {
      return refuse("threads read their own elements only, no neighbours");
    }
    if (box->reads < kLeastReuse * box->elements()) {
      return refuse("its elements are read less than twice on average");
    }
    StagedBox result;
    result.type = parameter.type;
    result.scalar = *parameter.scalar;
    const auto argument =
        std::find_if(problem.arguments.begin(), problem.arguments.end(),
                     [&](const Argument& one) { return one.name == parameter.name; });
    if (argument == problem.arguments.end()) return refuse("its length is not known");
    IntegerExpression count(1);
    for (const IntegerExpression& extent_value : argument->shape)
      count = IntegerExpression::multiply(count, extent_value);
    result.count = size_in_kernel(count, kernel, box->wide_index);
    if (!result.count) {
      return refuse("its length " + count.text() + " is not made of the kernel's parameters");
    }
    result.box = std::move(*box);
    return result;
  }

  static Block with_tiles(const Kernel& kernel, const std::vector<StagedBox>& staged,
                          const NeighbourhoodFinder& finder, const Dim3& block, Names& names) {
    Block result;
    for (const StagedBox& one : staged) {
      source::Variable tile;
      tile.name = one.tile;
      tile.type = one.type;
      tile.scalar = one.scalar;
      tile.extents = one.box.extents;
      tile.storage = source::Storage::shared;
      result.push_back(source::declare(tile, nullptr));
    }
    const std::string thread = names.fresh("thread");
    result.push_back(source::declare_integer(thread, linear_thread(block)));
    for (const StagedBox& one : staged)
      result.push_back(copy_loop(one, thread, static_cast<std::int64_t>(block.count()), names));
    result.push_back(source::barrier());
    const Block body = source::rewrite_expressions(
        kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          if (expr->kind != ExprKind::index) return std::nullopt;
          const Expr* base = source::base_variable(*expr);
          if (base == nullptr) return std::nullopt;
          const auto found = std::find_if(staged.begin(), staged.end(), [&](const StagedBox& one) {
            return one.box.array == base->text;
          });
          if (found == staged.end()) return std::nullopt;
          const auto place = finder.coordinates(expr->operands[1], found->box);
          if (!place) return std::nullopt;
          std::vector<ExprPtr> coordinates;
          for (const Polynomial& coordinate : *place)
            coordinates.push_back(source::to_expression(coordinate));
          return source::element(source::variable(found->tile, found->scalar), coordinates);
        });
    const Block hoisted = with_reads_in_front(body, staged, false, names);
    result.insert(result.end(), hoisted.begin(), hoisted.end());
    return result;
  }

  // Reads of a tile are inside it whatever a guard says. In front of the guards, reads that several
  // iterations have in common can be merged by the compiler.
  static Block with_reads_in_front(const Block& block, const std::vector<StagedBox>& staged,
                                   bool in_loop, Names& names) {
    Block result;
    for (const StmtPtr& stmt : block) {
      auto copy = std::make_shared<Stmt>(*stmt);
      const bool only_assigns =
          std::all_of(stmt->body.begin(), stmt->body.end(),
                      [](const StmtPtr& inner) { return inner->kind == StmtKind::assign; });
      if (in_loop && stmt->kind == StmtKind::branch && stmt->otherwise.empty() && only_assigns) {
        copy->body = source::rewrite_expressions(
            stmt->body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
              const StagedBox* one = tile_read(expr, staged);
              return one != nullptr ? std::optional(read_in_front(expr, *one, names, result))
                                    : std::nullopt;
            });
      } else {
        const bool loops = in_loop || stmt->kind == StmtKind::loop;
        copy->body = with_reads_in_front(stmt->body, staged, loops, names);
        copy->otherwise = with_reads_in_front(stmt->otherwise, staged, loops, names);
      }
      result.push_back(std::move(copy));
    }
    return result;
  }

  static const StagedBox* tile_read(const ExprPtr& expr, const std::vector<StagedBox>& staged) {
    const Expr* base = expr->kind == ExprKind::index ? source::base_variable(*expr) : nullptr;
    if (base == nullptr) return nullptr;
    const auto found = std::find_if(staged.begin(), staged.end(),
                                    [&](const StagedBox& one) { return one.tile == base->text; });
    return found == staged.end() ? nullptr : &*found;
  }

  static ExprPtr read_in_front(const ExprPtr& read, const StagedBox& staged, Names& names,
                               Block& out) {
    for (const StmtPtr& earlier : out) {
      if (earlier->kind == StmtKind::declare && source::equal(earlier->value, read)) {
        return source::variable(earlier->variable.name, staged.scalar);
      }
    }
    source::Variable value;
    value.name = names.fresh(staged.box.array + "_value");
    value.type = staged.type;
    value.scalar = staged.scalar;
    value.is_const = true;
    out.push_back(source::declare(value, read));
    return source::variable(value.name, staged.scalar);
  }

  static StmtPtr copy_loop(const StagedBox& staged, const std::string& thread, std::int64_t threads,
                           Names& names) {
    static constexpr std::array<const char*, 3> kSuffixes = {"_plane", "_row", "_column"};
    const Neighbourhood& box = staged.box;
    const std::string item = names.fresh(box.array + "_item");
    const std::size_t rank = box.extents.size();
    Block body;
    std::vector<ExprPtr> place;
    Polynomial index = box.base;
    std::int64_t below = box.elements();
    for (std::size_t d = 0; d < rank; ++d) {
      below /= box.extents[d];
      ExprPtr value = source::binary("/", source::variable(item), source::integer(below));
      if (below == 1) value = source::variable(item);
      if (d > 0) value = source::binary("%", value, source::integer(box.extents[d]));
      const std::string name = names.fresh(box.array + kSuffixes[kSuffixes.size() - rank + d]);
      body.push_back(source::declare_integer(name, value));
      place.push_back(source::variable(name));
      index = index + box.strides[d] * (Polynomial::symbol(name) + Polynomial(box.lowest[d]));
    }
    const std::string position = names.fresh(box.array + "_index");
    source::Variable variable;
    variable.name = position;
    variable.type = box.wide_index ? "long long" : "int";
    variable.scalar = box.wide_index ? ScalarType::i64 : ScalarType::i32;
    variable.is_const = true;
    body.push_back(source::declare(variable, source::to_expression(index, box.wide_index)));
    const ExprPtr at = source::variable(position, variable.scalar);
    const ExprPtr inside = source::binary("&&", source::binary(">=", at, source::integer(0)),
                                          source::binary("<", at, staged.count));
    const ExprPtr value = source::conditional(
        inside, source::element(source::variable(box.array, staged.scalar), {at}),
        source::zero_of(staged.scalar));
    body.push_back(source::assign(
        source::element(source::variable(staged.tile, staged.scalar), place), "=", value));
    return source::counted_loop(item, source::variable(thread), source::integer(box.elements()),
                                threads, std::move(body));
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_smem_halo() {
  return std::make_unique<SmemHalo>();
}

}  // namespace regraph::rewrite
