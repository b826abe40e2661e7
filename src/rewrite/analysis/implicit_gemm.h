// Sums over a nest of loops of products of two gathered elements: convolutions of any kind, as
// products of matrices (implicit GEMM; Chetlur et al., "cuDNN: Efficient Primitives for Deep
// Learning", 2014, section 3.1).
//
//   for (c) for (fy) for (fx) if (inside) sum += in[c][y + fy][x + fx] * filter[channel][c][fy][fx];
//
// One factor depends on the thread's place along one axis of the grid, the other one on that along
// another axis; k counts the iterations of all loops. Used by implicit_gemm.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/matrix_product.h"
#include "rewrite/analysis/tap_overlap.h"
#include "rewrite/forms/ir.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// A loop of the nest: counter = first, ..., limit - 1.
struct SummedLoop {
  std::string counter;
  ExprPtr first;
  ExprPtr limit;
  std::optional<std::int64_t> trips;  // where they are constant
};

// All loops but for the chunked one run over places without gaps, behind which follow those of the
// next iteration of the chunked one, or of the factor's next line.
struct DenseChunks {
  enum class Next : std::uint8_t { iteration, line };
  Next next = Next::iteration;
  std::vector<std::int64_t> steps;  // elements from an iteration of a loop to the next one
  // By eight, for the first element of a chunk, and of eight lines, to lie at 16 bytes.
  std::set<std::string> divisible;
};

// What is loaded of a factor, over the kernel's own names and the loops' counters.
struct GatheredFactor {
  ExprPtr element;                  // array[index]
  std::vector<ExprPtr> conditions;  // under which the original loads it
  // The eight elements of a chunk are neighbours in memory, and loaded or not together.
  bool along_k = false;
  // Parameters that a vector's elements have to divide for chunks to be aligned; nothing where they
  // never are.
  std::optional<std::set<std::string>> divisible;
  // Chunks that follow each other are nearer in memory than those of lines that do.
  bool lanes_along_k = false;
  std::optional<DenseChunks> dense;  // nothing where there are gaps, or no vectors
};

struct ImplicitGemm {
  // Its loop is the outermost, its guards do not ask for k, and its factors have the axes alone.
  MatrixProduct product;
  std::vector<SummedLoop> loops;  // outermost first
  // k counts in chunks of eight. Those are eight iterations of this loop, for the same ones of all
  // others, and chunks follow each other along these before they do along this one: what a chunk
  // asks it asks once. Without one k counts the iterations of all loops as they follow each other.
  std::optional<std::size_t> chunked;
  std::array<GatheredFactor, 2> factors;

  static constexpr int kChunk = 8;
};

// What there is to know of the product before its axes are laid out.
struct GemmShape {
  // Which axes of the grid the factors depend on, the fastest first. Blocks have one thread along
  // axes of both, or of neither: they have products of their own.
  std::array<std::vector<int>, 2> axes;
  // As in ImplicitGemm and GatheredFactor.
  std::optional<std::size_t> chunked;
  std::array<bool, 2> along_k = {};
  std::array<bool, 2> lanes_along_k = {};
  std::array<std::optional<std::set<std::string>>, 2> divisible;
  std::array<std::optional<DenseChunks>, 2> dense;
  // Of the factor's axes, as many as are given (find_tap_axes); empty where no element is read for
  // two taps.
  std::array<std::vector<TapAxis>, 2> taps;
};
// `form` is in normal form. Error: refused, with what is in the way.
[[nodiscard]] Result<GemmShape> find_gemm_shape(const KernelForm& form, const Launch& launch,
                                                const KernelAnalysis& kernel);

// The product of that shape, of the same kernel; its axes may be other ones now, one a factor. Its
// guards are known to stop all threads past the end of `ended_axis`, where that is no -1. Error:
// refused, with what is in the way.
[[nodiscard]] Result<ImplicitGemm> find_implicit_gemm(const KernelForm& form, const Launch& launch,
                                                      const KernelAnalysis& kernel,
                                                      const GemmShape& shape, int ended_axis = -1);

}  // namespace regraph::rewrite
