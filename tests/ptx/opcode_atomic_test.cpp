// Every atomic on every type, in global and shared memory: 32 lanes on one word, one after another.
#include "ptx/opcode_check.h"

#include <algorithm>
#include <cmath>

namespace regraph::ptx::opcode_atomic_test {
namespace {

// Runs `operation` by 20 lanes on one zero-padded 8-byte cell that starts with `initial`; the
// operand is lane + 1 (or what `prepare` makes of it in %a, %a32, %a16). Returns the cell, with the
// old values that the lanes saw in `seen`.
U run_atomic(const std::string& operation, bool shared, U initial, const std::string& prepare,
             std::vector<U>* seen) {
  const std::string space = shared ? "shared" : "global";
  std::string line = operation;
  line.replace(line.find("SPACE"), 5, space);
  const std::string ptx =
      R"(.version 8.1
.target sm_90
.address_size 64
.shared .align 8 .b8 cell[8];
.visible .entry k(.param .u64 global_cell, .param .u64 out)
{
  .reg .pred %p;
  .reg .b16 %a16, %d16;
  .reg .b32 %a32, %b32, %d32, %t;
  .reg .f32 %f<4>;
  .reg .b64 %a, %b, %d, %at, %out, %from, %y<3>;
  ld.param.u64 %from, [global_cell];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  add.u32 %a32, %t, 1;
  cvt.u64.u32 %a, %a32;
  cvt.u16.u32 %a16, %a32;
  mov.b64 %d, 0; mov.b32 %d32, 0; mov.b16 %d16, 0;
  mov.u64 %at, )" +
      std::string(shared ? "cell" : "%from") +
      ";\n  setp.ne.u32 %p, %t, 0;\n  @%p bra READY;\n  ld.global.u64 %y0, [%from];\n"
      "  st.shared.u64 [cell], %y0;\nREADY:\n  bar.warp.sync -1;\n" +
      prepare + "\n" + line + R"(
  cvt.u64.u32 %b, %d32; or.b64 %d, %d, %b; cvt.u64.u16 %b, %d16; or.b64 %d, %d, %b;
  mul.wide.u32 %y1, %t, 8;
  add.s64 %out, %out, %y1;
  st.global.u64 [%out], %d;
  bar.warp.sync -1;
  ld.)" +
      space + R"(.u64 %y0, [%at];
  st.global.u64 [%from], %y0;
  ret;
})";
  const Program program = load_or_die(ptx, "k");
  U result = 0;
  for (const HandlerSet handlers : kAllHandlers) {
    DeviceMemory memory;
    const auto cell = make_buffer(memory, "cell", std::vector<U>{initial});
    const auto out = make_buffer(memory, "out", std::vector<U>(20));
    RunOptions options;
    options.handlers = handlers;
    const RunResult run = run_kernel(program, memory, {1, 1, 1}, {20, 1, 1},
                                     Parameters().add(cell).add(out), options);
    EXPECT_TRUE(run.ok()) << run.fault.message << ptx;
    result = read_buffer<U>(memory, cell)[0];
    *seen = read_buffer<U>(memory, out);
  }
  return result;
}

// `step` gives the next value of the cell from the old one and the lane's operand.
void check_atomic(const std::string& name, const std::string& type, int width, U initial,
                  const std::string& prepare, const std::function<U(U, U)>& step) {
  const std::string reg = width == 64 ? "%a" : width == 32 ? "%a32" : "%a16";
  const std::string to = width == 64 ? "%d" : width == 32 ? "%d32" : "%d16";
  const U mask = width == 64 ? ~U{0} : (U{1} << width) - 1;
  for (const bool shared : {false, true}) {
    for (const bool returns : {true, false}) {
      const std::string line =
          returns ? "atom.SPACE." + name + "." + type + " " + to + ", [%at], " + reg + ";"
                  : "red.SPACE." + name + "." + type + " [%at], " + reg + ";";
      if (!returns && name == "exch") continue;
      std::vector<U> seen;
      const U end = run_atomic(line, shared, initial, prepare, &seen);
      U cell = initial;
      for (U lane = 0; lane < 20; ++lane) {
        ASSERT_EQ(seen[lane], returns ? cell & mask : 0) << line << " lane " << lane;
        cell = (cell & ~mask) | (step(cell & mask, lane + 1) & mask);
      }
      ASSERT_EQ(end, cell) << line;
    }
  }
}

TEST(OpcodeAtomicTest, Integers) {
  for (const auto& [type, width] : {std::pair{"u32", 32}, {"u64", 64}}) {
    const U start = 0x1234500000000011ULL;
    check_atomic("add", type, width, start, "", [](U a, U b) { return a + b; });
    check_atomic("min", type, width, start, "", [](U a, U b) { return std::min(a, b); });
    check_atomic("max", type, width, 7, "", [](U a, U b) { return std::max(a, b); });
  }
  for (const auto& [type, width] : {std::pair{"b32", 32}, {"b64", 64}}) {
    check_atomic("and", type, width, ~U{0}, "or.b32 %a32, %a32, -16; or.b64 %a, %a, -16;",
                 [](U a, U b) { return a & (b | ~U{15}); });
    check_atomic("or", type, width, 0x100, "", [](U a, U b) { return a | b; });
    check_atomic("xor", type, width, 0xff00, "", [](U a, U b) { return a ^ b; });
    check_atomic("exch", type, width, 99, "", [](U, U b) { return b; });
  }
  check_atomic("min", "s32", 32, 0x7fffffff, "neg.s32 %a32, %a32;", [](U a, U b) {
    return U(u32(U(std::min<std::int64_t>(s32(a), -std::int64_t(b)))));
  });
  check_atomic("max", "s64", 64, ~U{4}, "neg.s64 %a, %a;",
               [](U a, U b) { return U(std::max(s64(a), -s64(b))); });
  check_atomic("inc", "u32", 32, 3, "mov.u32 %a32, 5;", [](U a, U) { return a >= 5 ? 0 : a + 1; });
  check_atomic("dec", "u32", 32, 3, "mov.u32 %a32, 5;",
               [](U a, U) { return a == 0 || a > 5 ? 5 : a - 1; });
}

TEST(OpcodeAtomicTest, CompareAndSwap) {
  for (const bool shared : {false, true}) {
    std::vector<U> seen;
    // Each lane expects what the one before left, but lane 10 expects something else.
    EXPECT_EQ(run_atomic("atom.SPACE.cas.b32 %d32, [%at], %b32, %a32;", shared, 0,
                         "mov.u32 %b32, %t; setp.eq.u32 %p, %t, 10; @%p mov.u32 %b32, 77;", &seen) &
                  0xffffffff,
              10U);
    EXPECT_EQ(run_atomic("atom.SPACE.cas.b64 %d, [%at], %b, %a;", shared, 0, "cvt.u64.u32 %b, %t;",
                         &seen),
              20U);
    EXPECT_EQ(seen[19], 19U);
    // 16 bits: the neighbours stay, and so does what the registers hold above.
    EXPECT_EQ(run_atomic("cvt.u16.u32 %d16, %t; atom.SPACE.cas.b16 %d16, [%at], %d16, %a16;",
                         shared, 0xabcd0000ULL, "", &seen),
              0xabcd0014ULL);
  }
}

TEST(OpcodeAtomicTest, Floats) {
  check_atomic("add", "f32", 32, bits(0.5F), "cvt.rn.f32.u32 %f0, %a32; mov.b32 %a32, %f0;",
               [](U a, U b) { return bits(f32(a) + static_cast<float>(b)); });
  check_atomic("add", "f64", 64, bits(0.25), "cvt.rn.f64.u64 %a, %a;",
               [](U a, U b) { return bits(f64(a) + static_cast<double>(b)); });
}

// Integers up to 210 are exact in f16 and, up to 256, in bf16.
TEST(OpcodeAtomicTest, Halves) {
  const auto half = [](double value) {
    if (value == 0) return U{0};
    const int exponent = std::ilogb(value);
    return U(((exponent + 14) << 10) + static_cast<int>(std::ldexp(value, 10 - exponent)));
  };
  const auto bfloat = [](double value) { return bits(static_cast<float>(value)) >> 16; };
  for (const bool is_half : {true, false}) {
    const std::string type = is_half ? "f16" : "bf16";
    const auto make = [&](double value) { return is_half ? half(value) : bfloat(value); };
    const std::string convert = "cvt.rn.f32.u32 %f0, %a32; cvt.rn." + type + ".f32 %a16, %f0;";
    double sum = 0;
    check_atomic("add.noftz", type, 16, 0, convert, [&](U a, U b) {
      sum = a == 0 ? static_cast<double>(b) : sum + static_cast<double>(b);
      return make(sum);
    });
    check_atomic("add.noftz", type + "x2", 32, 0, convert + "mov.b32 %a32, {%a16, %a16};",
                 [&](U a, U b) {
                   sum = a == 0 ? static_cast<double>(b) : sum + static_cast<double>(b);
                   return make(sum) | (make(sum) << 16);
                 });
  }
}

TEST(OpcodeAtomicTest, Vectors) {
  std::vector<U> seen;
  const U end =
      run_atomic("atom.SPACE.add.v2.f32 {%f1, %f2}, [%at], {%f0, %f0}; mov.b64 %d, {%f1, %f2};",
                 false, bits(1.0F) | (bits(2.0F) << 32),
                 "cvt.rn.f32.u32 %f0, %a32; mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1;", &seen);
  EXPECT_EQ(end, bits(211.0F) | (bits(212.0F) << 32));
  EXPECT_EQ(seen[2], bits(4.0F) | (bits(5.0F) << 32));
}

}  // namespace
}  // namespace regraph::ptx::opcode_atomic_test
