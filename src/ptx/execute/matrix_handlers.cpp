// Products of small matrices that a warp holds. Products are exact, as PTX says; they are added in
// single precision, one after another, to the element of C. PTX leaves the order and the rounding
// inside one instruction open.
#include "ptx/execute/path_rotation.h"
#include "ptx/memory/block_context.h"

namespace regraph::ptx {
namespace {

#include "ptx/execute/handlers/lane_types.h"

using Word = std::uint32_t;

constexpr int kMostDepth = 16;

struct Operands {
  float a[kMatrixRows][kMostDepth];
  float b[kMostDepth][kMatrixColumns];
};

// Of tf32 the hardware reads the upper 19 bits.
float tf32_value(Word bits) {
  return float_of(bits & 0xffffe000U);
}

// Hands the values of a register to `put(number, value)`: one of tf32, two of 16 bits.
template <typename Put>
void for_each_value(MatrixInput input, Word bits, Put put) {
  switch (input) {
    case MatrixInput::tf32:
      put(0, tf32_value(bits));
      break;
    case MatrixInput::f16:
      put(0, static_cast<float>(half_to_float(bits & 0xffffU)));
      put(1, static_cast<float>(half_to_float(bits >> 16)));
      break;
    case MatrixInput::bf16:
      put(0, bfloat_to_float(bits & 0xffffU));
      put(1, bfloat_to_float(bits >> 16));
      break;
  }
}

void gather(const MatrixProduct& product, Warp& w, Operands& to) {
  const int values = product.input == MatrixInput::tf32 ? 1 : 2;
  for (int r = 0; r < 2 * product.steps; ++r) {
    const Word* a = lanes<Word>(w, product.a[static_cast<std::size_t>(r)]);
    for (int l = 0; l < kWarpLanes; ++l) {
      const int row = l / 4 + 8 * (r % 2);
      const int first = (l % 4 + 4 * (r / 2)) * values;
      for_each_value(product.input, a[l],
                     [&](int i, float value) { to.a[row][first + i] = value; });
    }
  }
  for (int r = 0; r < product.steps; ++r) {
    const Word* b = lanes<Word>(w, product.b[static_cast<std::size_t>(r)]);
    for (int l = 0; l < kWarpLanes; ++l) {
      const int first = (l % 4 + 4 * r) * values;
      for_each_value(product.input, b[l],
                     [&](int i, float value) { to.b[first + i][l / 4] = value; });
    }
  }
}

// Returns false, and where to go on, when not all lanes are here.
bool is_whole(const Record* r, Warp& w, const char* what, const Record** next) {
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

const Record* matrix_multiply_add(const Record* r, Warp& w) {
  const Record* next = nullptr;
  if (!is_whole(r, w, "mma", &next)) return next;
  const MatrixProduct& product = w.block->code->matrix_products[r->e];
  Operands operands;
  gather(product, w, operands);
  float sums[kMatrixRows][kMatrixColumns];
  const auto each = [](auto visit) {
    for (int i = 0; i < 4; ++i) {
      for (int l = 0; l < kWarpLanes; ++l)
        visit(i, l, l / 4 + 8 * (i / 2), 2 * (l % 4) + i % 2);
    }
  };
  each([&](int i, int l, int row, int column) {
    sums[row][column] = lanes<float>(w, product.c[static_cast<std::size_t>(i)])[l];
  });
  const int depth = product.depth();
  for (int row = 0; row < kMatrixRows; ++row) {
    for (int k = 0; k < depth; ++k) {
      const float a = operands.a[row][k];
      for (int column = 0; column < kMatrixColumns; ++column)
        sums[row][column] += a * operands.b[k][column];
    }
  }
  each([&](int i, int l, int row, int column) {
    lanes<float>(w, product.d[static_cast<std::size_t>(i)])[l] = canonical(sums[row][column]);
  });
  return r + 1;
}

// Lane l gets two neighbours of 16 bits of row l / 4 of each matrix, or of column l / 4.
const Record* matrix_distribute(const Record* r, Warp& w) {
  const Record* next = nullptr;
  if (!is_whole(r, w, "ldmatrix", &next)) return next;
  const MatrixLoad& load = w.block->code->matrix_loads[r->e];
  const auto word_of = [&](int matrix, int row, int word) {
    return lanes<Word>(w, load.rows[static_cast<std::size_t>(word)])[8 * matrix + row];
  };
  const auto half_of = [&](int matrix, int row, int column) {
    return (word_of(matrix, row, column / 2) >> (16 * (column % 2))) & 0xffffU;
  };
  for (int matrix = 0; matrix < load.matrices; ++matrix) {
    Word* d = lanes<Word>(w, load.d[static_cast<std::size_t>(matrix)]);
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

}  // namespace

void fill_matrix_handlers(Handler* table) {
  put(table, Operation::matrix_multiply_add, &matrix_multiply_add);
  put(table, Operation::matrix_distribute, &matrix_distribute);
}

}  // namespace regraph::ptx
