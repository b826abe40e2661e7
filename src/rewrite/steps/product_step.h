// What steps that compute matrix products on tensor cores have in common.
#pragma once

#include "base/result.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/tensor_tile.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace regraph::rewrite {

struct TensorPlace {
  MatrixProduct product;
  TensorTile tile;
  Launch launch;  // afterwards
};

// Why factors of single precision are refused where precision is to be kept.
inline constexpr const char* kLosesPrecision =
    "the problem does not grant 'assume: {precision: any}', and tf32 keeps 10 bits of a factor's "
    "mantissa";

// "sm_90a" -> 90, 0 for what is not named that way.
[[nodiscard]] int architecture_number(const std::string& architecture);

// The kernel, or where it keeps tiles in shared memory the plain one that untile makes of it; valid
// as long as `kernel`. Error: refused.
[[nodiscard]] Result<const KernelAnalysis*> plain_product(const KernelAnalysis& kernel);

// A step that finds its place in the plain product, which a kernel is or is made of, with rows and
// columns of threads that are numbered along one axis where these are told by its quotients.
class ProductStep : public StepRewriter {
 public:
  [[nodiscard]] Status match(const KernelAnalysis& kernel,
                             const StepParameters& parameters) const final;
  [[nodiscard]] Result<KernelState> apply(const KernelAnalysis& kernel,
                                          const StepParameters& parameters) const final;

 protected:
  // As those of PlacedStep.
  [[nodiscard]] virtual Requirements requirements() const = 0;
  [[nodiscard]] virtual Result<TensorPlace> find(const KernelAnalysis& kernel,
                                                 const StepParameters& parameters) const = 0;
  [[nodiscard]] virtual KernelState rewrite(const KernelAnalysis& kernel,
                                            const TensorPlace& place) const = 0;

 private:
  struct FoundPlace {
    const KernelAnalysis* kernel = nullptr;  // in which it was found
    TensorPlace place;
  };
  [[nodiscard]] Result<FoundPlace> found(const KernelAnalysis& kernel,
                                         const StepParameters& parameters) const;
  [[nodiscard]] Result<TensorPlace> place_in(const KernelAnalysis& plain,
                                             const StepParameters& parameters) const;
};

// What all of them ask of a kernel, and what their results rely on.
[[nodiscard]] Requirements product_requirements();
void rely_on_product(KernelState& result, const TensorPlace& place, const KernelAnalysis& kernel);

// The kernel's product, on a device of that architecture or a later one, where sums may be
// reordered and buffers are distinct. Error: refused.
[[nodiscard]] Result<TensorPlace> find_tensor_place(const KernelAnalysis& kernel,
                                                    int least_architecture);

// How many lines of a factor, 0 or 1, the kernel multiplies at the largest of the sizes that it is
// to be fast on: what its guards let through of the threads along the factor's axis.
[[nodiscard]] std::int64_t lines_at_bench_sizes(const MatrixProduct& product, std::size_t factor,
                                                const KernelAnalysis& kernel);

// ldmatrix takes factors of 16 bits whichever way they lie, bytes that lie along k. Error: refused.
[[nodiscard]] Status require_ldmatrix(const TensorPlace& place);

// Sets the launch: a block of `threads` for a tile. Error: refused.
[[nodiscard]] Status launch_tiles(TensorPlace& place, int threads, const KernelAnalysis& kernel);

// How many tiles of `tile` threads' work there are where `grid` counts blocks of `before` threads.
[[nodiscard]] IntegerExpression tiles_of(const IntegerExpression& grid, std::int64_t before,
                                         std::int64_t tile);

// Launches the block with so much dynamic shared memory, which a kernel may opt in to more of.
// Error: refused, where a block cannot have as much; `what` starts the reason: "the strips need".
[[nodiscard]] Status set_dynamic_shared(Launch& launch, std::int64_t bytes,
                                        const KernelAnalysis& kernel, const std::string& what);

// Has the strips, `bytes` of them, lie in dynamic shared memory. Error: refused, where a block
// cannot have as much.
[[nodiscard]] Status take_dynamic_shared(TensorPlace& place, std::int64_t bytes,
                                         const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
