// wmma: where the words of a matrix are, in memory and in registers (decode_wmma.cpp), and
// products.
#include "ptx/execute/matrix_values.h"
#include "ptx/execute/tensor_sums.h"
#include "ptx/execute/whole_warp.h"
#include "ptx/memory/block_context.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace regraph::ptx {
namespace {

#include "ptx/execute/handlers/lane_types.h"

using Word = std::uint32_t;

const Record* wmma_addresses(const Record* r, Warp& w) {
  const Record* next = nullptr;
  if (!is_whole_warp(r, w, "wmma", &next)) return next;
  const WmmaAccess& access = w.block->code->wmma_accesses[r->e];
  std::uint64_t* to = lanes<std::uint64_t>(w, r->d);
  for (int l = 0; l < kWarpLanes; ++l) {
    const std::uint64_t base =
        r->flags != 0 ? lanes<Word>(w, r->a)[l] : lanes<std::uint64_t>(w, r->a)[l];
    const std::uint64_t stride =
        r->b != 0 ? lanes<Word>(w, r->b)[l] : static_cast<std::uint64_t>(access.stride);
    const auto index =
        static_cast<std::uint64_t>(r->c) * kWarpLanes + static_cast<std::uint64_t>(l);
    const auto width = static_cast<std::uint64_t>(access.words_per_line);
    const std::uint64_t line = index / width;
    const std::uint64_t place = index % width;
    const auto element = static_cast<std::uint64_t>(access.element_bytes);
    const std::uint64_t offset =
        access.across
            ? (place * stride + line) * element
            : line * stride * element + place * static_cast<std::uint64_t>(access.word_bytes);
    to[l] = base + static_cast<std::uint64_t>(r->immediate) + offset;
  }
  return r + 1;
}

constexpr int kMostSide = 32;
constexpr int kMostWmmaDepth = 16;

// Hands the elements of a matrix of `lines` lines of `length` to put(line, place, value).
template <typename Value, typename Put>
void for_each_element(MatrixInput input, Warp& w, const std::uint32_t* registers, int lines,
                      int length, Put put) {
  const int values = values_in_word(input);
  const int words = length / values;
  for (int r = 0; r < lines * words / kWarpLanes; ++r) {
    Value unpacked[4 * kWarpLanes];
    if constexpr (std::is_same_v<Value, double>) {
      std::copy_n(lanes<double>(w, registers[r]), kWarpLanes, unpacked);
    } else {
      unpack_words(input, lanes<Word>(w, registers[r]), kWarpLanes, unpacked);
    }
    for (int i = 0; i < values; ++i) {
      for (int l = 0; l < kWarpLanes; ++l) {
        const int index = r * kWarpLanes + l;
        put(index / words, index % words * values + i, unpacked[i * kWarpLanes + l]);
      }
    }
  }
}

// `load` and `store` take and put element i of the sums, by rows.
template <typename Value, typename Sum, typename Load, typename Store>
void multiply_wmma(const WmmaProduct& product, Warp& w, Load load, Store store) {
  Value a[kMostSide * kMostWmmaDepth];
  Value b[kMostWmmaDepth * kMostSide];
  Sum sums[kMostSide * kMostSide];
  const int depth = product.depth;
  const int columns = product.columns;
  const int rows = product.rows;
  for_each_element<Value>(product.input, w, product.a.data(), product.a_by_rows ? rows : depth,
                          product.a_by_rows ? depth : rows, [&](int line, int place, Value value) {
                            a[product.a_by_rows ? line * depth + place : place * depth + line] =
                                value;
                          });
  for_each_element<Value>(
      product.input, w, product.b.data(), product.b_by_rows ? depth : columns,
      product.b_by_rows ? columns : depth, [&](int line, int place, Value value) {
        b[product.b_by_rows ? line * columns + place : place * columns + line] = value;
      });
  for (int i = 0; i < rows * columns; ++i)
    sums[i] = static_cast<Sum>(load(i));
  if constexpr (std::is_same_v<Value, float>) {
    // TF32 is the only one whose machine instruction is half as deep.
    const int together = product.input == MatrixInput::tf32 ? 4 : 0;
    add_float_products(
        {product.input, product.input, product.to, false, rows, columns, depth, together}, a, b,
        sums);
  } else {
    add_products(rows, columns, depth, a, b, sums);
  }
  for (int i = 0; i < rows * columns; ++i)
    store(i, sums[i]);
}

template <typename T>
T& sum_of(Warp& w, const std::array<std::uint32_t, 8>& registers, int i) {
  return lanes<T>(w, registers[static_cast<std::size_t>(i / kWarpLanes)])[i % kWarpLanes];
}

// Sums of f16 are pairs.
float load_sum(const WmmaProduct& product, Warp& w, int i) {
  if (product.from == MatrixSum::f32) return sum_of<float>(w, product.c, i);
  return half_value(sum_of<Word>(w, product.c, i / 2) >> (16 * (i % 2)));
}
void store_sum(const WmmaProduct& product, Warp& w, int i, float sum) {
  if (product.to == MatrixSum::f32) {
    sum_of<float>(w, product.d, i) = canonical(sum);
    return;
  }
  Word& d = sum_of<Word>(w, product.d, i / 2);
  d = i % 2 == 0 ? half_bits(sum) : d | (half_bits(sum) << 16);
}

const Record* wmma_multiply_add(const Record* r, Warp& w) {
  const Record* next = nullptr;
  if (!is_whole_warp(r, w, "wmma", &next)) return next;
  const WmmaProduct& product = w.block->code->wmma_products[r->e];
  if (product.to == MatrixSum::f64) {
    multiply_wmma<double, double>(
        product, w, [&](int i) { return sum_of<double>(w, product.c, i); },
        [&](int i, double sum) { sum_of<double>(w, product.d, i) = canonical(sum); });
  } else if (product.to == MatrixSum::s32) {
    multiply_wmma<std::int32_t, std::int64_t>(
        product, w, [&](int i) { return sum_of<std::int32_t>(w, product.c, i); },
        [&](int i, std::int64_t sum) {
          using Limits = std::numeric_limits<std::int32_t>;
          if (product.saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
          sum_of<Word>(w, product.d, i) = static_cast<Word>(sum);
        });
  } else {
    multiply_wmma<float, float>(
        product, w, [&](int i) { return load_sum(product, w, i); },
        [&](int i, float sum) { store_sum(product, w, i, sum); });
  }
  return r + 1;
}

}  // namespace

void fill_wmma_handlers(Handler* table) {
  put(table, Operation::wmma_addresses, &wmma_addresses);
  put(table, Operation::wmma_multiply_add, &wmma_multiply_add);
}

}  // namespace regraph::ptx
