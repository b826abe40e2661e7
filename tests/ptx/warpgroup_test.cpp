// wgmma against plain products: all types, widths, swizzles, factors from registers and from
// memory.
#include "ptx/warpgroup_kernel.h"

namespace regraph::ptx::warpgroup_test {
namespace {

using Case = WarpgroupCase;

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
  const MatrixLayout a{64, c.depth(), bytes_a, c.swizzle_a, c.a_transposed};
  const MatrixLayout b{c.columns, c.depth(), bits_of_type(c.b) / 8, c.swizzle_b, c.b_transposed};
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
  const Program program = load_or_die(warpgroup_kernel(c, bytes, b_at, a, b, wait), "k");
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
}  // namespace regraph::ptx::warpgroup_test
