// Products of small matrices that a warp holds, and how their fragments come from memory and go
// there. Sums: matrix_values.h.
#include "ptx/execute/matrix_values.h"
#include "ptx/execute/path_rotation.h"
#include "ptx/execute/tensor_sums.h"
#include "ptx/execute/whole_warp.h"
#include "ptx/memory/block_context.h"

#include <algorithm>
#include <limits>

namespace regraph::ptx {

bool is_whole_warp(const Record* r, Warp& w, const char* what, const Record** next) {
  if (w.exec == kFullMask) return true;
  if (w.exec == w.active && w.active != w.live) {
    *next = gather_paths(r, w);
    if (*next != nullptr && *next != r) return false;
    if (w.exec == kFullMask) return true;
  }
  w.block->set_fault(FaultKind::barrier_divergence,
                     std::string(what) + " is executed by " +
                         std::to_string(__builtin_popcount(w.exec)) +
                         " of 32 lanes, and it needs them all",
                     r, w, __builtin_ctz(w.exec));
  w.status = WarpStatus::faulted;
  w.last = r;
  *next = nullptr;
  return false;
}

namespace {

#include "ptx/execute/handlers/lane_types.h"

using Word = std::uint32_t;

template <typename Value, typename Sum>
struct MatrixOperands {
  Value a[kMatrixRows * kMostMatrixDepth];
  Value b[kMostMatrixDepth * kMatrixColumns];
  Sum sums[kMatrixRows * kMatrixColumns];
};

// Hands the values of a register of all lanes to put(lane, number, value).
template <typename Value, typename Put>
void for_each_value(MatrixInput input, Warp& w, std::uint32_t offset, Put put) {
  if constexpr (std::is_same_v<Value, double>) {
    const double* from = lanes<double>(w, offset);
    for (int l = 0; l < kWarpLanes; ++l)
      put(l, 0, from[l]);
  } else {
    Value values[4 * kWarpLanes];
    unpack_words(input, lanes<Word>(w, offset), kWarpLanes, values);
    for (int i = 0; i < values_in_word(input); ++i) {
      for (int l = 0; l < kWarpLanes; ++l)
        put(l, i, values[i * kWarpLanes + l]);
    }
  }
}

template <typename Value, typename Sum>
void gather_factors(const MatrixProduct& product, Warp& w, MatrixOperands<Value, Sum>& to) {
  const int values = values_in_word(product.a_input);
  const int depth = product.depth();
  const int halves = product.rows / 8;
  for (int r = 0; r < product.a_registers(); ++r) {
    for_each_value<Value>(product.a_input, w, product.a[static_cast<std::size_t>(r)],
                          [&](int l, int i, Value value) {
                            const int row = l / 4 + 8 * (r % halves);
                            const int first = (l % 4 + 4 * (r / halves)) * values;
                            to.a[row * depth + first + i] = value;
                          });
  }
  for (int r = 0; r < product.steps; ++r) {
    for_each_value<Value>(product.b_input, w, product.b[static_cast<std::size_t>(r)],
                          [&](int l, int i, Value value) {
                            const int k = (l % 4 + 4 * r) * values + i;
                            to.b[k * kMatrixColumns + l / 4] = value;
                          });
  }
}

// visit(i, l, place): element i of lane l's sums and where it lies in the dense matrix.
template <typename Visit>
void for_each_sum(int rows, Visit visit) {
  for (int i = 0; i < rows / 4; ++i) {
    for (int l = 0; l < kWarpLanes; ++l)
      visit(static_cast<std::size_t>(i), l,
            (l / 4 + 8 * (i / 2)) * kMatrixColumns + 2 * (l % 4) + i % 2);
  }
}

void add_up(const MatrixProduct& product, MatrixOperands<float, float>& operands) {
  add_float_products({product.a_input, product.b_input, product.sum, false, product.rows,
                      kMatrixColumns, product.depth()},
                     operands.a, operands.b, operands.sums);
}
template <typename Value, typename Sum>
void add_up(const MatrixProduct& product, MatrixOperands<Value, Sum>& operands) {
  add_products(product.rows, kMatrixColumns, product.depth(), operands.a, operands.b,
               operands.sums);
}

// `Slot` is what a register of C holds.
template <typename Value, typename Sum, typename Slot, typename Round>
void multiply(const MatrixProduct& product, Warp& w, Round round) {
  MatrixOperands<Value, Sum> operands;
  gather_factors(product, w, operands);
  for_each_sum(product.rows, [&](std::size_t i, int l, int place) {
    operands.sums[place] = lanes<Slot>(w, product.c[i])[l];
  });
  add_up(product, operands);
  for_each_sum(product.rows, [&](std::size_t i, int l, int place) {
    lanes<Slot>(w, product.d[i])[l] = round(operands.sums[place]);
  });
}

// Pairs of sums of f16.
void multiply_to_half(const MatrixProduct& product, Warp& w) {
  MatrixOperands<float, float> operands;
  gather_factors(product, w, operands);
  for_each_sum(product.rows, [&](std::size_t i, int l, int place) {
    operands.sums[place] = half_value(lanes<Word>(w, product.c[i / 2])[l] >> (16 * (i % 2)));
  });
  add_up(product, operands);
  for_each_sum(product.rows, [&](std::size_t i, int l, int place) {
    Word& d = lanes<Word>(w, product.d[i / 2])[l];
    const Word bits = half_bits(operands.sums[place]);
    d = i % 2 == 0 ? bits : d | (bits << 16);
  });
}

const Record* matrix_multiply_add(const Record* r, Warp& w) {
  const Record* next = nullptr;
  if (!is_whole_warp(r, w, "mma", &next)) return next;
  const MatrixProduct& product = w.block->code->matrix_products[r->e];
  switch (product.sum) {
    case MatrixSum::f32:
      multiply<float, float, float>(product, w, [](float sum) { return canonical(sum); });
      break;
    case MatrixSum::f16:
      multiply_to_half(product, w);
      break;
    case MatrixSum::s32:
      multiply<std::int32_t, std::int64_t, std::int32_t>(product, w, [&](std::int64_t sum) {
        using Limits = std::numeric_limits<std::int32_t>;
        if (product.saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
        return static_cast<std::int32_t>(static_cast<Word>(sum));
      });
      break;
    case MatrixSum::f64:
      multiply<double, double, double>(product, w, [](double sum) { return canonical(sum); });
      break;
  }
  return r + 1;
}

// Lane l gets two neighbours of 16 bits of row l / 4 of each matrix, or of column l / 4.
const Record* matrix_distribute(const Record* r, Warp& w) {
  const Record* next = nullptr;
  if (!is_whole_warp(r, w, "ldmatrix", &next)) return next;
  const MatrixRearrangement& load = w.block->code->matrix_rearrangements[r->e];
  const auto word_of = [&](int matrix, int row, int word) {
    return lanes<Word>(w, load.rows[static_cast<std::size_t>(word)])[8 * matrix + row];
  };
  const auto half_of = [&](int matrix, int row, int column) {
    return (word_of(matrix, row, column / 2) >> (16 * (column % 2))) & 0xffffU;
  };
  for (int matrix = 0; matrix < load.matrices; ++matrix) {
    Word* d = lanes<Word>(w, load.fragments[static_cast<std::size_t>(matrix)]);
    for (int l = 0; l < kWarpLanes; ++l) {
      const int line = l / 4;
      const int place = l % 4;
      d[l] = load.transposed
                 ? half_of(matrix, 2 * place, line) | (half_of(matrix, 2 * place + 1, line) << 16)
                 : word_of(matrix, line, place);
    }
  }
  return r + 1;
}

// The way back.
const Record* matrix_collect(const Record* r, Warp& w) {
  const Record* next = nullptr;
  if (!is_whole_warp(r, w, "stmatrix", &next)) return next;
  const MatrixRearrangement& store = w.block->code->matrix_rearrangements[r->e];
  for (int matrix = 0; matrix < store.matrices; ++matrix) {
    const Word* from = lanes<Word>(w, store.fragments[static_cast<std::size_t>(matrix)]);
    const auto half_of = [&](int line, int place) {
      return (from[4 * line + place / 2] >> (16 * (place % 2))) & 0xffffU;
    };
    for (int row = 0; row < 8; ++row) {
      for (int word = 0; word < 4; ++word) {
        lanes<Word>(w, store.rows[static_cast<std::size_t>(word)])[8 * matrix + row] =
            store.transposed ? half_of(2 * word, row) | (half_of(2 * word + 1, row) << 16)
                             : from[4 * row + word];
      }
    }
  }
  return r + 1;
}

}  // namespace

void fill_matrix_handlers(Handler* table) {
  put(table, Operation::matrix_multiply_add, &matrix_multiply_add);
  put(table, Operation::matrix_distribute, &matrix_distribute);
  put(table, Operation::matrix_collect, &matrix_collect);
}

}  // namespace regraph::ptx
