// Instructions on small matrices that a warp holds, decoded: which registers hold the fragments.
//
// mma: D = A * B + C, A of 16 rows (8 for the smallest of f64), B of 8 columns. A register holds
// one value (tf32, f64), two of 16 bits or four of 8 bits of a row of A or a column of B. Lane l is
// in group g = l / 4 with place t = l % 4 there (PTX ISA, "Matrix Fragments for mma.m16n8k8" and
// its neighbours):
//
//   A[r]: row g + 8 * (r % 2), register t + 4 * (r / 2) of the row; of 8 rows: row g, register t
//   B[r]: column g, register t + 4 * r of the column
//   C[i]: row g + 8 * (i / 2), column 2 * t + i % 2; sums of f16 lie in pairs in a register
#pragma once

#include <array>
#include <cstdint>

namespace regraph::ptx {

// What factors are made of, and what products are summed up in.
enum class MatrixInput : std::uint8_t { tf32, f16, bf16, e4m3, e5m2, s8, u8, f64 };
enum class MatrixSum : std::uint8_t { f32, f16, s32, f64 };

[[nodiscard]] constexpr int values_in_word(MatrixInput input) {
  switch (input) {
    case MatrixInput::tf32:
    case MatrixInput::f64:
      return 1;
    case MatrixInput::f16:
    case MatrixInput::bf16:
      return 2;
    default:
      return 4;
  }
}

inline constexpr int kMatrixRows = 16;
inline constexpr int kMatrixColumns = 8;
inline constexpr int kMostMatrixDepth = 32;

// Numbers are offsets into the register file.
struct MatrixProduct {
  MatrixInput a_input = MatrixInput::tf32;
  MatrixInput b_input = MatrixInput::tf32;
  MatrixSum sum = MatrixSum::f32;
  bool saturates = false;  // sums of integers
  int rows = kMatrixRows;
  int steps = 1;  // registers of B, half of those of A
  std::array<std::uint32_t, 4> d = {};
  std::array<std::uint32_t, 8> a = {};
  std::array<std::uint32_t, 4> b = {};
  std::array<std::uint32_t, 4> c = {};

  // Products that are summed up for an element of D.
  [[nodiscard]] int depth() const { return steps * 4 * values_in_word(a_input); }
  [[nodiscard]] int a_registers() const { return steps * rows / 8; }
  [[nodiscard]] int sum_registers() const { return rows / 4 / (sum == MatrixSum::f16 ? 2 : 1); }
};

// ldmatrix, stmatrix, movmatrix: `rows` holds the matrices as memory has them, 16 bytes a lane, one
// word of it in each of four registers; lanes 8 i to 8 i + 7 have matrix i. `fragments` holds them
// as mma wants them.
struct MatrixRearrangement {
  int matrices = 1;
  bool transposed = false;
  std::array<std::uint32_t, 4> rows = {};
  std::array<std::uint32_t, 4> fragments = {};
};

// wgmma.mma_async: D = A * B (+ D), A of 64 rows, B of up to 256 columns. Warp w of the four that
// execute it has rows 16 w to 16 w + 15 of A and D, in fragments like those above, and 8 columns
// after another. Matrices in shared memory are named by descriptors, registers of 64 bits.
struct WarpgroupProduct {
  MatrixInput a_input = MatrixInput::f16;
  MatrixInput b_input = MatrixInput::f16;
  MatrixSum sum = MatrixSum::f32;
  bool saturates = false;
  bool a_in_registers = false;
  bool a_transposed = false;  // in memory, rows of A (columns of B) lie side by side
  bool b_transposed = false;
  bool negates_a = false;
  bool negates_b = false;
  int columns = 8;
  std::uint32_t adds = 0;               // a predicate: D is added; else its old value is not read
  std::array<std::uint32_t, 4> a = {};  // registers, or the descriptor first
  std::uint32_t b = 0;
  std::array<std::uint32_t, 128> d = {};

  [[nodiscard]] int depth() const { return 8 * values_in_word(a_input); }
  [[nodiscard]] int sum_registers() const { return columns / (sum == MatrixSum::f16 ? 4 : 2); }
};

// wmma: how the words of a matrix lie in memory.
struct WmmaAccess {
  int words_per_line = 8;
  int word_bytes = 4;
  int element_bytes = 2;
  bool across = false;  // a line of the fragment is not one of the memory: sums by columns
  int stride = 16;      // elements between lines, where the instruction does not say
};

// D = A * B + C of fragments that wmma loads.
struct WmmaProduct {
  MatrixInput input = MatrixInput::f16;
  MatrixSum from = MatrixSum::f32;  // C
  MatrixSum to = MatrixSum::f32;    // D
  bool saturates = false;
  int rows = 16;
  int columns = 16;
  int depth = 16;
  bool a_by_rows = true;
  bool b_by_rows = true;
  std::array<std::uint32_t, 8> d = {};
  std::array<std::uint32_t, 8> a = {};
  std::array<std::uint32_t, 8> b = {};
  std::array<std::uint32_t, 8> c = {};
};

}  // namespace regraph::ptx
