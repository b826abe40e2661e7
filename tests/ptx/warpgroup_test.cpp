// wgmma against plain products: all types, widths, swizzles, factors from registers and from
// memory.
#include "ptx/matrix_test_support.h"

namespace regraph::ptx {
namespace {

// Where an element of a matrix of `lines` (rows of A, columns of B) by `depth` lies, in bytes, as
// the PTX ISA's canonical layouts say: tiles of 8 lines by 16 bytes, or of 16 bytes of lines by 8
// of depth when transposed, as many of them side by side as the swizzle is wide.
struct Layout {
  int lines;
  int depth;
  int bytes;    // of an element
  int swizzle;  // bytes: 0, 32, 64, 128
  bool transposed;

  [[nodiscard]] int width() const { return swizzle == 0 ? 16 : swizzle; }  // bytes side by side
  [[nodiscard]] int size() const {
    return transposed ? size_transposed() : lines * width() * (swizzle == 0 ? 2 : 1);
  }
  [[nodiscard]] int size_transposed() const {
    const int per_row = width() / bytes;
    return (lines + per_row - 1) / per_row * depth * width();
  }
  // Byte offsets of the descriptor.
  [[nodiscard]] int leading() const {
    if (!transposed) return swizzle == 0 ? lines * 16 : 16;
    return swizzle == 0 ? lines / 8 * 128 : depth * width();
  }
  [[nodiscard]] int stride() const { return swizzle == 0 ? 128 : 8 * width(); }

  [[nodiscard]] int offset(int line, int k) const {
    int at = 0;
    if (!transposed) {
      const int byte = k * bytes;
      at = line / 8 * stride() + line % 8 * width() +
           (swizzle == 0 ? byte / 16 * leading() + byte % 16 : byte);
    } else if (swizzle == 0) {
      at = line / 8 * stride() + k / 8 * leading() + k % 8 * 16 + line % 8 * bytes;
    } else {
      const int per_row = width() / bytes;
      at = line / per_row * leading() + k / 8 * stride() + k % 8 * width() + line % per_row * bytes;
    }
    const int mask = swizzle == 0 ? 0 : swizzle / 16 - 1;
    return at ^ (((at >> 7) & mask) << 4);
  }
  [[nodiscard]] std::uint64_t descriptor_bits() const {
    const std::uint64_t mode = swizzle == 0 ? 0 : swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
    return mode << 62 | static_cast<std::uint64_t>(stride() / 16) << 32 |
           static_cast<std::uint64_t>(leading() / 16) << 16;
  }
};

struct Case {
  std::string a = "f16";
  std::string b = "f16";
  std::string sum = "f32";
  int columns = 64;
  int swizzle_a = 128;
  int swizzle_b = 128;
  bool a_in_registers = false;
  bool a_transposed = false;
  bool b_transposed = false;
  bool adds = true;
  int scale_a = 1;
  int scale_b = 1;

  [[nodiscard]] int depth() const { return 256 / bits_of_type(a); }
  [[nodiscard]] std::string text() const {
    return "m64n" + std::to_string(columns) + "k" + std::to_string(depth()) + '.' + sum + '.' + a +
           '.' + b + " swizzles " + std::to_string(swizzle_a) + ' ' + std::to_string(swizzle_b) +
           (a_in_registers ? " registers" : "") + (a_transposed ? " A transposed" : "") +
           (b_transposed ? " B transposed" : "");
  }
};

// The kernel: 128 threads copy `bytes` bytes of `in` to shared memory, load their registers from
// `registers` (a word of 128 lanes after another: sums, then four of A), multiply, and store sums.
std::string kernel_of(const Case& c, int bytes, int b_at, const Layout& a, const Layout& b,
                      const std::string& wait) {
  const int words = c.columns / 2 / values_of_type(c.sum);
  const auto list = [](const std::string& name, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i)
      text += (i > 0 ? ", " : "") + name + std::to_string(i);
    return text + "}";
  };
  std::string text =
      ".version 8.7\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 tile[];\n"
      ".visible .entry k(.param .u64 in, .param .u64 registers)\n{\n  .reg .pred %p, %q;\n"
      "  .reg .b32 %t, %i, %v, %s, %a<4>, %d<128>;\n"
      "  .reg .b64 %in, %regs, %at, %da, %db;\n"
      "  ld.param.u64 %in, [in];\n  ld.param.u64 %regs, [registers];\n  mov.u32 %t, %tid.x;\n"
      "  mov.u32 %s, tile;\n  shl.b32 %i, %t, 2;\n"
      "$copy:\n  cvt.u64.u32 %at, %i;\n  add.s64 %at, %in, %at;\n  ld.global.b32 %v, [%at];\n"
      "  add.u32 %v, %v, 0;\n  add.u32 %s, %s, 0;\n  mov.u32 %a0, tile;\n  add.u32 %a0, %a0, %i;\n"
      "  st.shared.b32 [%a0], %v;\n  add.u32 %i, %i, 512;\n  setp.lt.u32 %p, %i, " +
      std::to_string(bytes) +
      ";\n  @%p bra $copy;\n  mul.wide.u32 %at, %t, 4;\n  add.s64 %regs, %regs, %at;\n";
  for (int i = 0; i < words; ++i)
    text +=
        "  ld.global.b32 %d" + std::to_string(i) + ", [%regs+" + std::to_string(512 * i) + "];\n";
  for (int i = 0; i < 4; ++i)
    text += "  ld.global.b32 %a" + std::to_string(i) + ", [%regs+" +
            std::to_string(512 * (words + i)) + "];\n";
  // The address in units of 16 bytes: shared memory begins at 1024.
  text += "  bar.sync 0;\n  cvt.u64.u32 %at, %s;\n  shr.u64 %at, %at, 4;\n  add.u64 %da, %at, " +
          std::to_string(a.descriptor_bits()) + ";\n  add.u64 %db, %at, " +
          std::to_string(b.descriptor_bits() + static_cast<std::uint64_t>(b_at / 16)) +
          ";\n  setp.ne.u32 %p, " + (c.adds ? "1" : "0") + ", 0;\n" +
          "  fence.proxy.async;\n  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned.m64n" +
          std::to_string(c.columns) + "k" + std::to_string(c.depth()) + "." + c.sum + "." + c.a +
          "." + c.b + " " + list("%d", words) + ", " + (c.a_in_registers ? list("%a", 4) : "%da") +
          ", %db, %p";
  if (c.sum != "s32") text += ", " + std::to_string(c.scale_a) + ", " + std::to_string(c.scale_b);
  if (bits_of_type(c.a) == 16) {
    if (!c.a_in_registers) text += c.a_transposed ? ", 1" : ", 0";
    text += c.b_transposed ? ", 1" : ", 0";
  }
  text += ";\n  wgmma.commit_group.sync.aligned;\n" + wait;
  for (int i = 0; i < words; ++i)
    text +=
        "  st.global.b32 [%regs+" + std::to_string(512 * i) + "], %d" + std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

constexpr const char* kWait = "  wgmma.wait_group.sync.aligned 0;\n";

struct Inputs {
  std::vector<double> a;  // 64 x depth
  std::vector<double> b;  // depth x columns
  std::vector<double> c;  // 64 x columns
};

std::vector<double> values_of(std::size_t count, const std::string& type, std::uint64_t seed) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = random_value(type, random_bits(seed, i), true);
  return values;
}

RunResult multiply(const Case& c, const Inputs& in, std::vector<double>* sums,
                   const std::string& wait = kWait, const RunOptions& options = {}) {
  const int bytes_a = bits_of_type(c.a) / 8;
  const Layout a{64, c.depth(), bytes_a, c.swizzle_a, c.a_transposed};
  const Layout b{c.columns, c.depth(), bits_of_type(c.b) / 8, c.swizzle_b, c.b_transposed};
  const int b_at = (a.size() + 1023) / 1024 * 1024;
  const int bytes = (b_at + b.size() + 511) / 512 * 512;
  std::vector<std::uint8_t> memory_bytes(static_cast<std::size_t>(bytes), 0xcc);
  const auto place = [&](const std::string& type, int at, double value) {
    const std::uint64_t bits = encode(type, value);
    std::memcpy(memory_bytes.data() + at, &bits, static_cast<std::size_t>(bits_of_type(type) / 8));
  };
  const auto depth = static_cast<std::size_t>(c.depth());
  const auto columns = static_cast<std::size_t>(c.columns);
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t row = 0; row < 64; ++row)
      place(c.a, a.offset(static_cast<int>(row), static_cast<int>(k)), in.a[row * depth + k]);
    for (std::size_t column = 0; column < columns; ++column)
      place(c.b, b_at + b.offset(static_cast<int>(column), static_cast<int>(k)),
            in.b[k * columns + column]);
  }
  const int per_word = values_of_type(c.sum);
  const std::size_t words = columns / 2 / static_cast<std::size_t>(per_word);
  std::vector<std::uint32_t> registers((words + 4) * 128);
  const auto element = [&](std::size_t thread, std::size_t i) {
    const std::size_t row = thread / 32 * 16 + thread % 32 / 4 + (i / 2 % 2) * 8;
    return row * columns + i / 4 * 8 + thread % 4 * 2 + i % 2;
  };
  const auto a_values = static_cast<std::size_t>(values_of_type(c.a));
  for (std::size_t thread = 0; thread < 128; ++thread) {
    for (std::size_t i = 0; i < columns / 2; ++i) {
      registers[i / static_cast<std::size_t>(per_word) * 128 + thread] |=
          static_cast<std::uint32_t>(encode(c.sum, in.c[element(thread, i)])
                                     << (i % static_cast<std::size_t>(per_word) * 16));
    }
    for (std::size_t i = 0; i < 4 * a_values; ++i) {
      const std::size_t word = i / a_values;
      const std::size_t row = thread / 32 * 16 + thread % 32 / 4 + word % 2 * 8;
      const std::size_t k = (thread % 4 + word / 2 * 4) * a_values + i % a_values;
      registers[(words + word) * 128 + thread] |= static_cast<std::uint32_t>(
          encode(c.a, in.a[row * depth + k])
          << (i % a_values * static_cast<std::size_t>(bits_of_type(c.a))));
    }
  }
  const Program program = load_or_die(kernel_of(c, bytes, b_at, a, b, wait), "k");
  DeviceMemory memory;
  const auto d_in = make_buffer(memory, "in", memory_bytes, BufferAccess::read_only);
  const auto d_registers = make_buffer(memory, "registers", registers);
  const RunResult run =
      run_kernel(program, memory, {1, 1, 1}, {128, 1, 1}, Parameters().add(d_in).add(d_registers),
                 options, static_cast<std::uint32_t>(bytes));
  const auto out = read_buffer<std::uint32_t>(memory, d_registers);
  sums->assign(64 * columns, 0);
  for (std::size_t thread = 0; thread < 128; ++thread) {
    for (std::size_t i = 0; i < columns / 2; ++i) {
      const std::uint32_t word = out[i / static_cast<std::size_t>(per_word) * 128 + thread];
      (*sums)[element(thread, i)] =
          decode(c.sum, per_word == 1 ? word : (word >> (i % 2 * 16)) & 0xffffU);
    }
  }
  return run;
}

Inputs inputs_of(const Case& c, std::uint64_t seed) {
  const auto depth = static_cast<std::size_t>(c.depth());
  const auto columns = static_cast<std::size_t>(c.columns);
  return {values_of(64 * depth, c.a, seed), values_of(depth * columns, c.b, seed + 1),
          values_of(64 * columns, c.sum, seed + 2)};
}

void expect_product(const Case& c) {
  SCOPED_TRACE(c.text());
  const Inputs in = inputs_of(c, 40);
  std::vector<double> sums;
  RunOptions options;
  options.detect_races = true;
  const RunResult run = multiply(c, in, &sums, kWait, options);
  ASSERT_TRUE(run.ok()) << run.fault.message;
  const auto depth = static_cast<std::size_t>(c.depth());
  const auto columns = static_cast<std::size_t>(c.columns);
  std::vector<double> expected(sums.size());
  for (std::size_t row = 0; row < 64; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      double sum = c.adds ? in.c[row * columns + column] : 0.0;
      for (std::size_t k = 0; k < depth; ++k)
        sum += c.scale_a * in.a[row * depth + k] * c.scale_b * in.b[k * columns + column];
      expected[row * columns + column] = sum;
    }
  }
  EXPECT_EQ(sums, expected);
}

TEST(WarpgroupTest, MultipliesAllTypes) {
  for (const std::string sum : {"f32", "f16"}) {
    expect_product({.sum = sum});
    for (const std::string a : {"e4m3", "e5m2"}) {
      for (const std::string b : {"e4m3", "e5m2"})
        expect_product({.a = a, .b = b, .sum = sum, .swizzle_a = 32});
    }
  }
  expect_product({.a = "bf16", .b = "bf16"});
  expect_product({.a = "tf32", .b = "tf32", .swizzle_b = 0});
  for (const std::string a : {"s8", "u8"}) {
    for (const std::string b : {"s8", "u8"})
      expect_product({.a = a, .b = b, .sum = "s32"});
  }
}

TEST(WarpgroupTest, ReadsAllLayouts) {
  for (const int swizzle : {0, 32, 64, 128}) {
    for (const bool transposed : {false, true}) {
      for (const int columns : {8, 64, 136, 256}) {
        expect_product({.columns = columns, .swizzle_b = swizzle, .b_transposed = transposed});
      }
      expect_product({.swizzle_a = swizzle, .a_transposed = transposed});
    }
    expect_product({.a = "tf32", .b = "tf32", .swizzle_a = swizzle, .swizzle_b = swizzle});
    expect_product(
        {.a = "s8", .b = "s8", .sum = "s32", .swizzle_a = swizzle, .swizzle_b = swizzle});
  }
}

TEST(WarpgroupTest, TakesFactorsFromRegisters) {
  for (const std::string type : {"f16", "bf16", "tf32", "e4m3", "s8"}) {
    const std::string sum = type == "s8" ? "s32" : "f32";
    expect_product({.a = type, .b = type, .sum = sum, .columns = 24, .a_in_registers = true});
  }
  expect_product({.a_in_registers = true, .b_transposed = true});
}

TEST(WarpgroupTest, ScalesAndNegates) {
  expect_product({.adds = false});
  expect_product({.scale_a = -1});
  expect_product({.sum = "f16", .a_in_registers = true, .scale_b = -1});
}

// Factors that are overwritten before anybody waited; the barrier does not help.
TEST(WarpgroupTest, FactorsCanRace) {
  const Case c;
  std::vector<double> sums;
  RunOptions options;
  options.detect_races = true;
  const std::string one = "  setp.eq.u32 %q, %t, 0;\n  @!%q bra $end;\n";
  const auto run = [&](const std::string& wait) {
    return multiply(c, inputs_of(c, 1), &sums,
                    wait + "  bar.sync 0;\n" + one + "  st.shared.b32 [%s], %s;\n$end:\n", options);
  };
  EXPECT_TRUE(run(kWait).ok());
  const RunResult racing = run("");
  EXPECT_EQ(racing.fault.kind, FaultKind::data_race);
  EXPECT_NE(racing.fault.message.find("nothing waited"), std::string::npos) << racing.fault.message;
  EXPECT_EQ(run("  wgmma.wait_group.sync.aligned 1;\n").fault.kind, FaultKind::data_race);
}

TEST(WarpgroupTest, SaysWhatItCannotDo) {
  const auto refused = [](const std::string& mnemonic) {
    const std::string text =
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n  .reg .b64 %a;\n"
        "  .reg .b32 %d<4>;\n  .reg .pred %p;\n" +
        mnemonic + " {%d0, %d1, %d2, %d3}, %a, %a, %p, 1, 1, 0, 0;\n  ret;\n}\n";
    const auto program = Program::load(text, "k");
    ASSERT_FALSE(program.ok()) << mnemonic;
    EXPECT_EQ(program.error().code, ErrorCode::unsupported) << program.error().message;
  };
  refused("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16");
  refused("wgmma.mma_async.sync.aligned.m64n264k16.f32.f16.f16");
  refused("wgmma.mma_async.sync.aligned.m64n8k32.f32.f16.f16");
  refused("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16");
  refused("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16");
  refused("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc");
}

TEST(WarpgroupTest, NeedsFourWarpsAndMemory) {
  const std::string head =
      ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n  .reg .b64 %a;\n"
      "  .reg .b32 %d<4>;\n  .reg .pred %p;\n  setp.eq.u32 %p, 0, 0;\n  mov.u64 %a, ";
  const std::string tail =
      ";\n  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a, %a, %p, 1, "
      "1, 0, 0;\n  ret;\n}\n";
  const auto run = [&](std::uint32_t threads, const std::string& descriptor) {
    DeviceMemory memory;
    return run_kernel(load_or_die(head + descriptor + tail, "k"), memory, {1, 1, 1},
                      {threads, 1, 1}, Parameters(), {}, 1024);
  };
  EXPECT_EQ(run(64, "64").fault.kind, FaultKind::barrier_divergence);
  EXPECT_EQ(run(128, "0").fault.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(run(128, "562949953421376").fault.kind, FaultKind::unsupported);  // 1 << 49
}

}  // namespace
}  // namespace regraph::ptx
