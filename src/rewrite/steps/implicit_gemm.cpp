// implicit_gemm: a convolution of halves is computed by tensor cores, as a product of matrices.
//
//   for (c) for (fy) for (fx)                                                one thread an element
//     if (inside) sum += float(in[c][y + fy][x + fx]) * float(filter[channel][c][fy][fx]);
//
// is the product of a matrix of filters, channel by (c, fy, fx), and one of what they meet, (c, fy,
// fx) by (y, x), which nobody writes down: a block gathers the strips of its tile from where their
// elements are (implicit_gemm_code.h). Where the kernel counts pixels along two axes of the grid,
// they come into one row first, so that tiles are full. Strides, dilation, padding, one to three
// dimensions and transposed convolutions are the same to it. What the original does with the sum is
// done for each element, under its guards.
//
// Legal where sums may be reordered, which stay in single precision: products of two halves, or of
// two bfloat16, are exact in it. Each factor is read only, along an axis of its own; guards of both
// apart. Where a guard inside of the loops skips a product a zero stands, which adds nothing unless
// the other factor is infinite or no number: then the sum is no number, and the element is computed
// as the original does.
#include "rewrite/analysis/implicit_gemm.h"

#include "affine/block_geometry.h"
#include "rewrite/analysis/row_plan.h"
#include "rewrite/forms/normal_form.h"
#include "rewrite/steps/parameter_reader.h"
#include "rewrite/steps/product_step.h"
#include "rewrite/transform/halo_gemm_code.h"
#include "rewrite/transform/implicit_gemm_code.h"
#include "rewrite/transform/merge_axes.h"
#include "rewrite/transform/specialisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

struct GemmPlace {
  const KernelAnalysis* kernel = nullptr;    // what it was found in
  std::shared_ptr<const KernelForm> merged;  // null: the kernel's own form
  std::vector<int> merged_axes;              // of the kernel's grid: fast, slow
  Launch before;                             // of that form
  // Where that is specialised: the form that is not, and when they do the same.
  std::shared_ptr<const KernelForm> general;
  ExprPtr condition;
  GemmShape shape;
  ImplicitGemm gemm;
  TensorPlace tensor;
  ExprPtr width;                      // of rows that were merged; null: there is one row
  std::array<std::string, 2> places;  // what the kernel calls a thread's column and row there
  std::optional<HaloTile> halo;       // where inputs of different taps are the same
};

class ImplicitGemmStep final : public PlacedStep<GemmPlace> {
 public:
  std::string_view id() const override { return "implicit_gemm"; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* tile : {"128x128", "64x256", "128x256", "64x128", "32x256"})
      result.push_back({{"tile", tile}});
    return result;
  }

 protected:
  Requirements requirements() const override {
    Requirements result = product_requirements();
    result.fixed_block = true;
    return result;
  }

  Result<GemmPlace> find(const KernelAnalysis& kernel,
                         const StepParameters& parameters) const override {
    ParameterReader reader(parameters);
    const auto shape = shape_of(reader.text("tile"));
    if (!reader.status()) return reader.status().error();
    if (!shape) {
      return fail(ErrorCode::invalid_argument,
                  "'tile' must be two powers of two from 32 to 256, not both 256: \"128x256\"");
    }
    constexpr int kLeastArchitecture = 80;
    if (architecture_number(kernel.limits().architecture) < kLeastArchitecture)
      return refuse("the device has no such tensor cores");
    if (!kernel.problem().assume.reassociate)
      return refuse("the problem does not grant 'assume: {reassociate: true}'");
    if (Status status = require_gathered(kernel); !status) return status.error();
    auto place = find_in_axes(kernel);
    if (!place) return place.error();
    if (Status status = lay_out(*shape, *place, kernel); !status) return status.error();
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const GemmPlace& place) const override {
    const KernelForm& form = place.merged ? *place.merged : **place.kernel->direct_normal();
    KernelState result = place.kernel->state();
    result.unit.kernel = form.kernel;
    const auto general = place.general
                             ? std::optional(GeneralVersion{*place.general, place.condition})
                             : std::nullopt;
    const GeneralVersion* const otherwise = general ? &*general : nullptr;
    result.unit.kernel.body = place.halo ? halo_gemm_code(form, place.before, place.gemm,
                                                          place.tensor.tile, *place.halo, otherwise)
                                         : implicit_gemm_code(form, place.before, place.gemm,
                                                              place.tensor.tile, otherwise);
    result.unit.kernel.launch_bounds_threads = place.tensor.tile.threads();
    result.unit.kernel.launch_bounds_min_blocks = blocks_with_registers(place);
    result.plan.launches.front() = place.tensor.launch;
    rely_on_product(result, place.tensor, kernel);
    place.kernel->note_reliance(result);
    return result;
  }

 private:
  // How many blocks a multiprocessor's registers suffice for: a thread needs some eighty beside
  // those for its sums, and fewer where inputs are loaded once for all taps.
  static int blocks_with_registers(const GemmPlace& place) {
    const TensorTile& tile = place.tensor.tile;
    const int few_sums = place.halo ? 64 : 32;
    return tile.warp[0] * tile.warp[1] / 32 <= few_sums ? 2 : 1;
  }

  struct Shape {
    int rows = 0;
    int columns = 0;
  };

  static std::optional<Shape> shape_of(const std::string& text) {
    Shape shape;
    const char* const end = text.data() + text.size();
    const auto rows = std::from_chars(text.data(), end, shape.rows);
    if (rows.ec != std::errc() || rows.ptr == end || *rows.ptr != 'x') return std::nullopt;
    const auto columns = std::from_chars(rows.ptr + 1, end, shape.columns);
    if (columns.ec != std::errc() || columns.ptr != end) return std::nullopt;
    constexpr int kLeast = 32;
    constexpr int kMost = 256;
    for (const int one : {shape.rows, shape.columns}) {
      if (one < kLeast || one > kMost || (one & (one - 1)) != 0) return std::nullopt;
    }
    if (shape.rows == kMost && shape.columns == kMost) return std::nullopt;
    return shape;
  }

  // Refuses matrices whose rows the other product steps copy sixteen bytes at a time.
  static Status require_gathered(const KernelAnalysis& kernel) {
    const auto form = kernel.direct_normal();
    if (!form) return {};
    const auto product = find_matrix_product(**form, kernel);
    if (!product) return {};
    for (const ProductFactor& factor : product->factors) {
      if (!factor.divisible) return {};
      for (const std::string& name : *factor.divisible) {
        const auto size = largest_at_bench_sizes(Polynomial::symbol(name), kernel.problem());
        if (!size || *size % product->vector_elements() != 0) return {};
      }
    }
    return refuse("a product of matrices, which wgmma and tensor_core load as they lie");
  }

  // The product in the kernel, or where its threads are numbered along one axis in what delinearize
  // makes of that, in one step or two: pixels by up to three sizes, then channels and images.
  static Result<GemmPlace> find_in_axes(const KernelAnalysis& kernel) {
    auto place = find_product(kernel);
    if (place) return place;
    for (const char* sizes : {"3", "2", "1"}) {
      const auto pixels = delinearized(kernel, "x", sizes);
      if (!pixels) continue;
      if (auto found = find_product(**pixels)) return found;
      const auto channels = delinearized(**pixels, "y", "1");
      if (!channels) continue;
      if (auto found = find_product(**channels)) return found;
    }
    return place;
  }

  static Result<const KernelAnalysis*> delinearized(const KernelAnalysis& kernel, const char* axis,
                                                    const char* sizes) {
    return kernel.after(fmt::format("delinearize along {} by {}", axis, sizes),
                        [&](const KernelAnalysis& flat) {
                          return find_built_in_step("delinearize")
                              ->apply(flat, {{"axis", axis}, {"dimensions", sizes}});
                        });
  }

  static Result<GemmPlace> find_product(const KernelAnalysis& kernel) {
    auto form = kernel.direct_normal();
    if (!form) return form.error();
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    auto place = find_product(kernel, **form, **launch);
    if (place) return place;
    auto version = specialised(kernel.direct()->kernel, kernel.problem());
    if (!version) return place;
    auto normal = normalised(version->kernel);
    if (!normal) return place;
    const auto special = std::make_shared<const KernelForm>(std::move(*normal));
    auto found = find_product(kernel, *special, **launch);
    if (!found) return place;
    auto general = with_axes_merged(**form, **launch, found->merged_axes);
    if (!general) return place;
    if (!found->merged) found->merged = special;
    found->general = std::move(*general);
    found->condition = std::move(version->condition);
    return found;
  }

  static Result<std::shared_ptr<const KernelForm>> with_axes_merged(const KernelForm& form,
                                                                    const Launch& launch,
                                                                    const std::vector<int>& axes) {
    if (axes.empty()) return std::make_shared<const KernelForm>(form.kernel);
    auto merged = merge_axes(form, launch, axes[0], axes[1]);
    if (!merged) return merged.error();
    return std::make_shared<const KernelForm>(std::move(merged->kernel));
  }

  // The product, with the axes of its columns in one.
  static Result<GemmPlace> find_product(const KernelAnalysis& kernel, const KernelForm& form,
                                        const Launch& launch) {
    auto shape = find_gemm_shape(form, launch, kernel);
    if (!shape) return shape.error();
    GemmPlace place;
    place.kernel = &kernel;
    place.before = launch;
    int ended_axis = -1;
    ExprPtr width;
    std::vector<int>* columns = nullptr;
    for (std::vector<int>& own : shape->axes) {
      if (own.size() > 1) columns = &own;
    }
    if (columns != nullptr) {
      auto merged = merge_axes(form, launch, (*columns)[0], (*columns)[1]);
      if (merged) {
        place.merged = std::make_shared<const KernelForm>(std::move(merged->kernel));
        place.before = std::move(merged->launch);
        place.merged_axes = {(*columns)[0], (*columns)[1]};
        ended_axis = columns->front();
        width = merged->width;
        place.places = merged->places;
      } else if (extent(launch.block, (*columns)[1]) != 1) {
        return merged.error();
      }
      // Blocks of one thread along the other axis are products of their own.
      columns->resize(1);
    }
    auto gemm = find_implicit_gemm(place.merged ? *place.merged : form, place.before, kernel,
                                   *shape, ended_axis);
    if (!gemm) return gemm.error();
    place.gemm = std::move(*gemm);
    place.shape = std::move(*shape);
    place.width = width;
    if (!place.merged) return place;
    for (const KernelParameter& array : form.kernel.parameters) {
      if (is_row_major(form, launch, place.merged_axes[0], place.merged_axes[1], width, array.name))
        place.gemm.product.row_major.insert(array.name);
    }
    return place;
  }

  static Status lay_out(const Shape& shape, GemmPlace& place, const KernelAnalysis& kernel) {
    TensorPlace& tensor = place.tensor;
    tensor.product = place.gemm.product;
    tensor.launch = place.before;
    TensorTile& tile = tensor.tile;
    tile.element = tensor.product.factor_type;
    const std::size_t rows = rows_in_memory(tensor.product);
    tile.tile[rows] = shape.rows;
    tile.tile[1 - rows] = shape.columns;
    if (Status status = require_filled(place, rows, kernel); !status) return status;
    // Eight warps, of parts as square as may be: what a warp loads is what two sides have.
    constexpr int kWarps = 8;
    const int elements = shape.rows * shape.columns / kWarps;
    int side = 16;
    while (side * side < elements)
      side *= 2;
    tile.warp[rows] = std::min(side, shape.rows);
    tile.warp[1 - rows] = elements / tile.warp[rows];
    if (tile.tile[1 - rows] % tile.warp[1 - rows] != 0 || tile.warp[1 - rows] < 16) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("eight warps cannot share out a tile of {} by {}", shape.rows,
                              shape.columns));
    }
    tile.layout = StripLayout::panels;
    tile.depth = tile.panel();
    tile.stages = 2;
    tile.is_dynamic = true;
    place.halo = find_halo(place, rows, kernel);
    if (Status status = set_dynamic_shared(
            tensor.launch,
            place.halo ? place.halo->shared_bytes(tile, rows) : tile.staged_bytes(rows), kernel,
            "the strips need");
        !status)
      return status;
    if (Status status = launch_tiles(tensor, tile.threads(), kernel); !status) return status;
    if (place.halo) set_boxes(place, kernel);
    return {};
  }

  // Refuses tiles of more rows than twice those that there are.
  static Status require_filled(const GemmPlace& place, std::size_t rows,
                               const KernelAnalysis& kernel) {
    const KernelForm& form = place.merged ? *place.merged : **place.kernel->direct_normal();
    const ExprPtr& limit = place.gemm.product.factors[rows].axis.limit;
    const auto count = limit ? form.analysis.polynomial(limit) : std::optional<Polynomial>();
    const auto most =
        count ? largest_at_bench_sizes(*count, kernel.problem()) : std::optional<std::int64_t>();
    const int tile = place.tensor.tile.tile[rows];
    if (!most || tile <= kLeastRows || tile < 2 * *most) return {};
    return refuse(fmt::format("a tile of {} rows is half empty, the product has {}", tile, *most));
  }

  // The box of positions that leaves the fewest of its own unused, and has the smallest halo.
  // Nothing where no input is needed twice, or boxes are not much fuller than their halo's worth.
  static std::optional<HaloTile> find_halo(const GemmPlace& place, std::size_t rows,
                                           const KernelAnalysis& kernel) {
    const std::size_t input = place.shape.taps[0].empty() ? 1 : 0;
    const std::vector<TapAxis>& axes = place.shape.taps[input];
    if (axes.empty()) return std::nullopt;
    HaloTile halo;
    halo.factor = input;
    halo.axes[0] = axes.front();
    const std::vector<int>& merged = place.merged_axes;
    const bool is_merged = !merged.empty() && merged.front() == axes.front().axis;
    if (is_merged) {
      halo.axes[1] = axes.at(1);
      halo.pitch = place.width;
      halo.places = place.places;
    } else if (!axes.front().loop) {
      return std::nullopt;
    }
    const GatheredFactor& other = place.gemm.factors[1 - input];
    const std::size_t taps = (halo.axes[0].loop ? 1U : 0U) + (halo.axes[1].loop ? 1U : 0U);
    if (other.along_k && other.divisible)
      halo.others = HaloTile::Others::by_chunks;
    else if (other.dense && place.gemm.loops.size() == taps + 1)
      halo.others = other.dense->next == DenseChunks::Next::iteration ? HaloTile::Others::in_order
                                                                      : HaloTile::Others::by_lines;
    const int lines = place.tensor.tile.tile[input];
    const auto extents = positions_at_bench_sizes(place, axes, kernel);
    std::optional<HaloTile> best;
    double least = kMostUnused;
    for (int across = is_merged ? kLeastAcross : lines; across <= lines; across *= 2) {
      halo.positions = {across, lines / across};
      const DeviceLimits& limits = kernel.limits();
      if (halo.shared_bytes(place.tensor.tile, rows) >
          std::max(limits.shared_bytes_per_block, limits.shared_bytes_per_block_opt_in))
        continue;
      // Rows of inputs begin and end within sectors.
      const int loaded = halo.inputs(1) * (halo.inputs(0) + kSector);
      double cost = 1.0 + kInputCost * loaded / lines;
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const auto count = static_cast<double>(extents[axis]);
        cost *= std::ceil(count / halo.positions[axis]) * halo.positions[axis] / count;
      }
      if (cost >= least) continue;
      least = cost;
      best = halo;
    }
    return best;
  }

  // Along both axes of the box; 1 where there is no second one.
  static std::array<std::int64_t, 2> positions_at_bench_sizes(const GemmPlace& place,
                                                              const std::vector<TapAxis>& axes,
                                                              const KernelAnalysis& kernel) {
    std::array<std::int64_t, 2> result = {1, 1};
    const std::size_t count = place.width ? 2 : 1;
    for (const Symbols& sizes : kernel.problem().bench) {
      const auto launch = concretise(**place.kernel->launch(), sizes);
      if (!launch) continue;
      for (std::size_t at = 0; at < std::min(count, axes.size()); ++at) {
        const std::int64_t blocks = extent(launch->grid, axes[at].axis);
        result[at] = std::max(result[at], blocks * extent(launch->block, axes[at].axis));
      }
    }
    const KernelForm& form = **place.kernel->direct_normal();
    const auto width = place.width ? form.analysis.polynomial_with_sizes(place.width)
                                   : std::optional<Polynomial>();
    const auto most =
        width ? largest_at_bench_sizes(*width, kernel.problem()) : std::optional<std::int64_t>();
    if (most && *most > 0) result[0] = std::min(result[0], *most);
    return result;
  }

  // The grid along the axis of the halo's factor: a block for every box.
  static void set_boxes(GemmPlace& place, const KernelAnalysis&) {
    const HaloTile& halo = *place.halo;
    if (!halo.pitch) return;
    const Launch& before = **place.kernel->launch();
    const auto boxes = [&](std::size_t at) {
      const int axis = halo.axes[at].axis;
      return tiles_of(with_block_extents(before.grid[static_cast<std::size_t>(axis)], before.block),
                      extent(before.block, axis), halo.positions[at]);
    };
    place.tensor.launch.grid[static_cast<std::size_t>(halo.axes[0].axis)] =
        IntegerExpression::multiply(boxes(0), boxes(1));
  }

  static constexpr int kLeastRows = 32;
  static constexpr int kLeastAcross = 8;
  static constexpr int kSector = 16;  // elements
  // To load an input, in products with it, and what that and unused positions may come to.
  static constexpr double kInputCost = 0.1;
  static constexpr double kMostUnused = 2.0;
};

}  // namespace

std::unique_ptr<StepRewriter> make_implicit_gemm() {
  return std::make_unique<ImplicitGemmStep>();
}

}  // namespace regraph::rewrite
