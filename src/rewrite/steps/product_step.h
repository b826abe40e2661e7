// What steps that compute matrix products on tensor cores have in common.
#pragma once

#include "base/result.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/tensor_tile.h"

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

// The kernel's product, on a device of that architecture or a later one, where sums may be
// reordered and buffers are distinct. Error: refused.
[[nodiscard]] Result<TensorPlace> find_tensor_place(const KernelAnalysis& kernel,
                                                    int least_architecture);

// Sets the launch: a block of `threads` for a tile. Error: refused.
[[nodiscard]] Status launch_tiles(TensorPlace& place, int threads, const KernelAnalysis& kernel);

// Has the strips, `bytes` of them, lie in dynamic shared memory, which a kernel may opt in to more
// of. Error: refused, where a block cannot have as much.
[[nodiscard]] Status take_dynamic_shared(TensorPlace& place, std::int64_t bytes,
                                         const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
