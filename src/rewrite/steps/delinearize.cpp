// delinearize: an index that the kernel takes apart becomes indices along axes of their own.
//
//   i = global index; if (i < rows * columns) work of i / columns and i % columns
// becomes
//   column = global index along x; row = global index along y;
//   if (column < columns && row < rows) work of row and column
// With dimensions=2 the column is by two of the sizes that the index is divided by, and is divided
// further. The same again along y gives three axes.
//
// Legal when a thread is known by its global index alone, so that it does not matter which thread
// has it: column and row are quotient and remainder of exactly one index, columns beyond the last
// are under a guard, and so is, in the kernel, every index beyond the old grid. A thread's values
// stay below 2^31, those beyond the end included.
#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/size_expression.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/split_index.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

struct SplitPlace {
  std::string from;
  std::string to;
  Polynomial divisor;
  Launch launch;  // afterwards
};

// Threads of a block along the faster part: what one access to memory moves together.
constexpr std::uint32_t kLanes = 32;
constexpr std::uint32_t kLargestBlock = 512;

class Delinearize final : public PlacedStep<SplitPlace> {
 public:
  std::string_view id() const override { return "delinearize"; }
  int position() const override { return 5; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* axis : {"x", "y"}) {
      for (const char* dimensions : {"1", "2"})
        result.push_back({{"axis", axis}, {"dimensions", dimensions}});
    }
    return result;
  }

 protected:
  Result<SplitPlace> find(const KernelAnalysis& kernel,
                          const StepParameters& parameters) const override {
    SplitPlace place;
    auto axis = text_parameter(parameters, "axis");
    if (!axis) return axis.error();
    if (*axis != "x" && *axis != "y")
      return fail(ErrorCode::invalid_argument, "'axis' must be x or y");
    auto dimensions = integer_parameter(parameters, "dimensions");
    if (!dimensions) return dimensions.error();
    place.from = *axis;
    place.to = *axis == "x" ? "y" : "z";
    if (const auto to = parameters.find("to"); to != parameters.end()) {
      if (to->second != "z") return fail(ErrorCode::invalid_argument, "'to' must be z");
      place.to = "z";
    }
    place.launch = **kernel.launch();
    auto form = kernel.single_exit();
    if (!form) return form.error();
    if (Status status = require_free(kernel.analysis(), place); !status) return status.error();
    if (Status status = require_uncoarsened_index((*form)->kernel, (*form)->analysis, place.from);
        !status) {
      return status.error();
    }
    auto divisor = divisor_of(**form, place.from, *dimensions, kernel.problem());
    if (!divisor) return divisor.error();
    place.divisor = *divisor;
    if (!grid_is_guarded((*form)->kernel, (*form)->analysis, place.launch, number_of(place.from)))
      return refuse("no guard stops threads whose index is beyond the grid");
    if (Status status = arrange(kernel, **form, place); !status) return status.error();
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const SplitPlace& place) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body = with_split_index(**kernel.single_exit(), place.from, place.to,
                                               place.divisor, kernel.problem());
    relaunch(result, place.launch);
    return result;
  }

 private:
  static int number_of(const std::string& axis) { return axis == "x" ? 0 : axis == "y" ? 1 : 2; }

  static Status require_free(const Analysis& analysis, const SplitPlace& place) {
    if (analysis.has_shared() || analysis.has_barrier() || analysis.uses_warp_intrinsics())
      return refuse("the threads of a block work together already");
    for (const char* builtin : {"threadIdx.", "blockIdx.", "blockDim.", "gridDim."}) {
      if (analysis.uses_builtin(builtin + place.to))
        return refuse("the kernel uses the " + place.to + " axis already");
    }
    const IntegerExpression& grid =
        place.launch.grid[static_cast<std::size_t>(number_of(place.to))];
    const bool is_one =
        extent(place.launch.block, number_of(place.to)) == 1 &&
        grid.substitute({{"b" + place.to, IntegerExpression(1)}}) == IntegerExpression(1);
    if (!is_one) return refuse("several threads along " + place.to + " do the same");
    return {};
  }

  // Whether it is a product of sizes, or a number above zero at all sizes of the problem.
  static bool is_positive(const Polynomial& divisor, const KernelForm& form,
                          const Problem& problem) {
    if (divisor.terms().size() == 1) return true;
    const auto size = size_of(divisor, problem, form.analysis);
    return size && std::ranges::all_of(all_sizes(problem), [&](const Symbols& symbols) {
             const auto number = size->evaluate(symbols);
             return number && *number > 0;
           });
  }

  // The degree, and the largest factor of a term.
  static std::pair<std::size_t, std::int64_t> order_of(const Polynomial& divisor) {
    std::pair<std::size_t, std::int64_t> result;
    for (const auto& [names, factor] : divisor.terms()) {
      result.first = std::max(result.first, names.size());
      result.second = std::max(result.second, factor);
    }
    return result;
  }

  // The numbers that the index is divided by, each a multiple of the one before.
  static Result<Polynomial> divisor_of(const KernelForm& form, const std::string& axis,
                                       int dimensions, const Problem& problem) {
    std::vector<Polynomial> divisors = divisors_of_index(form, axis);
    if (divisors.empty())
      return refuse("the index along " + axis + " is not taken apart by / and % of a size");
    for (const Polynomial& divisor : divisors) {
      if (!is_positive(divisor, form, problem))
        return refuse("the index along " + axis + " is divided by a difference that may be none");
    }
    // A number comes after those that divide it.
    std::stable_sort(divisors.begin(), divisors.end(), [](const auto& one, const auto& other) {
      return order_of(one) < order_of(other);
    });
    for (std::size_t next = 1; next < divisors.size(); ++next) {
      if (!exact_quotient(divisors[next], divisors[next - 1])) {
        return refuse("the index along " + axis +
                      " is divided by numbers of which none divides the other");
      }
    }
    if (dimensions < 1 || static_cast<std::size_t>(dimensions) > divisors.size()) {
      return refuse("the index along " + axis + " is divided by only " +
                    std::to_string(divisors.size()) + " numbers");
    }
    return divisors[static_cast<std::size_t>(dimensions) - 1];
  }

  static Status arrange(const KernelAnalysis& kernel, const KernelForm& form, SplitPlace& place) {
    const Problem& problem = kernel.problem();
    const auto from = static_cast<std::size_t>(number_of(place.from));
    const auto to = static_cast<std::size_t>(number_of(place.to));
    const auto columns = size_of(place.divisor, problem, form.analysis);
    if (!columns) return refuse("what the index is divided by is not made of the problem's sizes");
    const auto rows = rows_of(kernel, form, place, *columns);
    if (!rows) {
      return refuse("the grid's " + place.from + " extent is not cdiv(n, b" + place.from +
                    ") of a number of things");
    }
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (const auto* sizes : {&problem.tests, &problem.bench}) {
      for (const Symbols& symbols : *sizes) {
        const auto width = columns->evaluate(symbols);
        if (!width || *width < 1)
          return refuse("at some size of the problem the index is divided by a number below one");
        if (sizes == &problem.bench) fewest = std::min(fewest, *width);
      }
    }
    place.launch.grid[from] =
        IntegerExpression::ceil_divide(*columns, IntegerExpression::symbol("b" + place.from));
    place.launch.grid[to] =
        IntegerExpression::ceil_divide(*rows, IntegerExpression::symbol("b" + place.to));
    set_threads(kernel, place, fewest);
    if ((*kernel.launch())->block_follows_sizes() &&
        place.launch.block != (*kernel.launch())->block) {
      return refuse("the block's extents follow the sizes, and would be fixed");
    }
    if (Status status = require_possible(place.launch, kernel); !status) return status;
    return require_range(problem, place, *columns);
  }

  // How many quotients there are.
  static std::optional<IntegerExpression> rows_of(const KernelAnalysis& kernel,
                                                  const KernelForm& form, const SplitPlace& place,
                                                  const IntegerExpression& columns) {
    const auto from = static_cast<std::size_t>(number_of(place.from));
    const auto items =
        dividend_of(place.launch.grid[from], IntegerExpression::symbol("b" + place.from));
    if (!items) return std::nullopt;
    const auto in_kernel = size_in_kernel(*items, form.kernel, form.analysis, false);
    const auto polynomial =
        in_kernel ? form.analysis.polynomial(with_size_names(in_kernel, form.kernel, form.analysis))
                  : std::nullopt;
    const auto rows = polynomial ? exact_quotient(*polynomial, place.divisor) : std::nullopt;
    if (rows) return size_of(*rows, kernel.problem(), form.analysis);
    return IntegerExpression::ceil_divide(*items, columns);
  }

  // As many threads a block as there were, by powers of two; more rows where the grid would be too
  // long for CUDA.
  static void set_threads(const KernelAnalysis& kernel, SplitPlace& place, std::int64_t columns) {
    // Along y the block has its rows, and planes are blocks of their own.
    if (place.from != "x") return;
    const std::uint32_t before = place.launch.block.x;
    std::uint32_t threads = 1;
    while (2 * threads <= std::min(kLanes, before) && threads < columns)
      threads *= 2;
    place.launch.block.x = threads;
    const int to = number_of(place.to);
    std::uint32_t rows = std::max<std::uint32_t>(1, before / threads);
    set_extent(place.launch.block, to, rows);
    while (2 * place.launch.block.count() <= kLargestBlock &&
           !require_possible(place.launch, kernel)) {
      rows *= 2;
      set_extent(place.launch.block, to, rows);
    }
  }

  // Indices of threads beyond the last row are computed as well.
  static Status require_range(const Problem& problem, const SplitPlace& place,
                              const IntegerExpression& columns) {
    for (const Symbols& symbols : all_sizes(problem)) {
      const auto concrete = concretise(place.launch, symbols);
      if (!concrete) return refuse("the launch would not be valid: " + concrete.error().message);
      const int to = number_of(place.to);
      const std::int64_t rows =
          std::int64_t{extent(concrete->grid, to)} * extent(concrete->block, to);
      const std::int64_t width = *columns.evaluate(symbols);
      if (rows > (std::numeric_limits<std::int32_t>::max() - width - kLanes) / width)
        return refuse("an index beyond the last would not fit 32 bits");
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_delinearize() {
  return std::make_unique<Delinearize>();
}

}  // namespace regraph::rewrite
