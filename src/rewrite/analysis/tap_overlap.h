// Where neighbouring elements of a convolution read the same input, for different taps of the
// filter.
//
//   for (fy) for (fx) sum += in[(y * 2 + fy) * width + x + fx] * ...     in[u][v]: u = 2 y + fy,
//                                                                         v = x + fx
//
// A tile of elements then reads a box of inputs with a halo, each of which is needed once. Used by
// implicit_gemm.
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"
#include "source/polynomial.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// A loop over taps, as far as it counts here: `trips` is constant.
struct TapLoop {
  std::string counter;
  std::optional<std::int64_t> trips;
};

// How inputs lie along an axis of the grid: at stride * position + dilation * tap, where taps count
// from the loop's last iteration if they are reversed. Stride or dilation is 1. Without a loop the
// inputs of different positions are different ones, and stride and dilation mean nothing.
struct TapAxis {
  int axis = 0;
  std::optional<std::size_t> loop;
  int trips = 1;
  int stride = 1;
  int dilation = 1;
  bool reversed = false;

  // Of inputs along the axis that so many positions need.
  [[nodiscard]] int inputs(int positions) const {
    return loop ? stride * (positions - 1) + dilation * (trips - 1) + 1 : positions;
  }
};

// The axes, of `axes` (the fastest first), or empty where no input is read for two taps. Which
// input it is, `index`, and every one of the conditions under which it is read depend on an axis's
// position and tap by that sum alone; or, like guards of the grid's end, on the position, and hold
// for all smaller ones. `kept`: the loop whose iterations are no taps.
[[nodiscard]] std::vector<TapAxis> find_tap_axes(const KernelForm& form, const Launch& launch,
                                                 const std::vector<int>& axes,
                                                 const Polynomial& index,
                                                 const std::vector<ExprPtr>& conditions,
                                                 const std::vector<TapLoop>& loops,
                                                 std::optional<std::size_t> kept);

}  // namespace regraph::rewrite
