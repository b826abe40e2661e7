// mma.sync and ldmatrix, decoded: which registers of a warp hold the fragments of small matrices.
//
// D = A * B + C, A of 16 rows, B of 8 columns. A register holds 32 bits of a row of A or a column
// of B: one value of tf32, two of 16 bits. Lane l is in group g = l / 4 with place t = l % 4 there
// (PTX ISA, "Matrix Fragments for mma.m16n8k8" and its neighbours):
//
//   A[r]: row g + 8 * (r % 2), register t + 4 * (r / 2) of the row
//   B[r]: column g, register t + 4 * r of the column
//   C[i]: row g + 8 * (i / 2), column 2 * t + i % 2
#pragma once

#include <array>
#include <cstdint>

namespace regraph::ptx {

enum class MatrixInput : std::uint8_t { tf32, f16, bf16 };

inline constexpr int kMatrixRows = 16;
inline constexpr int kMatrixColumns = 8;

// Numbers are offsets into the register file.
struct MatrixProduct {
  MatrixInput input = MatrixInput::tf32;
  int steps = 1;  // registers of B, half of those of A
  std::array<std::uint32_t, 4> d = {};
  std::array<std::uint32_t, 4> a = {};
  std::array<std::uint32_t, 2> b = {};
  std::array<std::uint32_t, 4> c = {};

  // Products that are summed up for an element of D.
  [[nodiscard]] int depth() const { return steps * (input == MatrixInput::tf32 ? 4 : 8); }
};

// ldmatrix: `rows` holds what the lanes loaded, 16 bytes each, one after another; lanes 8 i to
// 8 i + 7 have matrix i.
struct MatrixLoad {
  int matrices = 1;
  bool transposed = false;
  std::array<std::uint32_t, 4> rows = {};
  std::array<std::uint32_t, 4> d = {};
};

}  // namespace regraph::ptx
