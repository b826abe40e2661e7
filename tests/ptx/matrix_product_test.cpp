// Every product of mma.sync against plain products, element by element: random small integers,
// whose sums are exact in all types, and random values, whose sums are near.
#include "ptx/execute/tensor_sums.h"
#include "ptx/matrix_shapes.h"

#include <array>
#include <cmath>
#include <limits>

namespace regraph::ptx::matrix_product_test {
namespace {

// Which element a lane's value is, as the PTX ISA's tables have it: "Matrix Fragments for
// mma.m16n8k*".
struct Place {
  int row;
  int column;
};
Place place_of_a(const Shape& shape, int lane, int index) {
  const int values = values_of_type(shape.a);
  const int word = index / values;
  const bool lower = shape.rows == 16 && word % 2 == 1;
  const int block = shape.rows == 16 ? word / 2 : word;
  return {lane / 4 + (lower ? 8 : 0), (lane % 4) * values + index % values + block * 4 * values};
}
Place place_of_b(const Shape& shape, int lane, int index) {
  const int values = values_of_type(shape.b);
  return {(lane % 4) * values + index % values + index / values * 4 * values, lane / 4};
}
Place place_of_sum(int lane, int index) {
  return {lane / 4 + (index >= 2 ? 8 : 0), (lane % 4) * 2 + index % 2};
}

using Matrix = std::vector<std::vector<double>>;

Matrix random_matrix(int rows, int columns, const std::string& type, std::uint64_t seed,
                     bool integers) {
  Matrix matrix(static_cast<std::size_t>(rows),
                std::vector<double>(static_cast<std::size_t>(columns)));
  std::uint64_t draw = 0;
  for (auto& row : matrix) {
    for (double& value : row)
      value = random_value(type, random_bits(seed, ++draw), integers);
  }
  return matrix;
}

double at(const Matrix& matrix, Place place) {
  return matrix[static_cast<std::size_t>(place.row)][static_cast<std::size_t>(place.column)];
}

// Registers of all lanes, lane by lane within a register.
template <typename PlaceOf>
void append(std::vector<std::uint64_t>& words, const Matrix& matrix, const std::string& type,
            int count, PlaceOf place_of) {
  const int values = values_of_type(type);
  for (int word = 0; word < count; ++word) {
    for (int lane = 0; lane < 32; ++lane) {
      std::uint64_t bits = 0;
      for (int i = 0; i < values; ++i)
        bits |= encode(type, at(matrix, place_of(lane, word * values + i)))
                << (i * bits_of_type(type));
      words.push_back(bits);
    }
  }
}

struct Outcome {
  Matrix sums;
  Matrix expected;
};

Outcome multiply(const Shape& shape, std::uint64_t seed, bool integers) {
  const Matrix a = random_matrix(shape.rows, shape.depth, shape.a, seed, integers);
  const Matrix b = random_matrix(shape.depth, 8, shape.b, seed + 1, integers);
  const Matrix c = random_matrix(shape.rows, 8, shape.sum, seed + 2, integers);
  const int a_words = shape.a_words();
  const int b_words = shape.b_words();
  const int c_words = shape.sum_words();
  std::vector<std::uint64_t> words;
  append(words, a, shape.a, a_words, [&](int l, int i) { return place_of_a(shape, l, i); });
  append(words, b, shape.b, b_words, [&](int l, int i) { return place_of_b(shape, l, i); });
  append(words, c, shape.sum, c_words, &place_of_sum);
  const std::vector<std::uint64_t> out = run_on_registers(shape.text(), a_words + b_words + c_words,
                                                          c_words, words, shape.sum == "f64");
  Outcome outcome{c, c};
  const int values = values_of_type(shape.sum);
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (int j = 0; j < values; ++j) {
      const Place place =
          place_of_sum(static_cast<int>(i % 32), static_cast<int>(i / 32) * values + j);
      outcome.sums[static_cast<std::size_t>(place.row)][static_cast<std::size_t>(place.column)] =
          decode(shape.sum, out[i] >> (j * bits_of_type(shape.sum)));
    }
  }
  for (int row = 0; row < shape.rows; ++row) {
    for (int column = 0; column < 8; ++column) {
      double& sum =
          outcome.expected[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
      for (int k = 0; k < shape.depth; ++k)
        sum += at(a, {row, k}) * at(b, {k, column});
    }
  }
  return outcome;
}

TEST(MatrixProductTest, IsExactOnSmallIntegers) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name + ' ' + shape.sum + ' ' + shape.a + ' ' + shape.b);
    for (const std::uint64_t seed : {10U, 20U, 30U}) {
      const Outcome outcome = multiply(shape, seed, true);
      EXPECT_EQ(outcome.sums, outcome.expected);
    }
  }
}

TEST(MatrixProductTest, IsNearOnAnyValues) {
  for (const Shape& shape : shapes()) {
    if (shape.sum == "s32") continue;
    SCOPED_TRACE(shape.name + ' ' + shape.sum + ' ' + shape.a + ' ' + shape.b);
    const double tolerance = shape.sum == "f16" ? 4e-3 : shape.sum == "f64" ? 1e-14 : 1e-5;
    const Outcome outcome = multiply(shape, 77, false);
    for (std::size_t row = 0; row < outcome.sums.size(); ++row) {
      for (std::size_t column = 0; column < 8; ++column)
        EXPECT_NEAR(outcome.sums[row][column], outcome.expected[row][column],
                    tolerance * shape.depth * 2);
    }
  }
}

// Sums of integers wrap around, or stay at the ends with .satfinite.
TEST(MatrixProductTest, IntegersWrapOrSaturate) {
  for (const bool saturates : {false, true}) {
    std::vector<std::uint64_t> words(32 * 6, 0x01010101U);
    words.resize(32 * 10, 0x7ffffff0U);
    const std::string text = std::string("mma.sync.aligned.m16n8k32.row.col") +
                             (saturates ? ".satfinite" : "") +
                             ".s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%r0, %r1, %r2, %r3}, "
                             "{%r4, %r5}, {%r6, %r7, %r8, %r9};";
    const auto out = run_on_registers(text, 10, 4, words, false);
    EXPECT_EQ(out[0], saturates ? 0x7fffffffU : 0x80000010U);
  }
}

TEST(MatrixProductTest, SaysWhatItCannotDo) {
  const auto refused = [](const std::string& mnemonic) {
    const std::string text = register_kernel(
        mnemonic + " {%d0, %d1, %d2, %d3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, %r7, %r8, %r9};",
        10, 4, false);
    const auto program = Program::load(text, "k");
    ASSERT_FALSE(program.ok()) << mnemonic;
    EXPECT_EQ(program.error().code, ErrorCode::unsupported) << mnemonic;
    EXPECT_NE(program.error().message.find("this matrix product"), std::string::npos);
  };
  refused("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32");
  refused("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32");
  refused("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32");
  refused("mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16");
  refused("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16");
  refused("mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32");
  refused("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32");
  refused("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc");
  refused("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32");
  refused("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  refused("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e3m2.f32");
}

// stmatrix, then ldmatrix, with and without transposition; and movmatrix.
TEST(MatrixProductTest, MatricesGoToMemoryAndBack) {
  std::vector<std::uint64_t> words;
  for (std::uint32_t i = 0; i < 128; ++i)
    words.push_back((2 * i) | (2 * i + 1) << 16);
  const auto half = [&](int matrix, int row, int column) {
    const std::uint64_t word = words[static_cast<std::size_t>(32 * matrix + 4 * row + column / 2)];
    return (word >> (16 * (column % 2))) & 0xffffU;
  };
  for (const int matrices : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      const std::string kind = "matrix.sync.aligned.m8n8.x" + std::to_string(matrices);
      const std::string body =
          ".shared .align 16 .b8 rows[512];\nmov.u32 %r5, %tid.x;\nshl.b32 %r5, %r5, 4;\n"
          "mov.u32 %r6, rows;\nadd.u32 %r5, %r5, %r6;\nst" +
          kind + (transposed ? ".trans" : "") + ".shared.b16 [%r5], " + list("%r", 0, matrices) +
          ";\nbar.warp.sync -1;\nld" + kind + ".shared::cta.b16 " + list("%d", 0, matrices) +
          ", [%r5];";
      const auto out = run_on_registers(body, 4, 4, words, false);
      for (int matrix = 0; matrix < matrices; ++matrix) {
        for (int lane = 0; lane < 32; ++lane) {
          const int row = lane / 4;
          const int column = 2 * (lane % 4);
          const std::uint64_t expected =
              transposed ? half(matrix, column, row) | half(matrix, column + 1, row) << 16
                         : half(matrix, row, column) | half(matrix, row, column + 1) << 16;
          EXPECT_EQ(out[static_cast<std::size_t>(32 * matrix + lane)], expected);
        }
      }
    }
  }
  const auto out =
      run_on_registers("movmatrix.sync.aligned.m8n8.trans.b16 %d0, %r0;", 1, 1, words, false);
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[static_cast<std::size_t>(lane)],
              half(0, 2 * (lane % 4), lane / 4) | half(0, 2 * (lane % 4) + 1, lane / 4) << 16);
}

// The race detector sees stmatrix: its rows, read by other threads without a barrier.
TEST(MatrixProductTest, StoredMatricesCanRace) {
  for (const bool waits : {false, true}) {
    const std::string body =
        std::string(
            ".shared .align 16 .b8 rows[512];\nmov.u32 %r5, %tid.x;\nshl.b32 %r5, %r5, 4;\n"
            "mov.u32 %r6, rows;\nadd.u32 %r5, %r5, %r6;\n"
            "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r5], {%r0, %r1, %r2, %r3};\n") +
        (waits ? "bar.warp.sync -1;\n" : "") + "xor.b32 %r5, %r5, 16;\nld.shared.b32 %d0, [%r5];";
    const Program program = load_or_die(register_kernel(body, 4, 1, false), "k");
    DeviceMemory memory;
    const auto in = make_buffer(memory, "in", std::vector<std::uint32_t>(128, 5));
    const auto out = make_buffer(memory, "out", std::vector<std::uint32_t>(32));
    RunOptions options;
    options.detect_races = true;
    const RunResult run =
        run_kernel(program, memory, {1, 1, 1}, {32, 1, 1}, Parameters().add(in).add(out), options);
    EXPECT_EQ(run.ok(), waits) << run.fault.message;
    EXPECT_EQ(run.fault.kind, waits ? FaultKind::none : FaultKind::data_race);
  }
}

// Columns of infinities beside columns of numbers.
TEST(MatrixProduct, InfiniteTermsAreSummedAsIeeeHasIt) {
  const FloatProducts products;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> a(static_cast<std::size_t>(products.rows * products.depth), 1.0F);
  std::vector<float> b(static_cast<std::size_t>(products.depth * products.columns), 2.0F);
  const auto column = [&](int k, int n) -> float& {
    return b[static_cast<std::size_t>(k * products.columns + n)];
  };
  for (int k = 0; k < products.depth; ++k) {
    column(k, 1) = kInfinity;
    column(k, 2) = -kInfinity;
    column(k, 3) = k % 2 == 0 ? kInfinity : -kInfinity;
  }
  std::vector<float> sums(static_cast<std::size_t>(products.rows * products.columns), 0.5F);
  add_float_products(products, a.data(), b.data(), sums.data());
  for (int row = 0; row < products.rows; ++row) {
    const float* found = sums.data() + row * products.columns;
    EXPECT_EQ(found[0], 0.5F + 2.0F * static_cast<float>(products.depth));
    EXPECT_EQ(found[1], kInfinity);
    EXPECT_EQ(found[2], -kInfinity);
    EXPECT_TRUE(std::isnan(found[3]));
  }
}

}  // namespace
}  // namespace regraph::ptx::matrix_product_test
