// Tensor cores: fragments of mma.sync and ldmatrix against plain products, element by element.
#include "ptx/ptx_test_support.h"

#include <array>
#include <bit>
#include <cmath>

namespace regraph::ptx::matrix_test {
namespace {

using Words = std::vector<std::uint32_t>;

// Lane l loads word r * 32 + l for each of its registers, runs `body`, and stores %d0 .. %d3.
std::string fragment_kernel(const std::string& body, int registers) {
  std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %r<16>, %d<4>, %t;
  .reg .b64 %in, %out, %at;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %at, %t, 4;
  add.s64 %in, %in, %at;
  add.s64 %out, %out, %at;
  mov.b32 %d0, 0;
  mov.b32 %d1, 0;
  mov.b32 %d2, 0;
  mov.b32 %d3, 0;
)";
  for (int r = 0; r < registers; ++r) {
    text += "  ld.global.b32 %r" + std::to_string(r) + ", [%in+" + std::to_string(128 * r) + "];\n";
  }
  text += body + "\n";
  for (int r = 0; r < 4; ++r) {
    text +=
        "  st.global.b32 [%out+" + std::to_string(128 * r) + "], %d" + std::to_string(r) + ";\n";
  }
  return text + "  ret;\n}\n";
}

RunResult run_fragments(const std::string& body, int registers, const Words& in, Words* out,
                        std::uint32_t threads = 32) {
  const Program program = load_or_die(fragment_kernel(body, registers), "k");
  DeviceMemory memory;
  const auto d_in = make_buffer(memory, "in", in, BufferAccess::read_only);
  const auto d_out = make_buffer(memory, "out", Words(128));
  const RunResult run =
      run_kernel(program, memory, {1, 1, 1}, {threads, 1, 1}, Parameters().add(d_in).add(d_out));
  *out = read_buffer<std::uint32_t>(memory, d_out);
  return run;
}

// Sixteen bits of the two formats for a small integer, which both hold exactly.
std::uint32_t half_bits(float value, bool brain) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (brain) return bits >> 16;
  if (value == 0.0f) return bits >> 16;
  return (bits >> 16 & 0x8000U) | (((bits >> 23 & 0xffU) - 112U) << 10) | (bits >> 13 & 0x3ffU);
}

// A of 16 x depth, B of depth x 8 and C of 16 x 8, small integers, and where they belong: the PTX
// ISA's figures of the fragments of m16n8k{4,8} (32 bits) and m16n8k{8,16} (16 bits).
struct Product {
  int depth;
  int values;  // of a register
  bool brain;

  [[nodiscard]] static float a(int row, int k) {
    return static_cast<float>((row * 7 + k * 5) % 11 - 5);
  }
  [[nodiscard]] static float b(int k, int column) {
    return static_cast<float>((column * 3 + k * 2) % 7 - 3);
  }
  [[nodiscard]] static float c(int row, int column) { return static_cast<float>(row * 8 + column); }
  [[nodiscard]] std::uint32_t word(float first, float second) const {
    if (values == 1) return std::bit_cast<std::uint32_t>(first);
    return half_bits(first, brain) | half_bits(second, brain) << 16;
  }
  [[nodiscard]] int steps() const { return depth / (4 * values); }

  [[nodiscard]] Words fragments() const {
    Words words;
    for (int r = 0; r < 2 * steps(); ++r) {
      for (int l = 0; l < 32; ++l) {
        const int row = l / 4 + (r % 2 == 1 ? 8 : 0);
        const int k = values * (l % 4) + (r >= 2 ? 4 * values : 0);
        words.push_back(word(a(row, k), values == 2 ? a(row, k + 1) : 0.0f));
      }
    }
    for (int r = 0; r < steps(); ++r) {
      for (int l = 0; l < 32; ++l) {
        const int k = values * (l % 4) + 4 * values * r;
        words.push_back(word(b(k, l / 4), values == 2 ? b(k + 1, l / 4) : 0.0f));
      }
    }
    for (int r = 0; r < 4; ++r) {
      for (int l = 0; l < 32; ++l)
        words.push_back(std::bit_cast<std::uint32_t>(c(l / 4 + 8 * (r / 2), 2 * (l % 4) + r % 2)));
    }
    return words;
  }

  [[nodiscard]] std::string instruction(const std::string& shape, const std::string& type) const {
    int next = 0;
    const auto list = [&](int count) {
      std::string text = "{";
      for (int i = 0; i < count; ++i)
        text += (i > 0 ? ", %r" : "%r") + std::to_string(next++);
      return text + "}";
    };
    std::string text = "mma.sync.aligned." + shape + ".row.col.f32." + type + "." + type +
                       ".f32 {%d0, %d1, %d2, %d3}, ";
    text += list(2 * steps()) + ", ";
    text += (steps() == 1 ? "{%r" + std::to_string(next++) + "}" : list(2)) + ", ";
    return text + list(4) + ";";
  }

  void expect_product(const std::string& shape, const std::string& type) const {
    SCOPED_TRACE(shape + ' ' + type);
    Words out;
    const RunResult run =
        run_fragments(instruction(shape, type), 3 * steps() + 4, fragments(), &out);
    ASSERT_TRUE(run.ok()) << run.fault.message;
    for (int r = 0; r < 4; ++r) {
      for (int l = 0; l < 32; ++l) {
        const int row = l / 4 + 8 * (r / 2);
        const int column = 2 * (l % 4) + r % 2;
        float sum = c(row, column);
        for (int k = 0; k < depth; ++k)
          sum += a(row, k) * b(k, column);
        EXPECT_EQ(std::bit_cast<float>(out[static_cast<std::size_t>(32 * r + l)]), sum)
            << row << ", " << column;
      }
    }
  }
};

TEST(MatrixTest, MultipliesFragments) {
  Product{8, 1, false}.expect_product("m16n8k8", "tf32");
  Product{4, 1, false}.expect_product("m16n8k4", "tf32");
  Product{16, 2, false}.expect_product("m16n8k16", "f16");
  Product{8, 2, false}.expect_product("m16n8k8", "f16");
  Product{16, 2, true}.expect_product("m16n8k16", "bf16");
}

TEST(MatrixTest, ReadsTheUpperBitsOfTf32) {
  const Product product{8, 1, false};
  Words in = product.fragments();
  for (std::size_t i = 0; i < 192; ++i)
    in[i] |= 0x1fffU;
  Words out;
  Words plain;
  const std::string code = product.instruction("m16n8k8", "tf32");
  ASSERT_TRUE(run_fragments(code, 10, in, &out).ok());
  ASSERT_TRUE(run_fragments(code, 10, product.fragments(), &plain).ok());
  EXPECT_EQ(out, plain);
}

TEST(MatrixTest, NeedsAllLanes) {
  const Product product{8, 1, false};
  Words out;
  const std::string code = product.instruction("m16n8k8", "tf32");
  const RunResult half =
      run_fragments("setp.lt.u32 %p, %t, 16;\n@!%p bra $done;\n" + code + "\n$done:", 10,
                    product.fragments(), &out);
  ASSERT_FALSE(half.ok());
  EXPECT_NE(half.fault.message.find("16 of 32 lanes"), std::string::npos) << half.fault.message;
  EXPECT_FALSE(run_fragments(code, 10, product.fragments(), &out, 24).ok());
}

// Matrices of 8 rows of 8 halves each, which say where they are from.
TEST(MatrixTest, LoadsMatricesByRows) {
  for (const int matrices : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      const auto value = [](int matrix, int row, int column) {
        return static_cast<std::uint32_t>(matrix * 64 + row * 8 + column);
      };
      // Lane l stores row l of 32, which is row l % 8 of matrix l / 8.
      Words in;
      for (int word = 0; word < 4; ++word) {
        for (int l = 0; l < 32; ++l) {
          in.push_back(value(l / 8, l % 8, 2 * word) | value(l / 8, l % 8, 2 * word + 1) << 16);
        }
      }
      std::string list = "{%d0";
      for (int i = 1; i < matrices; ++i)
        list += ", %d" + std::to_string(i);
      Words out;
      const RunResult run = run_fragments(
          ".shared .align 16 .b8 rows[512];\nshl.b32 %r8, %t, 4;\nmov.u32 %r9, rows;\n"
          "add.u32 %r8, %r8, %r9;\nst.shared.v4.b32 [%r8], {%r0, %r1, %r2, %r3};\n"
          "bar.warp.sync -1;\nldmatrix.sync.aligned.m8n8.x" +
              std::to_string(matrices) + (transposed ? ".trans" : "") + ".shared.b16 " + list +
              "}, [%r8];",
          4, in, &out);
      ASSERT_TRUE(run.ok()) << run.fault.message;
      for (int i = 0; i < matrices; ++i) {
        for (int l = 0; l < 32; ++l) {
          const int line = l / 4;
          const int place = 2 * (l % 4);
          const std::uint32_t expected =
              transposed ? value(i, place, line) | value(i, place + 1, line) << 16
                         : value(i, line, place) | value(i, line, place + 1) << 16;
          EXPECT_EQ(out[static_cast<std::size_t>(32 * i + l)], expected) << i << ' ' << l;
        }
      }
    }
  }
}

// Thread t copies a word, and reads what its neighbour copied.
Words copied(const std::string& wait, bool* ran) {
  const std::string body =
      ".shared .align 4 .b8 tile[128];\nmov.u32 %r9, tile;\nshl.b32 %r8, %t, 2;\n"
      "add.u32 %r8, %r8, %r9;\nst.shared.b32 [%r8], %r1;\nbar.warp.sync -1;\n"
      "cp.async.ca.shared.global [%r8], [%in], 4;\ncp.async.commit_group;\n" +
      wait +
      "\nbar.warp.sync -1;\nxor.b32 %r7, %t, 1;\nshl.b32 %r7, %r7, 2;\nadd.u32 %r7, %r7, %r9;\n"
      "ld.shared.b32 %d0, [%r7];";
  Words in(64, 7);
  for (std::uint32_t i = 0; i < 32; ++i)
    in[i] = 100 + i;
  Words out;
  *ran = run_fragments(body, 2, in, &out).ok();
  return out;
}

TEST(MatrixTest, CopiesArriveWhenTheThreadWaits) {
  bool ran = false;
  for (const char* wait : {"cp.async.wait_group 0;", "cp.async.wait_all;",
                           "cp.async.commit_group;\ncp.async.wait_group 1;"}) {
    const Words out = copied(wait, &ran);
    ASSERT_TRUE(ran) << wait;
    for (std::uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], 100 + (i ^ 1U)) << wait;
  }
  // One group may be under way, and there is but one; or nobody waits.
  for (const char* late : {"cp.async.wait_group 1;", ""}) {
    const Words out = copied(late, &ran);
    if (!ran) continue;
    for (std::uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], 7U) << late;
  }
}

}  // namespace
}  // namespace regraph::ptx::matrix_test
