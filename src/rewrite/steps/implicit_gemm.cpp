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
#include "rewrite/forms/normal_form.h"
#include "rewrite/steps/parameter_reader.h"
#include "rewrite/steps/product_step.h"
#include "rewrite/transform/implicit_gemm_code.h"
#include "rewrite/transform/merge_axes.h"
#include "rewrite/transform/specialisation.h"

#include <fmt/format.h>

#include <charconv>
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
  ImplicitGemm gemm;
  TensorPlace tensor;
};

class ImplicitGemmStep final : public PlacedStep<GemmPlace> {
 public:
  std::string_view id() const override { return "implicit_gemm"; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* tile : {"128x128", "64x128", "128x256", "256x128", "64x256", "32x256"})
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
    result.unit.kernel.body = implicit_gemm_code(form, place.before, place.gemm, place.tensor.tile,
                                                 general ? &*general : nullptr);
    result.unit.kernel.launch_bounds_threads = place.tensor.tile.threads();
    result.unit.kernel.launch_bounds_min_blocks = blocks_with_registers(place.tensor.tile);
    result.plan.launches.front() = place.tensor.launch;
    rely_on_product(result, place.tensor, kernel);
    place.kernel->note_reliance(result);
    return result;
  }

 private:
  // How many blocks a multiprocessor's registers suffice for: a thread needs some eighty beside
  // those for its sums.
  static int blocks_with_registers(const TensorTile& tile) {
    constexpr int kFewSums = 32;
    return tile.warp[0] * tile.warp[1] / 32 <= kFewSums ? 2 : 1;
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
    if (Status status =
            set_dynamic_shared(tensor.launch, tile.staged_bytes(rows), kernel, "the strips need");
        !status)
      return status;
    return launch_tiles(tensor, tile.threads(), kernel);
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_implicit_gemm() {
  return std::make_unique<ImplicitGemmStep>();
}

}  // namespace regraph::rewrite
