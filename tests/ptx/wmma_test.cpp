// wmma: matrices loaded, multiplied and stored, of all types, shapes and layouts.
#include "ptx/matrix_bits.h"

namespace regraph::ptx::wmma_test {
namespace {

struct Case {
  std::string type;  // of A and B
  std::string from;  // C
  std::string to;    // D
  int m;
  int n;
  int k;
  bool a_by_rows = true;
  bool b_by_rows = true;
  bool c_by_rows = true;
  bool shared = false;

  [[nodiscard]] std::string shape() const {
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  }
};

constexpr int kPadding = 16;  // elements between lines that belong to nobody

struct Matrix {
  std::string type;
  int rows;
  int columns;
  bool by_rows;
  std::vector<double> values;  // by rows

  [[nodiscard]] int stride() const { return (by_rows ? columns : rows) + kPadding; }
  [[nodiscard]] std::size_t place(int row, int column) const {
    return static_cast<std::size_t>(by_rows ? row * stride() + column : column * stride() + row);
  }
  [[nodiscard]] double at(int row, int column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  [[nodiscard]] std::vector<std::uint8_t> bytes() const {
    const auto width = static_cast<std::size_t>(bits_of_type(type) / 8);
    const int lines = by_rows ? rows : columns;
    std::vector<std::uint8_t> out(static_cast<std::size_t>(lines * stride()) * width, 0xff);
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const std::uint64_t bits = encode(type, at(row, column));
        std::memcpy(out.data() + place(row, column) * width, &bits, width);
      }
    }
    return out;
  }
};

// Small integers, or values far apart.
Matrix random_matrix(const std::string& type, int rows, int columns, bool by_rows,
                     std::uint64_t seed, bool integers) {
  Matrix matrix{type, rows, columns, by_rows, {}};
  for (int i = 0; i < rows * columns; ++i) {
    const std::uint64_t draw = random_bits(seed, static_cast<std::uint64_t>(i));
    matrix.values.push_back(integers ? random_value(type, draw, true)
                                     : decode(type, spread_bits(type, Spread::wide, draw)));
  }
  return matrix;
}

std::string list(const std::string& name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i > 0 ? ", " : "") + name + std::to_string(i);
  return text + "}";
}

int sum_count(const Case& c, const std::string& type) {
  return c.m * c.n / 32 / values_of_type(type);
}
int factor_count(const Case& c, int elements) {
  return c.type == "f16" ? 8 : elements / 32 / values_of_type(c.type);
}

std::string kernel_of(const Case& c, const Matrix& a, const Matrix& b, const Matrix& d) {
  const std::string word = c.type == "f64" ? "b64" : "b32";
  const auto layout = [](bool rows) { return std::string(rows ? "row" : "col"); };
  const auto load = [&](const std::string& name, const Matrix& m, int count,
                        const std::string& from) {
    return "  wmma.load." + name + ".sync.aligned." + layout(m.by_rows) + "." + c.shape() +
           (from == "%s" ? ".shared." : ".global.") + m.type + " " + list("%" + name, count) +
           ", [" + from + "], " + std::to_string(m.stride()) + ";\n";
  };
  std::string text =
      ".version 8.6\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)\n{\n"
      "  .shared .align 16 .b8 tile[8192];\n  .reg .pred %p;\n  .reg .b32 %s, %i, %t, %v;\n"
      "  .reg .b64 %ra, %rb, %rc, %rd, %at;\n  .reg ." +
      word +
      " %a<8>, %b<8>, %c<8>, %d<8>;\n"
      "  ld.param.u64 %ra, [pa];\n  ld.param.u64 %rb, [pb];\n  ld.param.u64 %rc, [pc];\n"
      "  ld.param.u64 %rd, [pd];\n  mov.u32 %s, tile;\n";
  if (c.shared) {  // A comes from there
    text +=
        "  mov.u32 %t, %tid.x;\n  shl.b32 %i, %t, 2;\n$copy:\n  cvt.u64.u32 %at, %i;\n"
        "  add.s64 %at, %ra, %at;\n  ld.global.b32 %v, [%at];\n  add.u32 %t, %s, %i;\n"
        "  st.shared.b32 [%t], %v;\n  add.u32 %i, %i, 128;\n  setp.lt.u32 %p, %i, " +
        std::to_string(a.bytes().size()) + ";\n  @%p bra $copy;\n  bar.warp.sync -1;\n";
  }
  text += load("a", a, factor_count(c, c.m * c.k), c.shared ? "%s" : "%ra") +
          load("b", b, factor_count(c, c.k * c.n), "%rb");
  Matrix sums = d;
  sums.type = c.from;
  text += load("c", sums, sum_count(c, c.from), "%rc");
  const std::string types =
      c.type == "f16" ? c.to + "." + c.from : c.to + "." + c.type + "." + c.type + "." + c.from;
  text += "  wmma.mma.sync.aligned." + layout(a.by_rows) + "." + layout(b.by_rows) + "." +
          c.shape() + "." + types + " " + list("%d", sum_count(c, c.to)) + ", " +
          list("%a", factor_count(c, c.m * c.k)) + ", " + list("%b", factor_count(c, c.k * c.n)) +
          ", " + list("%c", sum_count(c, c.from)) + ";\n  wmma.store.d.sync.aligned." +
          layout(d.by_rows) + "." + c.shape() + ".global." + c.to + " [%rd], " +
          list("%d", sum_count(c, c.to)) + ", " + std::to_string(d.stride()) + ";\n  ret;\n}\n";
  return text;
}

// D after a run; empty after a failure.
std::vector<std::uint8_t> run_product(const Case& c, const Matrix& a, const Matrix& b,
                                      const Matrix& from, const Matrix& d, bool races) {
  const Program program = load_or_die(kernel_of(c, a, b, d), "k");
  DeviceMemory memory;
  const auto da = make_buffer(memory, "a", a.bytes(), BufferAccess::read_only);
  const auto db = make_buffer(memory, "b", b.bytes(), BufferAccess::read_only);
  const auto dc = make_buffer(memory, "c", from.bytes(), BufferAccess::read_only);
  const auto dd = make_buffer(memory, "d", d.bytes());
  RunOptions options;
  options.detect_races = races;
  const RunResult run = run_kernel(program, memory, {1, 1, 1}, {32, 1, 1},
                                   Parameters().add(da).add(db).add(dc).add(dd), options);
  EXPECT_TRUE(run.ok()) << run.fault.message;
  return run.ok() ? read_buffer<std::uint8_t>(memory, dd) : std::vector<std::uint8_t>();
}

void expect_product(const Case& c) {
  SCOPED_TRACE(c.shape() + ' ' + c.to + ' ' + c.type + ' ' + c.from);
  const Matrix a = random_matrix(c.type, c.m, c.k, c.a_by_rows, 3, true);
  const Matrix b = random_matrix(c.type, c.k, c.n, c.b_by_rows, 4, true);
  const Matrix from = random_matrix(c.from, c.m, c.n, c.c_by_rows, 5, true);
  Matrix d = from;
  d.type = c.to;
  const Matrix before = d;
  for (int row = 0; row < c.m; ++row) {
    for (int column = 0; column < c.n; ++column) {
      double& sum = d.values[static_cast<std::size_t>(row * c.n + column)];
      sum = from.at(row, column);
      for (int k = 0; k < c.k; ++k)
        sum += a.at(row, k) * b.at(k, column);
    }
  }
  for (const bool races : {false, true})
    EXPECT_EQ(run_product(c, a, b, from, before, races), d.bytes());
}

TEST(WmmaTest, MultipliesAllTypesAndShapes) {
  for (const auto& [m, n] : {std::pair(16, 16), std::pair(32, 8), std::pair(8, 32)}) {
    for (const std::string from : {"f16", "f32"}) {
      for (const std::string to : {"f16", "f32"})
        expect_product({"f16", from, to, m, n, 16});
    }
    expect_product({"bf16", "f32", "f32", m, n, 16});
    expect_product({"s8", "s32", "s32", m, n, 16});
    expect_product({"u8", "s32", "s32", m, n, 16});
  }
  expect_product({"tf32", "f32", "f32", 16, 16, 8});
  expect_product({"f64", "f64", "f64", 8, 8, 4});
}

// What comes out is a GPU's to say: see second_machine.h.
TEST(WmmaTest, MultipliesValuesFarApart) {
  for (const Case& c :
       {Case{"f16", "f32", "f32", 16, 16, 16}, Case{"f16", "f16", "f16", 16, 16, 16},
        Case{"f16", "f32", "f16", 32, 8, 16}, Case{"f16", "f16", "f32", 8, 32, 16},
        Case{"bf16", "f32", "f32", 16, 16, 16}, Case{"bf16", "f32", "f32", 32, 8, 16},
        Case{"tf32", "f32", "f32", 16, 16, 8}, Case{"f64", "f64", "f64", 8, 8, 4}}) {
    SCOPED_TRACE(c.shape() + ' ' + c.to + ' ' + c.type + ' ' + c.from);
    const Matrix a = random_matrix(c.type, c.m, c.k, true, 3, false);
    const Matrix b = random_matrix(c.type, c.k, c.n, true, 4, false);
    const Matrix from = random_matrix(c.from, c.m, c.n, true, 5, false);
    Matrix d = from;
    d.type = c.to;
    const auto out = run_product(c, a, b, from, d, false);
    ASSERT_FALSE(out.empty());
    if (c.type != "tf32") continue;
    // Of an H200, which adds four terms at a time here: all eight at once differ in these.
    const auto word = [&](std::size_t index) {
      std::uint32_t value = 0;
      std::memcpy(&value, out.data() + 4 * index, sizeof(value));
      return value;
    };
    EXPECT_EQ(word(2), 0xc977c1f8U);
    EXPECT_EQ(word(10), 0xc52260deU);
    EXPECT_EQ(word(33), 0xc49888b7U);
    EXPECT_EQ(word(73), 0xc380d2cbU);
  }
}

TEST(WmmaTest, ReadsAllLayouts) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      for (const bool c : {false, true}) {
        expect_product({"f16", "f32", "f32", 16, 16, 16, a, b, c, true});
        expect_product({"s8", "s32", "s32", 32, 8, 16, a, b, c, false});
        expect_product({"tf32", "f32", "f32", 16, 16, 8, a, b, c, true});
        expect_product({"f64", "f64", "f64", 8, 8, 4, a, b, c, false});
      }
    }
  }
}

TEST(WmmaTest, SaysWhatItCannotDo) {
  for (const char* text :
       {"wmma.load.a.sync.aligned.row.m8n8k32.s4 {%r0}, [%rd];",
        "wmma.load.c.sync.aligned.col.m16n16k16.f16 {%r0, %r1, %r2, %r3}, [%rd];",
        "wmma.load.a.sync.aligned.row.m16n16k16.e4m3 {%r0, %r1}, [%rd];",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f64 {%r0}, {%r0}, {%r0}, {%r0};"}) {
    const auto program = Program::load(std::string(".visible .entry k()\n{\n.reg .b32 %r<8>;\n"
                                                   ".reg .b64 %rd;\n") +
                                           text + "\nret;\n}\n",
                                       "k");
    ASSERT_FALSE(program.ok()) << text;
    EXPECT_EQ(program.error().code, ErrorCode::unsupported) << program.error().message;
  }
}

}  // namespace
}  // namespace regraph::ptx::wmma_test
